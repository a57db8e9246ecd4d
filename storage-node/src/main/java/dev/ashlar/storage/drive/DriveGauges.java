package dev.ashlar.storage.drive;

import dev.ashlar.storage.drive.metrics.DriveMetrics;
import dev.ashlar.storage.drive.scrub.ScrubProgress;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** Gauges of a drive. */
record DriveGauges(DriveMetrics meters, EngineSupervisor engines) {
  void register(DriveStore store) {
    meters.gauge(
        "ashlar.drive.writable",
        "1 if the drive accepts new data",
        () -> store.isWritable() ? 1 : 0);
    meters.gauge(
        "ashlar.drive.index.rebuilding",
        "1 while the index is being reopened or rebuilt",
        () -> engines.isRecovering() ? 1 : 0);
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
    meters.gauge("ashlar.drive." + name, description, () -> engines.value(value));
  }

  void registerScrub(Supplier<@Nullable ScrubProgress> progress) {
    scrubGauge(
        "finished",
        "end of the last complete scrub pass, in seconds since 1970; 0: none",
        progress,
        now -> now.finishedMs() / 1000.0);
    scrubGauge("running", "1 while a scrub pass runs", progress, now -> now.running() ? 1 : 0);
    scrubGauge(
        "segments.left",
        "segments left to scrub in the current pass",
        progress,
        ScrubProgress::segmentsLeft);
    scrubGauge(
        "verified.bytes",
        "live bytes verified in the current pass",
        progress,
        ScrubProgress::verifiedBytes);
    scrubGauge(
        "damaged.blocks",
        "damaged blocks and unreadable directories found in the current pass",
        progress,
        now -> now.damagedBlocks() + now.unreadableDirectories());
  }

  private void scrubGauge(
      String name,
      String description,
      Supplier<@Nullable ScrubProgress> progress,
      ToDoubleFunction<ScrubProgress> value) {
    meters.gauge(
        "ashlar.scrub." + name,
        description,
        () -> {
          ScrubProgress present = progress.get();
          return present == null ? Double.NaN : value.applyAsDouble(present);
        });
  }
}
