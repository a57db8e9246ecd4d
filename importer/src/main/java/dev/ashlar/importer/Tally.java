package dev.ashlar.importer;

import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.LongAdder;

/** What an import has done so far. For many threads. */
public final class Tally {
  private final LongAdder found = new LongAdder();
  private final LongAdder foundBytes = new LongAdder();
  private volatile boolean isAllFound;
  private final LongAdder copied = new LongAdder();
  private final LongAdder copiedBytes = new LongAdder();
  private final LongAdder movedBytes = new LongAdder();
  private final LongAdder equal = new LongAdder();
  private final LongAdder equalBytes = new LongAdder();
  private final LongAdder deleted = new LongAdder();
  private final LongAdder changed = new LongAdder();
  private final LongAdder extra = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder unsettled = new LongAdder();
  private final Set<String> notCarriedOver = new ConcurrentSkipListSet<>();

  void found(KeyVersions key) {
    found.add(key.versions().size());
    foundBytes.add(key.bytes());
  }

  void allFound() {
    isAllFound = true;
  }

  void copied(Version version) {
    copied.increment();
    copiedBytes.add(version.size());
  }

  /** Negative: what was moved has to be moved again. */
  void moved(long bytes) {
    movedBytes.add(bytes);
  }

  void equal(Version version) {
    equal.increment();
    equalBytes.add(version.size());
  }

  void deleted() {
    deleted.increment();
  }

  void changed() {
    changed.increment();
  }

  void extra(int versions) {
    extra.add(versions);
  }

  void countFailure() {
    failed.increment();
  }

  /** A key changed whenever it was copied: the next pass has to look again. */
  void unsettled() {
    unsettled.increment();
  }

  void notCarriedOver(String what) {
    notCarriedOver.add(what);
  }

  /** Versions of the source, as far as they have been counted. */
  public long versions() {
    return found.sum();
  }

  public long bytes() {
    return foundBytes.sum();
  }

  /** Whether all versions of the source have been counted. */
  public boolean isComplete() {
    return isAllFound;
  }

  /** Versions copied, delete markers included. */
  public long copies() {
    return copied.sum();
  }

  public long copiedBytes() {
    return copiedBytes.sum();
  }

  /** Versions that need nothing more: copied, or there already. */
  public long done() {
    return copied.sum() + equal.sum();
  }

  /** Of versions that need nothing more, and of those under way. */
  public long doneBytes() {
    return movedBytes.sum() + equalBytes.sum();
  }

  /** Versions that were there already. */
  public long present() {
    return equal.sum();
  }

  /** Versions of the target that were deleted. */
  public long deletions() {
    return deleted.sum();
  }

  /** Versions whose tags or locks were brought up to date. */
  public long changes() {
    return changed.sum();
  }

  /** Versions that only the target has. */
  public long extras() {
    return extra.sum();
  }

  /** Keys and settings that are not as at the source. */
  public long failures() {
    return failed.sum();
  }

  /** Keys that changed whenever they were copied: they may not be as at the source. */
  public long unsettledKeys() {
    return unsettled.sum();
  }

  /** Settings of the source that the target does not have, each with its bucket. */
  public Set<String> notCarriedOver() {
    return notCarriedOver;
  }
}
