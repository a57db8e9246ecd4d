package dev.ashlar.blob.repair;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/** What repair counts. */
public final class RepairMetrics {
  final Counter rebuiltShards;
  final Counter rebuiltBytes;
  final Counter foundShards;
  final Counter refused;
  final Counter movedShards;
  final Counter movedBytes;

  public RepairMetrics(MeterRegistry registry) {
    rebuiltShards =
        Counter.builder("ashlar.repair.rebuilt.shards")
            .description("Shards that were owed and made anew")
            .register(registry);
    rebuiltBytes =
        Counter.builder("ashlar.repair.rebuilt")
            .baseUnit("bytes")
            .description("Bytes of these")
            .register(registry);
    foundShards =
        Counter.builder("ashlar.repair.found.shards")
            .description("Shards that were owed and found whole on their drives")
            .register(registry);
    movedShards =
        Counter.builder("ashlar.repair.moved.shards")
            .description("Shards that were moved to another drive")
            .register(registry);
    movedBytes =
        Counter.builder("ashlar.repair.moved")
            .baseUnit("bytes")
            .description("Bytes that were copied from one drive to another for that")
            .register(registry);
    refused =
        Counter.builder("ashlar.repair.refused")
            .description("Repairs of a blob that did not count, because it had changed")
            .register(registry);
  }
}
