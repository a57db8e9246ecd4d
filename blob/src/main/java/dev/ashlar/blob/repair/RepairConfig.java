package dev.ashlar.blob.repair;

import java.time.Duration;

/**
 * How repair works.
 *
 * @param blobsAtOnce at least 1
 * @param interval between looks where nothing is to be done
 * @param slice after so long it looks anew what is the most endangered
 * @param foldAfter how long a blob's changes may stay unfolded where it owes shards of which they
 *     would be a part
 */
public record RepairConfig(int blobsAtOnce, Duration interval, Duration slice, Duration foldAfter) {
  public static final RepairConfig DEFAULT =
      new RepairConfig(4, Duration.ofSeconds(2), Duration.ofSeconds(5), Duration.ofSeconds(30));

  public RepairConfig {
    if (blobsAtOnce < 1) {
      throw new IllegalArgumentException("repairs " + blobsAtOnce + " blobs at once");
    }
  }
}
