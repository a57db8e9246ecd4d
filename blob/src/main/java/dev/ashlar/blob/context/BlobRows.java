package dev.ashlar.blob.context;

import dev.ashlar.protocol.client.CommittedAttempt;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.AttemptRow;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.SlotAck;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.ChangeHolders;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Reads what a blob's row says about its shards. */
public final class BlobRows {
  private BlobRows() {}

  public static StripeLayout layout(BlobRow row) {
    return new StripeLayout(Profile.of(row.getProfile()), row.getLength());
  }

  /** The part of the range in which the slot's shard has bytes; possibly empty. */
  public static ByteRange present(StripeLayout layout, int slot, ByteRange range) {
    long end = Math.min(range.end(), layout.shardLength(slot));
    return new ByteRange(range.offset(), Math.max(0, end - range.offset()));
  }

  /** The state in which the slot's shard has to be read. */
  public static ShardView view(BlobRow row, int slot) {
    if (row.getRevision() == 0) {
      return ShardView.ORIGINAL;
    }
    List<CommittedAttempt> unfolded = new ArrayList<>();
    for (AttemptRow attempt : row.getAttemptsList()) {
      if (ChangeHolders.touches(attempt, slot)) {
        unfolded.add(new CommittedAttempt(AttemptId.of(attempt.getId()), attempt.getRevision()));
      }
    }
    return new ShardView(row.getRevision(), folded(row, slot), unfolded);
  }

  /** The last folded revision that touched the slot's shard; 0 if there is none. */
  public static long folded(BlobRow row, int slot) {
    return row.getFoldedCount() == 0 ? 0 : row.getFolded(slot);
  }

  /**
   * Whether an unfolded change touches the slot's shard. A drive whose shard is a debt may hold
   * only the first pieces of such a change, and cannot tell.
   */
  public static boolean isTouched(BlobRow row, int slot) {
    return row.getAttemptsList().stream().anyMatch(attempt -> ChangeHolders.touches(attempt, slot));
  }

  /** The record that this incarnation of a drive holds the slot's shard. */
  public static SlotAck ack(int slot, DriveId drive) {
    UUID uuid = drive.id();
    return SlotAck.newBuilder()
        .setSlot(slot)
        .setDriveHigh(uuid.getMostSignificantBits())
        .setDriveLow(uuid.getLeastSignificantBits())
        .setIncarnation(drive.incarnation())
        .build();
  }
}
