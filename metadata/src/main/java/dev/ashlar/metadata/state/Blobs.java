package dev.ashlar.metadata.state;

import static dev.ashlar.metadata.state.Step.require;

import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Rows;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.BlobKey;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ForgetBlobs;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.message.SlotAck;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Blob rows and their reference counts: one reference per slice. A blob that loses its last one can
 * never get another, because references are taken from what an object or part still holds.
 */
final class Blobs {
  /** Longer data continues in further blobs. */
  static final long LENGTH_MAX = 1L << 30;

  private Blobs() {}

  /** The rows of new blobs, not written yet: refuses unless each is durable and unheard of. */
  static List<BlobRow> admit(Step step, List<NewBlob> blobs) {
    List<BlobRow> rows = new ArrayList<>(blobs.size());
    Set<BlobKey> ids = new HashSet<>();
    for (NewBlob blob : blobs) {
      if (blob.getLength() == 0) {
        continue; // holds nothing: no shard, no slice
      }
      PlacementMap map = step.placement();
      require(step.sessions().isLive(blob.getId().getSession()), ResultCode.DEAD_SESSION);
      BlobId id = BlobId.of(blob.getId());
      require(
          fits(blob, map)
              && ids.add(blob.getId())
              && step.table().get(Keys.blob(id, map.pgCount())) == null,
          ResultCode.INVALID_COMMAND);
      rows.add(row(blob, map, debts(step, blob, map)));
    }
    return rows;
  }

  private static boolean fits(NewBlob blob, PlacementMap map) {
    return blob.getLength() > 0
        && blob.getLength() <= LENGTH_MAX
        && blob.getProfile().equals(map.profile().toMessage())
        && blob.getPg() == BlobId.of(blob.getId()).placementGroup(map.pgCount())
        && blob.getEpoch() <= map.epoch();
  }

  private static BlobRow row(NewBlob blob, PlacementMap map, List<Integer> debts) {
    Profile profile = map.profile();
    require(debts.size() <= profile.shards() - profile.durableMinimum(), ResultCode.NOT_DURABLE);
    return BlobRow.newBuilder()
        .setId(blob.getId())
        .setLength(blob.getLength())
        .setProfile(blob.getProfile())
        .setPg(blob.getPg())
        .setReferences(1)
        .addAllDebtSlots(debts)
        .build();
  }

  /**
   * Slots that should hold bytes but have no acknowledgement that counts: from the drive that owns
   * the slot now, in the life it has now.
   */
  private static List<Integer> debts(Step step, NewBlob blob, PlacementMap map) {
    StripeLayout layout = new StripeLayout(map.profile(), blob.getLength());
    boolean[] held = new boolean[map.profile().shards()];
    for (SlotAck ack : blob.getAcksList()) {
      require(ack.getSlot() < held.length, ResultCode.INVALID_COMMAND);
      UUID owner = map.drive(blob.getPg(), ack.getSlot());
      DriveId drive = step.catalog().drives().get(owner);
      held[ack.getSlot()] |=
          drive != null
              && owner.getMostSignificantBits() == ack.getDriveHigh()
              && owner.getLeastSignificantBits() == ack.getDriveLow()
              && drive.incarnation() == ack.getIncarnation();
    }
    List<Integer> debts = new ArrayList<>();
    for (int slot = 0; slot < held.length; slot++) {
      if (!held[slot] && layout.shardLength(slot) > 0) {
        debts.add(slot);
      }
    }
    return debts;
  }

  /** Writes the rows of admitted blobs and returns the slices that are their one reference. */
  static List<SliceValue> insert(Step step, List<BlobRow> rows) {
    List<SliceValue> slices = new ArrayList<>(rows.size());
    for (BlobRow row : rows) {
      step.table().put(key(step, row.getId()), row.toByteArray());
      slices.add(SliceValue.newBuilder().setBlob(row.getId()).setLength(row.getLength()).build());
    }
    return slices;
  }

  /** Adds a reference for each slice. */
  static void take(Step step, List<SliceValue> slices) {
    for (SliceValue slice : slices) {
      BlobRow row = row(step, slice);
      if (row.getReferences() == 0) {
        throw new IllegalStateException("a slice of an unreferenced blob " + row.getId());
      }
      write(step, row.toBuilder().setReferences(row.getReferences() + 1));
    }
  }

  /** Removes a reference for each slice; what nobody refers to any more becomes garbage. */
  static void drop(Step step, List<SliceValue> slices) {
    for (SliceValue slice : slices) {
      BlobRow row = row(step, slice);
      BlobRow.Builder changed = row.toBuilder().setReferences(row.getReferences() - 1);
      if (changed.getReferences() == 0) {
        changed.setUnreferencedAtMs(step.logTimeMs());
        step.table().put(Keys.garbage(step.logTimeMs(), BlobId.of(row.getId())), new byte[0]);
      }
      write(step, changed);
    }
  }

  private static BlobRow row(Step step, SliceValue slice) {
    return Rows.get(step.table(), key(step, slice.getBlob()), BlobRow.parser())
        .orElseThrow(() -> new IllegalStateException("no row of blob " + slice.getBlob()));
  }

  private static void write(Step step, BlobRow.Builder row) {
    step.table().put(key(step, row.getId()), row.build().toByteArray());
  }

  private static byte[] key(Step step, BlobKey id) {
    return Keys.blob(BlobId.of(id), step.placement().pgCount());
  }

  /** Passes over blobs that are still (again, for a retried command) unknown or referenced. */
  static CommandResult forget(Step step, ForgetBlobs command) {
    for (BlobKey id : command.getBlobsList()) {
      byte[] key = key(step, id);
      Optional<BlobRow> row = Rows.get(step.table(), key, BlobRow.parser());
      if (row.isPresent() && row.get().getReferences() == 0) {
        step.table().delete(key);
        step.table().delete(Keys.garbage(row.get().getUnreferencedAtMs(), BlobId.of(id)));
      }
    }
    return Step.OK;
  }
}
