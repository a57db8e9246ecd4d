package dev.ashlar.storage.io;

import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Places of a drive's latest long reads for requests. Such a read bypasses the page cache unless
 * its place was read not long ago: what is read again soon is worth memory, and what a scan or a
 * backup reads once is not. Thread-safe.
 */
final class LongReads {
  /** At most so many are remembered: 2 GiB in pieces of 256 KiB. */
  static final int PLACES = 8192;

  /** Places that share the first bits of their hashes; the one read longest ago is forgotten. */
  private static final int SET = 16;

  private static final int SETS = PLACES / SET;

  /** Set by set, the latest first: the last bits of a place's hash, one of them set; 0: none. */
  private final AtomicIntegerArray marks = new AtomicIntegerArray(PLACES);

  /**
   * Notes a read.
   *
   * @param nameHash differs from those of most other files
   * @return whether the same place was read before and is remembered
   */
  boolean isRepeated(int nameHash, long position) {
    long hash = mix(mix(nameHash) + position);
    int mark = (int) hash | 1;
    int first = ((int) (hash >>> Integer.SIZE) & (SETS - 1)) * SET;
    int latest = mark;
    for (int place = first; place < first + SET; place++) {
      latest = marks.getAndSet(place, latest);
      if (latest == mark) {
        return true;
      }
    }
    return false;
  }

  /** The finalizer of MurmurHash3. */
  private static long mix(long value) {
    long mixed = (value ^ value >>> 33) * 0xff51afd7ed558ccdL;
    mixed = (mixed ^ mixed >>> 33) * 0xc4ceb9fe1a85ec53L;
    return mixed ^ mixed >>> 33;
  }
}
