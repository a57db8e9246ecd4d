package dev.ashlar.server.cluster;

import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.model.DriveId;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * How full the drives are together that are up. Objects take k+m times a k-th of their size of it.
 *
 * @param fullestPercent of the drive that is fullest: where one is full, writes to its groups have
 *     a shard less; null where no drive has told yet
 */
public record StoreSpace(
    long usedBytes, long freeBytes, long liveBytes, @Nullable Integer fullestPercent) {
  /**
   * As the drives told last.
   *
   * @param down drives that do not count
   * @param use of a drive; null where it is not known
   */
  public static StoreSpace of(
      KnownDrives known, Set<UUID> down, Function<DriveRow, @Nullable DriveUse> use) {
    long used = 0;
    long free = 0;
    long live = 0;
    Integer fullest = null;
    for (DriveRow row : known.registry().getDrivesList()) {
      DriveUse own = down.contains(DriveId.idOf(row)) ? null : use.apply(row);
      if (own != null) {
        used += own.usedBytes();
        free += own.freeBytes();
        live += own.liveBytes();
        fullest = fullest == null ? own.usedPercent() : Math.max(fullest, own.usedPercent());
      }
    }
    return new StoreSpace(used, free, live, fullest);
  }

  /**
   * Shows it as metrics.
   *
   * @param now null: not known
   */
  public static void measure(Supplier<@Nullable StoreSpace> now, MeterRegistry meters) {
    KnownGauges<StoreSpace> gauges = new KnownGauges<>("ashlar.cluster.", now, meters);
    gauges.add("used.bytes", "Bytes that drives use", StoreSpace::usedBytes);
    gauges.add("free.bytes", "Bytes that drives can still use", StoreSpace::freeBytes);
    gauges.add("live.bytes", "Used bytes that are needed", StoreSpace::liveBytes);
    gauges.add(
        "fullest.drive.percent", "Used percent of the fullest drive", StoreSpace::fullestPercent);
  }
}
