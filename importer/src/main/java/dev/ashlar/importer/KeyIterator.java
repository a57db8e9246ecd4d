package dev.ashlar.importer;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The keys of a bucket in order, each with its versions. Holds a page, and one key's versions. */
final class KeyIterator {
  private final Side side;
  private final String bucket;
  private final String prefix;
  private final Deque<Version> page = new ArrayDeque<>();
  private String nextKey = "";
  private String nextVersionId = "";
  private boolean isLastPage;
  private @Nullable String previous;

  KeyIterator(Side side, String bucket, String prefix) {
    this.side = side;
    this.bucket = bucket;
    this.prefix = prefix;
  }

  /** Order of keys in listings: that of their bytes in UTF-8. */
  static int compare(String left, String right) {
    return Arrays.compareUnsigned(
        left.getBytes(StandardCharsets.UTF_8), right.getBytes(StandardCharsets.UTF_8));
  }

  /** The versions of one key, as they are now. */
  static KeyVersions of(Side side, String bucket, String key) throws IOException {
    // Keys that begin with this one follow it.
    KeyVersions first = new KeyIterator(side, bucket, key).next();
    return first != null && first.key().equals(key) ? first : KeyVersions.none(key);
  }

  /** Null at the end. */
  @Nullable KeyVersions next() throws IOException {
    Version first = peek();
    if (first == null) {
      return null;
    }
    String key = first.key();
    if (previous != null && compare(previous, key) >= 0) {
      throw new IOException(
          side + " lists bucket " + bucket + " out of order: " + key + " after " + previous);
    }
    previous = key;
    List<Version> versions = new ArrayList<>();
    for (Version each = first; each != null && each.key().equals(key); each = peek()) {
      versions.add(each);
      page.remove();
    }
    Collections.reverse(versions);
    return new KeyVersions(key, versions);
  }

  private @Nullable Version peek() throws IOException {
    while (page.isEmpty() && !isLastPage) {
      VersionPage next = side.versions(bucket, prefix, nextKey, nextVersionId);
      page.addAll(next.versions());
      nextKey = next.nextKey();
      nextVersionId = next.nextVersionId();
      isLastPage = nextKey.isEmpty();
    }
    return page.peek();
  }
}
