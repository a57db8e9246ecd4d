package dev.ashlar.importer;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Walks the listings of both sides at once, in the order of keys. */
final class KeyPairs {
  private final KeyIterator sources;
  private final KeyIterator targets;
  private @Nullable KeyVersions source;
  private @Nullable KeyVersions target;

  /** A key as both sides have it; one of them may have no version of it. */
  record Pair(KeyVersions source, KeyVersions target) {}

  KeyPairs(KeyIterator sources, KeyIterator targets) throws IOException {
    this.sources = sources;
    this.targets = targets;
    this.source = sources.next();
    this.target = targets.next();
  }

  /** Null at the end. */
  @Nullable Pair next() throws IOException {
    KeyVersions here = source;
    KeyVersions there = target;
    int order =
        here == null ? 1 : there == null ? -1 : KeyIterator.compare(here.key(), there.key());
    if (order <= 0) {
      source = sources.next();
    }
    if (order >= 0) {
      target = targets.next();
    }
    if (here != null && order < 0) {
      return new Pair(here, KeyVersions.none(here.key()));
    }
    if (there != null && order > 0) {
      return new Pair(KeyVersions.none(there.key()), there);
    }
    return here == null || there == null ? null : new Pair(here, there);
  }
}
