package dev.ashlar.bench.engine;

import io.micrometer.core.instrument.MeterRegistry;

/**
 * What all drives of an engine have counted by themselves.
 *
 * @param reads ranges of shards that were read, for parity deltas too
 * @param readBytes of their blocks
 * @param writes new shards' ranges and intents
 * @param writeBytes of shards in them, without headers and checksums
 * @param fileReads reads of segment files
 * @param fileWrites synced writes of segment files, each possibly of several records
 */
record DriveCounts(
    long reads, long readBytes, long writes, long writeBytes, long fileReads, long fileWrites) {
  static DriveCounts of(MeterRegistry meters) {
    return new DriveCounts(
        sum(meters, "ashlar.drive.payload.read.ops"),
        sum(meters, "ashlar.drive.payload.read.bytes"),
        sum(meters, "ashlar.drive.payload.write.ops"),
        sum(meters, "ashlar.drive.payload.write.bytes"),
        sum(meters, "ashlar.drive.read.ops"),
        sum(meters, "ashlar.drive.write.ops"));
  }

  private static long sum(MeterRegistry meters, String name) {
    return meters.get(name).functionCounters().stream()
        .mapToLong(counter -> Math.round(counter.count()))
        .sum();
  }

  DriveCounts since(DriveCounts before) {
    return new DriveCounts(
        reads - before.reads,
        readBytes - before.readBytes,
        writes - before.writes,
        writeBytes - before.writeBytes,
        fileReads - before.fileReads,
        fileWrites - before.fileWrites);
  }
}
