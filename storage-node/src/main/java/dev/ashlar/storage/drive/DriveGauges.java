package dev.ashlar.storage.drive;

import dev.ashlar.storage.drive.metrics.DriveMetrics;
import dev.ashlar.storage.drive.scrub.ScrubProgress;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** Gauges of a drive. */
final class DriveGauges {
  private final DriveMetrics meters;
  private final EngineSupervisor engines;

  private DriveGauges(DriveMetrics meters, EngineSupervisor engines) {
    this.meters = meters;
    this.engines = engines;
  }

  static void register(DriveMetrics meters, DriveStore store, EngineSupervisor engines) {
    new DriveGauges(meters, engines).registerAll();
    meters.gauge(
        "ashlar.drive.writable",
        "1 if the drive accepts new data",
        store,
        s -> s.isWritable() ? 1 : 0);
    meters.gauge(
        "ashlar.drive.index.rebuilding",
        "1 while the index is being reopened or rebuilt",
        engines,
        k -> k.isRecovering() ? 1 : 0);
  }

  private void registerAll() {
    gauge("queue.depth", "requests waiting for the log writer", engine -> engine.queue().depth());
    gauge(
        "capacity.bytes",
        "capacity for segments in bytes",
        engine -> engine.core().segments().capacityBytes());
    gauge(
        "used.bytes",
        "size of all segments in bytes",
        engine -> engine.core().segments().usedBytes());
    gauge(
        "live.bytes",
        "bytes of live records in segments",
        engine -> engine.core().segments().liveBytes());
    gauge(
        "recent.bytes",
        "memory used by recently changed blocks, in bytes",
        engine -> engine.core().recentBytes());
    gauge("segments", "number of segments", engine -> engine.core().segments().count());
  }

  private void gauge(String name, String description, ToLongFunction<DriveEngine> value) {
    meters.gauge("ashlar.drive." + name, description, engines, k -> valueOf(k.engine(), value));
  }

  /** The value; 0 while there is no engine. */
  static long valueOf(@Nullable DriveEngine engine, ToLongFunction<DriveEngine> value) {
    return engine == null ? 0 : value.applyAsLong(engine);
  }

  static void registerScrub(DriveMetrics meters, Supplier<@Nullable ScrubProgress> progress) {
    scrubGauge(
        meters,
        "finished",
        "end of the last complete scrub pass, in seconds since 1970; 0: none",
        progress,
        now -> now.finishedMs() / 1000.0);
    scrubGauge(
        meters, "running", "1 while a scrub pass runs", progress, now -> now.running() ? 1 : 0);
    scrubGauge(
        meters,
        "segments.left",
        "segments left to scrub in the current pass",
        progress,
        ScrubProgress::segmentsLeft);
    scrubGauge(
        meters,
        "verified.bytes",
        "live bytes verified in the current pass",
        progress,
        ScrubProgress::verifiedBytes);
    scrubGauge(
        meters,
        "damaged.blocks",
        "damaged blocks and unreadable directories found in the current pass",
        progress,
        now -> now.damagedBlocks() + now.unreadableDirectories());
  }

  private static void scrubGauge(
      DriveMetrics meters,
      String name,
      String description,
      Supplier<@Nullable ScrubProgress> progress,
      ToDoubleFunction<ScrubProgress> value) {
    meters.gauge(
        "ashlar.scrub." + name,
        description,
        progress,
        now -> {
          ScrubProgress present = now.get();
          return present == null ? Double.NaN : value.applyAsDouble(present);
        });
  }
}
