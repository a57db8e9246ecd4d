package dev.ashlar.server.node;

import dev.ashlar.metadata.garbage.GarbageCollector;
import dev.ashlar.metadata.garbage.GarbageConfig;
import dev.ashlar.server.jobs.PeriodicJobs;

/**
 * Deletes unreferenced blobs. In a cluster, the grace period of the collector is longer than the
 * age of what this gateway knows of reads of others, so no read that needs a blob is overlooked. A
 * blob may go that a gateway still reads which is down: its reads end, and return no wrong byte.
 */
final class GarbageJob {
  private GarbageJob() {}

  static void start(PeriodicJobs jobs, GarbageCollector collector, GarbageConfig config) {
    jobs.start(
        "garbage",
        config.interval(),
        config.interval(),
        () -> {
          collector.collect();
          return config.interval();
        });
  }
}
