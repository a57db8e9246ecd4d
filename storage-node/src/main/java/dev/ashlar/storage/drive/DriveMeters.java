package dev.ashlar.storage.drive;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** Counts what one drive does. Only segment files count, and only for clients' reads. */
final class DriveMeters implements AutoCloseable {
  private final MeterRegistry registry;
  private final Tags tags;
  private final List<Meter> meters = new ArrayList<>();
  private final LongAdder readOps = new LongAdder();
  private final LongAdder readBytes = new LongAdder();
  private final LongAdder writeOps = new LongAdder();
  private final LongAdder writeBytes = new LongAdder();
  private final LongAdder confirmations = new LongAdder();
  private final LongAdder payloadReadOps = new LongAdder();
  private final LongAdder payloadReadBytes = new LongAdder();
  private final LongAdder recentOps = new LongAdder();
  private final LongAdder payloadWriteOps = new LongAdder();
  private final LongAdder payloadWriteBytes = new LongAdder();
  private final LongAdder corruptBlocks = new LongAdder();
  private final LongAdder ioErrors = new LongAdder();
  private final LongAdder movedBytes = new LongAdder();
  private final LongAdder mergedBytes = new LongAdder();
  private final LongAdder indexRebuilds = new LongAdder();

  DriveMeters(MeterRegistry registry, String drive) {
    this.registry = registry;
    tags = Tags.of("drive", drive);
    counter("ashlar.drive.read.ops", "reads of segments", readOps);
    counter("ashlar.drive.read.bytes", "bytes read from segments", readBytes);
    counter("ashlar.drive.write.ops", "batches with contents written to segments", writeOps);
    counter(
        "ashlar.drive.confirmation.ops",
        "empty batches of 4 KiB, written and synced when a drive becomes idle or a segment is full",
        confirmations);
    counter("ashlar.drive.write.bytes", "bytes written to segments", writeBytes);
    counter("ashlar.drive.sync.ops", "syncs of segments", writeOps);
    counter(
        "ashlar.drive.payload.read.ops", "ranges of shards read, for intents too", payloadReadOps);
    counter("ashlar.drive.payload.read.bytes", "bytes of their blocks", payloadReadBytes);
    counter(
        "ashlar.drive.payload.recent.ops",
        "of these, ranges that were in memory because they were lately written",
        recentOps);
    counter("ashlar.drive.payload.write.ops", "writes and intents", payloadWriteOps);
    counter("ashlar.drive.payload.write.bytes", "bytes of shards in them", payloadWriteBytes);
    counter("ashlar.drive.corrupt.blocks", "blocks that failed their checksum", corruptBlocks);
    counter("ashlar.drive.io.errors", "reads and writes that failed", ioErrors);
    counter("ashlar.drive.compaction.bytes", "bytes moved by compaction", movedBytes);
    counter(
        "ashlar.drive.index.rebuilds",
        "times that the index was made anew from the log",
        indexRebuilds);
    counter("ashlar.drive.coalescing.bytes", "bytes read to be written together", mergedBytes);
  }

  <T> void gauge(String name, String description, T of, ToDoubleFunction<T> value) {
    meters.add(
        Gauge.builder(name, of, value)
            .strongReference(true)
            .description(description)
            .tags(tags)
            .register(registry));
  }

  /** What the reading of everything has come to. */
  void scrub(Supplier<@Nullable ScrubProgress> progress) {
    scrubGauge(
        "finished",
        "time of the last full pass, in seconds since 1970; 0: none",
        progress,
        now -> now.finishedMs() / 1000.0);
    scrubGauge("running", "1 if a pass is under way", progress, now -> now.running() ? 1 : 0);
    scrubGauge(
        "segments.left",
        "segments that the pass has before it",
        progress,
        ScrubProgress::segmentsLeft);
    scrubGauge(
        "verified.bytes",
        "live bytes that the pass has verified",
        progress,
        ScrubProgress::verifiedBytes);
    scrubGauge(
        "damaged.blocks",
        "damaged blocks that the pass has found",
        progress,
        now -> now.damagedBlocks() + now.unreadableDirectories());
  }

  private void scrubGauge(
      String name,
      String description,
      Supplier<@Nullable ScrubProgress> progress,
      ToDoubleFunction<ScrubProgress> value) {
    gauge(
        "ashlar.scrub." + name,
        description,
        progress,
        now -> {
          ScrubProgress present = now.get();
          return present == null ? Double.NaN : value.applyAsDouble(present);
        });
  }

  void read(int bytes) {
    readOps.increment();
    readBytes.add(bytes);
  }

  /** A batch written and synced. */
  void wrote(int bytes) {
    writeOps.increment();
    writeBytes.add(bytes);
  }

  /** An empty batch, which no request has caused, was written and synced. */
  void confirmed() {
    confirmations.increment();
  }

  /** A range of a shard was read: this many bytes of blocks. */
  void payloadRead(int bytes) {
    payloadReadOps.increment();
    payloadReadBytes.add(bytes);
  }

  /** The same for a range that was in memory. */
  void foundRecent(int bytes) {
    payloadRead(bytes);
    recentOps.increment();
  }

  /** A write or an intent is durable. */
  void payloadWrote(int bytes) {
    payloadWriteOps.increment();
    payloadWriteBytes.add(bytes);
  }

  void corruptBlock() {
    corruptBlocks.increment();
  }

  void ioError() {
    ioErrors.increment();
  }

  void indexRebuild() {
    indexRebuilds.increment();
  }

  void moved(long bytes) {
    movedBytes.add(bytes);
  }

  void readToMerge(int bytes) {
    mergedBytes.add(bytes);
  }

  @Override
  public void close() {
    meters.forEach(registry::remove);
  }

  private void counter(String name, String description, LongAdder value) {
    meters.add(
        FunctionCounter.builder(name, value, LongAdder::sum)
            .description(description)
            .tags(tags)
            .register(registry));
  }
}
