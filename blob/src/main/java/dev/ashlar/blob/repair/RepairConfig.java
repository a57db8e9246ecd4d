package dev.ashlar.blob.repair;

import java.time.Duration;

/**
 * Settings of repair.
 *
 * @param blobsAtOnce at least 1
 * @param slice after which it looks again for the most endangered blobs
 */
public record RepairConfig(int blobsAtOnce, Duration slice) {
  public static final RepairConfig DEFAULT = new RepairConfig(4, Duration.ofSeconds(5));

  public RepairConfig {
    if (blobsAtOnce < 1) {
      throw new IllegalArgumentException(
          "blobs repaired at once must be at least 1: " + blobsAtOnce);
    }
  }
}
