package dev.ashlar.importer;

import java.util.List;

/**
 * All versions of a key.
 *
 * @param versions oldest first
 */
public record KeyVersions(String key, List<Version> versions) {
  /** Of a key that a side does not have. */
  static KeyVersions none(String key) {
    return new KeyVersions(key, List.of());
  }

  long bytes() {
    return versions.stream().mapToLong(Version::size).sum();
  }
}
