package dev.ashlar.storage.io;

import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Places of a drive's latest long reads for requests. Such a read bypasses the page cache unless
 * its place was read not long ago: what is read again soon is worth memory, and what a scan or a
 * backup reads once is not. Thread-safe.
 */
final class LongReads {
  /**
   * At most so many are remembered: 2 GiB in pieces of 256 KiB. A newer place takes the slot of an
   * older one with the same first bits.
   */
  static final int PLACES = 8192;

  /** By the first bits of a place's hash, its last bits, of which one is set; 0: none. */
  private final AtomicIntegerArray marks = new AtomicIntegerArray(PLACES);

  /**
   * Notes a read.
   *
   * @param file a number that differs from those of most other files
   * @return whether the same place was read before and is remembered
   */
  boolean isRepeated(int file, long position) {
    long hash = mix(mix(file) + position);
    int mark = (int) hash | 1;
    int place = (int) (hash >>> Integer.SIZE) & (PLACES - 1);
    return marks.getAndSet(place, mark) == mark;
  }

  /** The finalizer of MurmurHash3. */
  private static long mix(long value) {
    long mixed = (value ^ value >>> 33) * 0xff51afd7ed558ccdL;
    mixed = (mixed ^ mixed >>> 33) * 0xc4ceb9fe1a85ec53L;
    return mixed ^ mixed >>> 33;
  }
}
