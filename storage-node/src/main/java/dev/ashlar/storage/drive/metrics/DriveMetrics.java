package dev.ashlar.storage.drive.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToDoubleFunction;

/** Counts what one drive does. Only segment files count, and only for clients' reads. */
public final class DriveMetrics implements AutoCloseable {
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

  public DriveMetrics(MeterRegistry registry, String drive) {
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

  public <T> void gauge(String name, String description, T of, ToDoubleFunction<T> value) {
    meters.add(
        Gauge.builder(name, of, value)
            .strongReference(true)
            .description(description)
            .tags(tags)
            .register(registry));
  }

  public void read(int bytes) {
    readOps.increment();
    readBytes.add(bytes);
  }

  /** A batch written and synced. */
  public void wrote(int bytes) {
    writeOps.increment();
    writeBytes.add(bytes);
  }

  /** An empty batch, which no request has caused, was written and synced. */
  public void confirmed() {
    confirmations.increment();
  }

  /** A range of a shard was read: this many bytes of blocks. */
  public void payloadRead(int bytes) {
    payloadReadOps.increment();
    payloadReadBytes.add(bytes);
  }

  /** The same for a range that was in memory. */
  public void foundRecent(int bytes) {
    payloadRead(bytes);
    recentOps.increment();
  }

  /** A write or an intent is durable. */
  public void payloadWrote(int bytes) {
    payloadWriteOps.increment();
    payloadWriteBytes.add(bytes);
  }

  public void corruptBlock() {
    corruptBlocks.increment();
  }

  public void ioError() {
    ioErrors.increment();
  }

  public void indexRebuild() {
    indexRebuilds.increment();
  }

  public void moved(long bytes) {
    movedBytes.add(bytes);
  }

  public void readToMerge(int bytes) {
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
