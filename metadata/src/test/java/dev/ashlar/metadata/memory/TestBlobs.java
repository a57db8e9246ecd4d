package dev.ashlar.metadata.memory;

import static java.util.Objects.requireNonNull;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CreateBucket;
import dev.ashlar.protocol.message.DeleteObjects;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.SlotAck;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import java.util.UUID;

/** Commands as a gateway makes them. */
public final class TestBlobs {
  private TestBlobs() {}

  /** A blob that all drives of its group have acknowledged. */
  public static NewBlob.Builder acknowledged(MetadataClient client, BlobId id, long length) {
    PlacementMap map = client.placement();
    int pg = id.placementGroup(map.pgCount());
    NewBlob.Builder blob =
        NewBlob.newBuilder()
            .setId(id.toMessage())
            .setLength(length)
            .setProfile(map.profile().toMessage())
            .setPg(pg)
            .setEpoch(map.epoch());
    for (int slot = 0; slot < map.profile().shards(); slot++) {
      UUID drive = map.drive(pg, slot);
      DriveId present = requireNonNull(client.drives().get(drive));
      blob.addAcks(
          SlotAck.newBuilder()
              .setSlot(slot)
              .setDriveHigh(drive.getMostSignificantBits())
              .setDriveLow(drive.getLeastSignificantBits())
              .setIncarnation(present.incarnation()));
    }
    return blob;
  }

  public static Command.Builder createBucket(String name) {
    return Command.newBuilder()
        .setCreateBucket(CreateBucket.newBuilder().setName(name).setOwner("me"));
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

  public static Command.Builder delete(String bucket, String key) {
    return Command.newBuilder()
        .setDeleteObjects(DeleteObjects.newBuilder().setBucket(bucket).addKeys(key));
  }
}
