package dev.ashlar.importer;

import java.time.Instant;

/**
 * A version of a key, as a listing names it.
 *
 * @param id {@code null} in text where the bucket has no versions
 * @param isMarker whether it is a delete marker; then there is neither ETag nor size
 * @param etag without quotes
 */
public record Version(
    String key, String id, boolean isMarker, String etag, long size, Instant modified) {
  private static final String NULL_ID = "null";

  /** Whether a write can replace it in place, as of buckets without versions. */
  boolean isReplaceable() {
    return id.equals(NULL_ID);
  }

  /**
   * Whether it was written before another one, which it cannot be a copy of then. Some services
   * list times in whole seconds, so only these are compared.
   */
  boolean isOlderThan(Version other) {
    return modified.getEpochSecond() < other.modified.getEpochSecond();
  }

  /** Number of its parts; 0 if it was not uploaded in parts. */
  int parts() {
    int dash = etag.lastIndexOf('-');
    try {
      return dash < 0 ? 0 : Integer.parseInt(etag, dash + 1, etag.length(), 10);
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  /** Whether its ETag has the form of an MD5 sum. */
  boolean hasMd5() {
    return etag.length() == 32 && etag.chars().allMatch(c -> Character.digit(c, 16) >= 0);
  }
}
