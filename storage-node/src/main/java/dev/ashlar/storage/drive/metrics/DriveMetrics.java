package dev.ashlar.storage.drive.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.DoubleSupplier;

/** Counters of one drive. They count I/O of segment files only, and reads for clients only. */
public final class DriveMetrics implements AutoCloseable {
  private final MeterRegistry registry;
  private final Tags tags;
  private final List<Meter> meters = new ArrayList<>();
  private final LongAdder readOps = new LongAdder();
  private final LongAdder readBytes = new LongAdder();
  private final LongAdder writeOps = new LongAdder();
  private final LongAdder writeBytes = new LongAdder();
  private final LongAdder confirmations = new LongAdder();
  private final LongAdder zeroBytes = new LongAdder();
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
    counter("ashlar.drive.read.ops", "reads of segment files", readOps);
    counter("ashlar.drive.read.bytes", "bytes read from segment files", readBytes);
    counter("ashlar.drive.write.ops", "batches with records written to segment files", writeOps);
    counter(
        "ashlar.drive.confirmation.ops",
        "empty batches of 4 KiB written and synced after an idle drive's last batch or at"
            + " the end of a segment",
        confirmations);
    counter("ashlar.drive.write.bytes", "bytes written to segment files", writeBytes);
    counter(
        "ashlar.drive.zero.bytes",
        "zeros written ahead of small batches or into new segments",
        zeroBytes);
    counter("ashlar.drive.sync.ops", "syncs of segment files", writeOps);
    counter(
        "ashlar.drive.payload.read.ops",
        "shard ranges read, including reads for intents",
        payloadReadOps);
    counter(
        "ashlar.drive.payload.read.bytes", "bytes of the blocks in those ranges", payloadReadBytes);
    counter(
        "ashlar.drive.payload.recent.ops",
        "shard ranges served from the memory of recently changed blocks",
        recentOps);
    counter("ashlar.drive.payload.write.ops", "shard writes and intents", payloadWriteOps);
    counter(
        "ashlar.drive.payload.write.bytes", "shard bytes in writes and intents", payloadWriteBytes);
    counter("ashlar.drive.corrupt.blocks", "blocks with a checksum mismatch", corruptBlocks);
    counter("ashlar.drive.io.errors", "failed reads and writes", ioErrors);
    counter("ashlar.drive.compaction.bytes", "bytes moved by compaction", movedBytes);
    counter("ashlar.drive.index.rebuilds", "rebuilds of the index from the log", indexRebuilds);
    counter("ashlar.drive.coalescing.bytes", "bytes read for merging small extents", mergedBytes);
  }

  public void gauge(String name, String description, DoubleSupplier value) {
    meters.add(
        Gauge.builder(name, value::getAsDouble)
            .description(description)
            .tags(tags)
            .register(registry));
  }

  public void read(int bytes) {
    readOps.increment();
    readBytes.add(bytes);
  }

  public void wrote(int bytes) {
    writeOps.increment();
    writeBytes.add(bytes);
  }

  /** Counts an empty batch, which no request has caused. */
  public void confirmed() {
    confirmations.increment();
  }

  public void filledWithZeros(int bytes) {
    zeroBytes.add(bytes);
  }

  /** Counts a read of a shard range with this many bytes of blocks. */
  public void payloadRead(int bytes) {
    payloadReadOps.increment();
    payloadReadBytes.add(bytes);
  }

  public void foundRecent(int bytes) {
    payloadRead(bytes);
    recentOps.increment();
  }

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
