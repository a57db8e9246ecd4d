package dev.ashlar.it.fault;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * What two buckets with versioning hold, one of them with object lock, as simply as it can be said.
 */
final class VersionModel {
  static final String NULL = "null";

  /**
   * What keeps a version from being deleted.
   *
   * @param mode GOVERNANCE or COMPLIANCE; empty: none
   * @param years from the beginning of the test on until it ends
   */
  record Lock(String mode, int years, boolean isHeld) {
    static final Lock NONE = new Lock("", 0, false);

    boolean isDeletable(boolean bypasses) {
      return !isHeld && (mode.isEmpty() || (mode.equals("GOVERNANCE") && bypasses));
    }
  }

  /**
   * A version of a key.
   *
   * @param body null: a delete marker
   */
  record Version(String id, byte @Nullable [] body, Lock lock, Map<String, String> tags) {
    Version with(Lock other) {
      return new Version(id, body, other, tags);
    }

    Version with(Map<String, String> other) {
      return new Version(id, body, lock, other);
    }

    boolean isMarker() {
      return body == null;
    }
  }

  /** Newest first. */
  private final Map<String, List<Version>> keys = new TreeMap<>();

  List<Version> versions(String key) {
    return keys.computeIfAbsent(key, any -> new ArrayList<>());
  }

  List<String> keys() {
    return keys.keySet().stream().filter(key -> !versions(key).isEmpty()).toList();
  }

  /** The version that a read without an id gets. */
  Optional<Version> present(String key) {
    return versions(key).stream().findFirst().filter(version -> !version.isMarker());
  }

  Optional<Version> find(String key, String id) {
    return versions(key).stream().filter(version -> version.id().equals(id)).findFirst();
  }

  /** A null version replaces the one there was, wherever that stands. */
  void add(String key, Version version) {
    if (version.id().equals(NULL)) {
      versions(key).removeIf(other -> other.id().equals(NULL));
    } else if (find(key, version.id()).isPresent()) {
      throw new AssertionError("the id " + version.id() + " of " + key + " is used twice");
    }
    versions(key).addFirst(version);
  }

  void remove(String key, String id) {
    versions(key).removeIf(version -> version.id().equals(id));
  }

  void change(String key, String id, UnaryOperator<Version> change) {
    versions(key)
        .replaceAll(version -> Objects.equals(version.id(), id) ? change.apply(version) : version);
  }
}
