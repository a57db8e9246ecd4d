package dev.ashlar.blob.context;

import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.Profile;
import java.time.Duration;

/**
 * Settings of the engine, for blobs of all profiles.
 *
 * @param windowBytes data encoded, written or read in one step; rounded down to whole stripes, at
 *     least one
 * @param windowsInFlight concurrent steps of one request, at least 1
 * @param blobBytesMax maximum length of a blob; longer data continues in another blob
 * @param driveDeadline after which a drive without an answer counts as failed
 */
public record EngineConfig(
    int windowBytes, int windowsInFlight, long blobBytesMax, Duration driveDeadline) {
  public static final EngineConfig DEFAULT =
      new EngineConfig(1 << 20, 2, 1L << 30, Duration.ofSeconds(10));

  public EngineConfig {
    if (windowBytes < 1 || windowsInFlight < 1 || blobBytesMax < 1) {
      throw new IllegalArgumentException("windows and blobs must have room for data");
    }
  }

  /** Bytes of a step of a request that began while memory was short. */
  public int leastWindowBytes() {
    return windowBytes / 4;
  }

  /** Bytes of each shard in a step of a request for a blob of this profile. */
  public int windowShardBytes(Profile profile) {
    return windowStripes(profile, windowBytes) * profile.stripeUnit();
  }

  public static int windowStripes(Profile profile, int windowBytes) {
    int byData = Math.max(1, windowBytes / profile.stripeBytes());
    return Math.min(byData, SlabPool.MAX_SLAB_BYTES / 2 / profile.stripeUnit());
  }
}
