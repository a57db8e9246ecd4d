package dev.ashlar.bench.capacity;

import dev.ashlar.protocol.model.Profile;
import org.jspecify.annotations.Nullable;

/**
 * What drives hold with a profile, by arithmetic, of objects so large that headers do not count.
 *
 * @param overhead bytes on drives per byte of data
 * @param usableBytes of data if all drives could be filled
 * @param firstFullBytes of data when the first drive is full
 * @param drivesLostReading how many drives, whichever they are, may be gone while everything can
 *     still be read
 * @param drivesLostWriting the same while everything can still be written
 * @param nodesLostReading the same of whole nodes; null without nodes
 * @param nodesLostWriting the same
 * @param pricePerUsableTerabyte of 10^12 bytes
 */
record ProfileCapacity(
    String profile,
    double overhead,
    long usableBytes,
    long firstFullBytes,
    int drivesLostReading,
    int drivesLostWriting,
    @Nullable Integer nodesLostReading,
    @Nullable Integer nodesLostWriting,
    @Nullable Double pricePerUsableTerabyte) {
  static final double TERABYTE = 1e12;

  static ProfileCapacity of(DriveSet set, Profile profile) {
    double overhead = (double) profile.shards() / profile.dataShards();
    long usable = (long) (set.bytesForData() / overhead);
    int writing = profile.shards() - profile.durableMinimum();
    boolean hasNodes = set.nodes() < set.drives();
    int onNode = set.slotsOfANode(profile);
    return new ProfileCapacity(
        profile.toString(),
        overhead,
        usable,
        (long) (usable * set.evenness(profile)),
        profile.parityShards(),
        writing,
        hasNodes ? profile.parityShards() / onNode : null,
        hasNodes ? writing / onNode : null,
        pricePerTerabyte(set, (double) usable));
  }

  static @Nullable Double pricePerTerabyte(DriveSet set, double usableBytes) {
    Double price = set.price();
    return price == null ? null : set.drives() * price / (usableBytes / TERABYTE);
  }
}
