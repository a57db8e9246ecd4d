package dev.ashlar.protocol.client;

import dev.ashlar.protocol.message.BucketRow;

/**
 * Some buckets of an owner, by name.
 *
 * @param prefix empty for all
 * @param region empty for all
 * @param after only buckets with greater names; empty for all
 */
public record BucketsQuery(String owner, String prefix, String region, String after, int max) {
  public boolean matches(BucketRow bucket) {
    return bucket.getOwner().equals(owner)
        && bucket.getName().startsWith(prefix)
        && (region.isEmpty() || bucket.getRegion().equals(region))
        && bucket.getName().compareTo(after) > 0;
  }
}
