package dev.ashlar.storage.drive.compact;

/**
 * Which segments are worth emptying, by what is needed of them. Emptying one frees a segment and
 * takes room of the log for what is moved. Batches are rounded up, and where the next one does not
 * fit a segment's end stays empty: on a drive full of such data compaction would otherwise move the
 * same bytes for ever. For one thread.
 */
final class CompactionGain {
  /** Needed share, in percent, below which a segment is worth moving; when the drive is full. */
  private static final int NEEDED_PERCENT_MAX = 50;

  private static final int NEEDED_PERCENT_MAX_WHEN_FULL = 90;

  /** Of a segment: less is no gain. */
  private static final int GAIN_SHARE_MIN = 16;

  private final int segmentBytes;
  private long takenBytes;

  /**
   * The one that was emptied in vain had the fewest needed bytes of all, so nothing is gained by
   * others either before more is deleted.
   */
  private long inVainFrom = Long.MAX_VALUE;

  private boolean wasFull;

  CompactionGain(int segmentBytes) {
    this.segmentBytes = segmentBytes;
  }

  /** Only segments of which fewer bytes are needed are worth emptying now. */
  long neededBytesBelow(boolean isFull) {
    if (isFull != wasFull) {
      wasFull = isFull;
      inVainFrom = Long.MAX_VALUE;
    }
    int percentMax = isFull ? NEEDED_PERCENT_MAX_WHEN_FULL : NEEDED_PERCENT_MAX;
    return Math.min(inVainFrom, (long) segmentBytes * percentMax / 100);
  }

  /** A segment is about to be emptied. */
  void begin() {
    takenBytes = 0;
  }

  /** A move out of it took so many bytes of the log. */
  void took(long bytes) {
    takenBytes += bytes;
  }

  /**
   * The segment is empty.
   *
   * @param neededBytes of it, before
   * @return false if that was in vain
   */
  boolean end(long neededBytes) {
    boolean hasGained = segmentBytes - takenBytes >= segmentBytes / GAIN_SHARE_MIN;
    if (!hasGained && neededBytes > 0) {
      inVainFrom = neededBytes - neededBytes / GAIN_SHARE_MIN;
      return false;
    }
    return true;
  }
}
