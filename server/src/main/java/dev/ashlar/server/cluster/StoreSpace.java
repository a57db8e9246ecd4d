package dev.ashlar.server.cluster;

import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.model.DriveId;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
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
    gauge("used.bytes", "Bytes that drives use", StoreSpace::usedBytes, now, meters);
    gauge("free.bytes", "Bytes that drives can still use", StoreSpace::freeBytes, now, meters);
    gauge("live.bytes", "Used bytes that are needed", StoreSpace::liveBytes, now, meters);
    gauge(
        "fullest.drive.percent",
        "Used percent of the fullest drive",
        space -> {
          Integer percent = space.fullestPercent();
          return percent == null ? Double.NaN : percent;
        },
        now,
        meters);
  }

  private static void gauge(
      String name,
      String description,
      ToDoubleFunction<StoreSpace> part,
      Supplier<@Nullable StoreSpace> now,
      MeterRegistry meters) {
    Gauge.builder(
            "ashlar.cluster." + name,
            () -> {
              StoreSpace known = now.get();
              return known == null ? Double.NaN : part.applyAsDouble(known);
            })
        .description(description)
        .register(meters);
  }
}
