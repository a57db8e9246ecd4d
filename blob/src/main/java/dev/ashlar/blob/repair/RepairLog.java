package dev.ashlar.blob.repair;

import dev.ashlar.protocol.message.DebtLevel;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells once when something is owed, and once when it is there. Used by one thread. */
final class RepairLog {
  private static final Logger LOG = LoggerFactory.getLogger(RepairLog.class);

  private boolean isOwed;
  private long sinceNanos;

  /**
   * @param isAll whether that is all that is owed
   */
  void looked(List<DebtLevel> levels, boolean isAll) {
    if (!levels.isEmpty() && !isOwed) {
      isOwed = true;
      sinceNanos = System.nanoTime();
      LOG.info(
          "repair begins: {} blobs{} lack shards of {} bytes; the most endangered may lose {} more",
          levels.stream().mapToLong(DebtLevel::getBlobs).sum(),
          isAll ? "" : " and more",
          levels.stream().mapToLong(DebtLevel::getBytes).sum(),
          levels.getFirst().getSpare());
    } else if (levels.isEmpty() && isAll && isOwed) {
      isOwed = false;
      Duration duration = Duration.ofNanos(System.nanoTime() - sinceNanos);
      LOG.info("repair is done: nothing is owed any more, after {} s", duration.toSeconds());
    }
  }
}
