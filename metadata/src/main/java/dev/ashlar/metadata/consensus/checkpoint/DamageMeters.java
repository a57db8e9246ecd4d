package dev.ashlar.metadata.consensus.checkpoint;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * Metrics of damage found and repaired in the metadata folders of this process.
 *
 * @param verifications completed verifications of all files of a folder
 * @param damaged damaged files found
 * @param rebuilt rebuilds of tables
 */
public record DamageMeters(Counter verifications, Counter damaged, Counter rebuilt) {
  public static DamageMeters in(MeterRegistry meters) {
    return new DamageMeters(
        counter(meters, "verifications", "Passes over all files of a metadata folder"),
        counter(meters, "damaged.files", "Files of metadata folders found damaged"),
        counter(
            meters, "rebuilt.tables", "Times that tables were rebuilt from a checkpoint and log"));
  }

  private static Counter counter(MeterRegistry meters, String name, String description) {
    return Counter.builder("ashlar.metadata." + name).description(description).register(meters);
  }
}
