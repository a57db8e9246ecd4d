package dev.ashlar.storage.drive;

import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** What a drive is now, for those who watch. */
final class DriveGauges {
  private final DriveMeters meters;
  private final EngineKeeper keeper;

  private DriveGauges(DriveMeters meters, EngineKeeper keeper) {
    this.meters = meters;
    this.keeper = keeper;
  }

  static void register(DriveMeters meters, DriveStore store, EngineKeeper keeper) {
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
}
