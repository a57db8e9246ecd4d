package dev.ashlar.server.jobs;

import dev.ashlar.gateway.lifecycle.JudgedVersion;
import dev.ashlar.protocol.message.VersionEntry;
import dev.ashlar.protocol.model.PlacedProfile;
import org.jspecify.annotations.Nullable;

/**
 * Turns a listing of versions, which begins with the newest version of a key, into what rules see:
 * each version with what its neighbours tell of it.
 */
final class ListedVersions {
  /** The newest version of the present key; null before the first one. */
  private @Nullable VersionEntry newest;

  private @Nullable VersionEntry previous;

  /** A delete marker that is the newest version, until it is known whether it is the only one. */
  private @Nullable VersionEntry undecided;

  private int noncurrent;
  private String passedKey;

  /**
   * A version.
   *
   * @param newest version of its key
   */
  record Listed(VersionEntry entry, JudgedVersion judged, VersionEntry newest) {}

  /** Takes what is listed. */
  interface Taker<E extends Exception> {
    void take(Listed listed) throws E;
  }

  /**
   * @param passedKey the key before the listing; empty: none
   */
  ListedVersions(String passedKey) {
    this.passedKey = passedKey;
  }

  /** Adds the next entry of the listing, and hands on what is known by it. */
  <E extends Exception> void next(VersionEntry entry, Taker<E> taker) throws E {
    VersionEntry first = newest;
    VersionEntry before = previous;
    boolean isSameKey = first != null && first.getName().equals(entry.getName());
    decide(!isSameKey, taker);
    previous = entry;
    if (first != null && before != null && isSameKey) {
      long sinceMs = before.getSummary().getLastModifiedMs();
      taker.take(new Listed(entry, judged(entry, sinceMs, false, false, noncurrent++), first));
      return;
    }
    if (first != null) {
      passedKey = first.getName();
    }
    newest = entry;
    noncurrent = 0;
    if (entry.getDeleteMarker()) {
      undecided = entry;
    } else {
      taker.take(newest(entry, false));
    }
  }

  /** The listing is over. */
  <E extends Exception> void end(Taker<E> taker) throws E {
    decide(true, taker);
  }

  private <E extends Exception> void decide(boolean isOnly, Taker<E> taker) throws E {
    VersionEntry marker = undecided;
    undecided = null;
    if (marker != null) {
      taker.take(newest(marker, isOnly));
    }
  }

  private static Listed newest(VersionEntry entry, boolean isOnly) {
    long sinceMs = entry.getSummary().getLastModifiedMs();
    return new Listed(entry, judged(entry, sinceMs, true, isOnly, 0), entry);
  }

  private static JudgedVersion judged(
      VersionEntry entry, long sinceMs, boolean isNewest, boolean isOnly, int newerNoncurrent) {
    boolean isMarker = entry.getDeleteMarker();
    return new JudgedVersion(
        entry.getName(),
        entry.getSummary().getSize(),
        isMarker ? "" : PlacedProfile.className(entry.getSummary().getStorageClass()),
        isMarker,
        sinceMs,
        isNewest,
        isOnly,
        newerNoncurrent);
  }

  /** The last key of which all versions were listed; empty: none. */
  String passedKey() {
    return passedKey;
  }
}
