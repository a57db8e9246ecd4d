package dev.ashlar.storage.drive;

import dev.ashlar.storage.drive.metrics.DriveMetrics;
import dev.ashlar.storage.drive.scrub.ScrubProgress;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** What a drive is now, for those who watch. */
final class DriveGauges {
  private final DriveMetrics meters;
  private final EngineKeeper keeper;

  private DriveGauges(DriveMetrics meters, EngineKeeper keeper) {
    this.meters = meters;
    this.keeper = keeper;
  }

  static void register(DriveMetrics meters, DriveStore store, EngineKeeper keeper) {
    new DriveGauges(meters, keeper).registerAll();
    meters.gauge(
        "ashlar.drive.writable", "1 if it takes new data", store, s -> s.isWritable() ? 1 : 0);
    meters.gauge(
        "ashlar.drive.index.rebuilding",
        "1 while its index is opened again or made anew",
        keeper,
        k -> k.isMending() ? 1 : 0);
  }

  private void registerAll() {
    gauge("queue.depth", "operations that wait", engine -> engine.queue().depth());
    gauge(
        "capacity.bytes",
        "bytes that segments could take",
        engine -> engine.core().segments().capacityBytes());
    gauge("used.bytes", "bytes of segments", engine -> engine.core().segments().usedBytes());
    gauge("live.bytes", "bytes that are needed", engine -> engine.core().segments().liveBytes());
    gauge(
        "recent.bytes",
        "memory with blocks that changes wrote lately",
        engine -> engine.core().recentBytes());
    gauge("segments", "segments of the log", engine -> engine.core().segments().count());
  }

  private void gauge(String name, String description, ToLongFunction<DriveEngine> value) {
    meters.gauge("ashlar.drive." + name, description, keeper, k -> valueOf(k.engine(), value));
  }

  /** 0 while there is no engine. */
  static long valueOf(@Nullable DriveEngine engine, ToLongFunction<DriveEngine> value) {
    return engine == null ? 0 : value.applyAsLong(engine);
  }

  /** What the reading of everything has come to. */
  static void registerScrub(DriveMetrics meters, Supplier<@Nullable ScrubProgress> progress) {
    scrubGauge(
        meters,
        "finished",
        "time of the last full pass, in seconds since 1970; 0: none",
        progress,
        now -> now.finishedMs() / 1000.0);
    scrubGauge(
        meters, "running", "1 if a pass is under way", progress, now -> now.running() ? 1 : 0);
    scrubGauge(
        meters,
        "segments.left",
        "segments that the pass has before it",
        progress,
        ScrubProgress::segmentsLeft);
    scrubGauge(
        meters,
        "verified.bytes",
        "live bytes that the pass has verified",
        progress,
        ScrubProgress::verifiedBytes);
    scrubGauge(
        meters,
        "damaged.blocks",
        "damaged blocks that the pass has found",
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
