package dev.ashlar.blob.repair;

import java.time.Duration;

/**
 * How repair works.
 *
 * @param blobsAtOnce at least 1
 * @param interval between looks where nothing is to be done
 * @param slice after so long it looks anew what is the most endangered
 */
public record RepairConfig(int blobsAtOnce, Duration interval, Duration slice) {
  public static final RepairConfig DEFAULT =
      new RepairConfig(4, Duration.ofSeconds(2), Duration.ofSeconds(5));

  public RepairConfig {
    if (blobsAtOnce < 1) {
      throw new IllegalArgumentException("repairs " + blobsAtOnce + " blobs at once");
    }
  }
}
