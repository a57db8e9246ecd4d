package dev.ashlar.protocol.client;

import dev.ashlar.protocol.message.VersionRef;
import org.jspecify.annotations.Nullable;

/**
 * A page of the versions and delete markers of a bucket: keys in the order of their UTF-8 bytes,
 * the versions of a key from the newest on.
 *
 * @param prefix empty for all
 * @param delimiter empty for none; keys that are equal up to it become one common prefix
 * @param keyMarker only what follows this key or common prefix; empty for all
 * @param versionMarker of the key marker, too, the versions older than this one; null: none
 * @param max versions, markers and common prefixes together, 0 to 1000
 */
public record VersionsQuery(
    String bucket,
    String prefix,
    String delimiter,
    String keyMarker,
    @Nullable VersionRef versionMarker,
    int max) {
  public VersionsQuery {
    if (max < 0 || max > 1000) {
      throw new IllegalArgumentException("max " + max);
    }
  }
}
