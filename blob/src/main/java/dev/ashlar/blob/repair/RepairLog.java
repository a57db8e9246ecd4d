package dev.ashlar.blob.repair;

import dev.ashlar.protocol.message.DebtLevel;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs when debts appear, and when all are repaired. Used by one thread. */
final class RepairLog {
  private static final Logger LOG = LoggerFactory.getLogger(RepairLog.class);

  private boolean hasDebts;
  private long sinceNanos;

  /**
   * @param isAll whether these are all debts
   */
  void looked(List<DebtLevel> levels, boolean isAll) {
    if (!levels.isEmpty() && !hasDebts) {
      hasDebts = true;
      sinceNanos = System.nanoTime();
      LOG.info(
          "Repair begins: {} blobs{} have missing shards of {} bytes in total; the most endangered"
              + " may lose {} more",
          levels.stream().mapToLong(DebtLevel::getBlobs).sum(),
          isAll ? "" : " and more",
          levels.stream().mapToLong(DebtLevel::getBytes).sum(),
          levels.getFirst().getSpare());
    } else if (levels.isEmpty() && isAll && hasDebts) {
      hasDebts = false;
      Duration duration = Duration.ofNanos(System.nanoTime() - sinceNanos);
      LOG.info("Repair is complete after {} s: no debts are left", duration.toSeconds());
    }
  }
}
