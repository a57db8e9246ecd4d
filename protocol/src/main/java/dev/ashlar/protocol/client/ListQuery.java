package dev.ashlar.protocol.client;

/**
 * A page of a listing in the order of UTF-8 bytes.
 *
 * @param prefix empty for all
 * @param delimiter empty for none; keys that are equal up to it become one common prefix
 * @param after only entries strictly greater than this key or common prefix; empty for all. If it
 *     is a common prefix of this query, all keys below it are skipped
 * @param max keys and common prefixes together, 0 to 1000
 */
public record ListQuery(String bucket, String prefix, String delimiter, String after, int max) {
  public ListQuery {
    if (max < 0 || max > 1000) {
      throw new IllegalArgumentException("max " + max);
    }
  }
}
