package dev.ashlar.blob.context;

import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.Profile;
import java.time.Duration;

/**
 * How the engine writes and reads.
 *
 * @param defaultProfile protection of new blobs; a blob that exists names its own
 * @param windowBytes data that is encoded, written or read as one step; rounded down to whole
 *     stripes, at least one
 * @param windowsInFlight steps of one request that may be under way at once, at least 1
 * @param blobBytesMax where longer data continues in a further blob
 * @param driveDeadline how long a drive may take before its slot counts as failed
 */
public record EngineConfig(
    Profile defaultProfile,
    int windowBytes,
    int windowsInFlight,
    long blobBytesMax,
    Duration driveDeadline) {
  public EngineConfig {
    if (windowBytes < 1 || windowsInFlight < 1 || blobBytesMax < defaultProfile.stripeBytes()) {
      throw new IllegalArgumentException("windows and blobs need room for a stripe");
    }
    if (defaultProfile.stripeUnit() > SlabPool.MAX_SLAB_BYTES) {
      throw new IllegalArgumentException("stripe unit " + defaultProfile.stripeUnit());
    }
  }

  public static EngineConfig of(Profile defaultProfile) {
    return new EngineConfig(defaultProfile, 1 << 20, 2, 1L << 30, Duration.ofSeconds(10));
  }

  /** Bytes of a step of a request that came when memory was short. */
  public int leastWindowBytes() {
    return windowBytes / 4;
  }

  /** Bytes of each shard in a step of a request for a blob of this profile. */
  public int windowShardBytes(Profile profile) {
    return windowStripes(profile, windowBytes) * profile.stripeUnit();
  }

  /** Stripes of one step. */
  public static int windowStripes(Profile profile, int windowBytes) {
    int byData = Math.max(1, windowBytes / profile.stripeBytes());
    return Math.min(byData, SlabPool.MAX_SLAB_BYTES / 2 / profile.stripeUnit());
  }
}
