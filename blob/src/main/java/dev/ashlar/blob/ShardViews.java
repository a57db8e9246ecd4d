package dev.ashlar.blob;

import dev.ashlar.protocol.client.CommittedAttempt;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.message.AttemptRow;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.AttemptId;
import java.util.ArrayList;
import java.util.List;

/** What a blob's row says about the state of each of its shards. */
final class ShardViews {
  private ShardViews() {}

  static ShardView of(BlobRow row, int slot) {
    if (row.getRevision() == 0) {
      return ShardView.ORIGINAL;
    }
    List<CommittedAttempt> unfolded = new ArrayList<>();
    for (AttemptRow attempt : row.getAttemptsList()) {
      if (attempt.getSlotsList().contains(slot)) {
        unfolded.add(new CommittedAttempt(AttemptId.of(attempt.getId()), attempt.getRevision()));
      }
    }
    return new ShardView(row.getRevision(), folded(row, slot), unfolded);
  }

  /** The last revision that touched the slot's shard and is folded; 0: none. */
  static long folded(BlobRow row, int slot) {
    return row.getFoldedCount() == 0 ? 0 : row.getFolded(slot);
  }

  /**
   * Whether an unfolded change is a part of the slot's shard. A drive that owes it may have taken
   * the first pieces of it only, and cannot tell.
   */
  static boolean isTouched(BlobRow row, int slot) {
    return row.getAttemptsList().stream()
        .anyMatch(attempt -> attempt.getSlotsList().contains(slot));
  }
}
