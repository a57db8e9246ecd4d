package dev.ashlar.storage.drive.log;

import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.storage.drive.cache.ChangedShards;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.index.ShardIndex;
import dev.ashlar.storage.drive.metrics.DriveMetrics;
import dev.ashlar.storage.drive.segment.BatchScanner;
import dev.ashlar.storage.drive.segment.SegmentFiles;
import dev.ashlar.storage.io.RawFiles;
import java.util.UUID;

/** The parts of an open drive that its log, reads, compaction and scrub share. */
public record OpenDrive(
    UUID id,
    DriveConfig.Limits limits,
    RawFiles files,
    SegmentFiles segments,
    ShardIndex index,
    ChangedShards changed,
    SlabPool slabs,
    DriveMetrics meters) {
  public BatchScanner newScanner() {
    return new BatchScanner(id, limits.segmentBytes(), slabs);
  }
}
