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
        meters.counter("ashlar_metadata_verifications_total"),
        meters.counter("ashlar_metadata_damaged_files_total"),
        meters.counter("ashlar_metadata_rebuilt_tables_total"));
  }
}
