package dev.ashlar.metadata.memory;

import static java.util.Objects.requireNonNull;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.message.AttemptIdValue;
import dev.ashlar.protocol.message.BlobChange;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CreateBucket;
import dev.ashlar.protocol.message.DeleteObjects;
import dev.ashlar.protocol.message.FoldBlob;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.ObjectPiece;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.SlotAck;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.protocol.model.PlacementMap;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** Commands as a gateway makes them. */
public final class TestBlobs {
  private TestBlobs() {}

  /** A blob that all drives of its group have acknowledged. */
  public static NewBlob.Builder acknowledged(MetadataClient client, BlobId id, long length) {
    PlacementMap map = client.placement();
    int pg = map.group(id).orElseThrow();
    NewBlob.Builder blob =
        NewBlob.newBuilder()
            .setId(id.toMessage())
            .setLength(length)
            .setProfile(map.profile(pg).toMessage())
            .setPg(pg)
            .setEpoch(map.epoch());
    return blob.addAllAcks(acks(client, pg));
  }

  /** What the drives of a group say when each has what was sent to it. */
  public static List<SlotAck> acks(MetadataClient client, int pg) {
    PlacementMap map = client.placement();
    List<SlotAck> acks = new ArrayList<>();
    for (int slot = 0; slot < map.profile(pg).shards(); slot++) {
      UUID drive = map.drive(pg, slot);
      DriveId present = requireNonNull(client.drives().get(drive));
      acks.add(
          SlotAck.newBuilder()
              .setSlot(slot)
              .setDriveHigh(drive.getMostSignificantBits())
              .setDriveLow(drive.getLeastSignificantBits())
              .setIncarnation(present.incarnation())
              .build());
    }
    return acks;
  }

  /** A change of a blob that is as its row says, acknowledged by all drives. */
  public static BlobChange.Builder change(
      MetadataClient client, BlobRow base, long attempt, long offset, long length) {
    return BlobChange.newBuilder()
        .setBlob(base.getId())
        .setBaseRevision(base.getRevision())
        .setBaseLength(base.getLength())
        .setBaseSettled(base.getSettled())
        .setAttempt(AttemptIdValue.newBuilder().setSession(client.session()).setSequence(attempt))
        .setOffset(offset)
        .setLength(length)
        .setEpoch(client.placement().epoch())
        .addAllAcks(acks(client, base.getPg()));
  }

  /** Puts these pieces, one behind the other, at this offset of the object. */
  public static ModifyObject.Builder modify(
      String bucket, String key, long offset, List<ObjectPiece> pieces) {
    long length = 0;
    for (ObjectPiece piece : pieces) {
      length += piece.hasChange() ? piece.getChange().getLength() : piece.getBlob().getLength();
    }
    return ModifyObject.newBuilder()
        .setBucket(bucket)
        .setKey(key)
        .setOffset(offset)
        .setLength(length)
        .addAllPieces(pieces);
  }

  public static ObjectPiece piece(BlobChange.Builder change) {
    return ObjectPiece.newBuilder().setChange(change).build();
  }

  public static ObjectPiece piece(NewBlob.Builder blob) {
    return ObjectPiece.newBuilder().setBlob(blob).build();
  }

  /** All drives have folded up to this revision. */
  public static FoldBlob.Builder fold(MetadataClient client, BlobRow blob, long revision) {
    return FoldBlob.newBuilder()
        .setBlob(blob.getId())
        .setRevision(revision)
        .addAllAcks(acks(client, blob.getPg()));
  }

  public static Command.Builder createBucket(String name) {
    return createBucket(name, "me");
  }

  public static Command.Builder createBucket(String name, String owner) {
    return Command.newBuilder()
        .setCreateBucket(CreateBucket.newBuilder().setName(name).setOwner(owner));
  }

  public static Command.Builder put(String bucket, String key, NewBlob.Builder blob) {
    return Command.newBuilder()
        .setPutObject(
            PutObject.newBuilder()
                .setBucket(bucket)
                .setKey(key)
                .setSummary(ObjectSummary.newBuilder().setSize(blob.getLength()).setEtag("e"))
                .addBlobs(blob));
  }

  /** Puts a blob of the first profile into each of its placement groups. */
  public static void fill(MemoryMetadata metadata) {
    metadata.require(createBucket("filled"));
    PlacedProfile first = metadata.placement().profiles().getFirst();
    Set<Integer> filled = new HashSet<>();
    for (long count = 1 << 30; filled.size() < first.groupCount(); count++) {
      BlobId blob = new BlobId(metadata.session(), count);
      if (filled.add(first.group(blob))) {
        long length = first.profile().stripeBytes();
        metadata.require(put("filled", "k" + count, acknowledged(metadata, blob, length)));
      }
    }
  }

  public static Command.Builder delete(String bucket, String key) {
    return Command.newBuilder()
        .setDeleteObjects(DeleteObjects.newBuilder().setBucket(bucket).addKeys(key));
  }
}
