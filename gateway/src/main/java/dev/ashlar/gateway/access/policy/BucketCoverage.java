package dev.ashlar.gateway.access.policy;

import java.util.BitSet;

/** Whether a resource of a bucket policy can mean the bucket or an object of it. */
final class BucketCoverage {
  private BucketCoverage() {}

  /**
   * Follows all ways at once in which the pattern can consume the name of the bucket. A variable
   * does not stand for a part of that name: whether it fits is not known when the policy is put.
   *
   * @param pattern the part of an ARN of S3 after the last colon, with wildcards
   */
  static boolean covers(String pattern, String bucket) {
    BitSet positions = new BitSet();
    positions.set(0);
    skipAsterisks(pattern, positions);
    for (int i = 0; i < bucket.length() && !positions.isEmpty(); i++) {
      positions = next(pattern, positions, bucket.charAt(i));
    }
    // What is left, if anything, is for the key. Some key fits whatever it is.
    return positions.get(pattern.length()) || !next(pattern, positions, '/').isEmpty();
  }

  private static BitSet next(String pattern, BitSet positions, char consumed) {
    BitSet next = new BitSet();
    for (int at = positions.nextSetBit(0); at >= 0; at = positions.nextSetBit(at + 1)) {
      char token = at < pattern.length() ? pattern.charAt(at) : '\0';
      if (token == '*') {
        next.set(at);
      } else if (at < pattern.length() && (token == '?' || token == consumed)) {
        next.set(at + 1);
      }
    }
    skipAsterisks(pattern, next);
    return next;
  }

  /** An asterisk can also stand for nothing. */
  private static void skipAsterisks(String pattern, BitSet positions) {
    for (int at = positions.nextSetBit(0); at >= 0; at = positions.nextSetBit(at + 1)) {
      if (at < pattern.length() && pattern.charAt(at) == '*') {
        positions.set(at + 1);
      }
    }
  }
}
