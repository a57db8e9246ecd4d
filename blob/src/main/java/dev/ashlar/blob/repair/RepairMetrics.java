package dev.ashlar.blob.repair;

import static dev.ashlar.blob.context.Meters.bytes;
import static dev.ashlar.blob.context.Meters.counter;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/** Counters of repair. */
public final class RepairMetrics {
  final Counter rebuiltShards;
  final Counter rebuiltBytes;
  final Counter foundShards;
  final Counter refused;
  final Counter movedShards;
  final Counter movedBytes;

  public RepairMetrics(MeterRegistry registry) {
    rebuiltShards = counter(registry, "ashlar.repair.rebuilt.shards", "Missing shards rebuilt");
    rebuiltBytes = bytes(registry, "ashlar.repair.rebuilt", "Bytes of missing shards rebuilt");
    foundShards =
        counter(registry, "ashlar.repair.found.shards", "Debts whose shards drives still had");
    movedShards = counter(registry, "ashlar.repair.moved.shards", "Shards moved to another drive");
    movedBytes = bytes(registry, "ashlar.repair.moved", "Bytes copied to move shards");
    refused =
        counter(
            registry,
            "ashlar.repair.refused",
            "Repairs of a blob discarded because the blob had changed");
  }
}
