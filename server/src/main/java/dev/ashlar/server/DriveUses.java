package dev.ashlar.server;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** How full the drives of this process are, as their metrics tell: these wait for no drive. */
final class DriveUses {
  /** Others may use a little of the file system all the time: that is nothing to tell. */
  private static final double FREE_UNIT = 1 << 20;

  private final MeterRegistry meters;

  DriveUses(MeterRegistry meters) {
    this.meters = meters;
  }

  /** Null where the drive is not open. */
  @Nullable DriveUse of(UUID drive) {
    double capacity = value("ashlar.drive.capacity.bytes", drive);
    double used = value("ashlar.drive.used.bytes", drive);
    double live = value("ashlar.drive.live.bytes", drive);
    if (Double.isNaN(capacity + used + live)) {
      return null;
    }
    double free = Math.max(0, Math.floor((capacity - used) / FREE_UNIT) * FREE_UNIT);
    return new DriveUse((long) used, (long) free, (long) live);
  }

  private double value(String name, UUID drive) {
    Gauge gauge = meters.find(name).tag("drive", drive.toString()).gauge();
    return gauge == null ? Double.NaN : gauge.value();
  }
}
