package dev.ashlar.metadata.consensus.checkpoint;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * What was found and mended in the metadata folders of this process.
 *
 * @param verifications passes over all files of a folder
 * @param damaged files found damaged
 * @param rebuilt times that tables were rebuilt
 */
public record DamageMeters(Counter verifications, Counter damaged, Counter rebuilt) {
  public static DamageMeters in(MeterRegistry meters) {
    return new DamageMeters(
        meters.counter("ashlar_metadata_verifications_total"),
        meters.counter("ashlar_metadata_damaged_files_total"),
        meters.counter("ashlar_metadata_rebuilt_tables_total"));
  }
}
