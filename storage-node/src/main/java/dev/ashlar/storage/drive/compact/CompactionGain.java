package dev.ashlar.storage.drive.compact;

/**
 * Decides which segments are worth emptying, by their needed bytes. Emptying a segment frees it and
 * uses log space for the moved records. Batches are rounded up, and the end of a segment stays
 * empty if the next batch does not fit: on a drive full of such data, compaction would otherwise
 * move the same bytes forever. Not thread-safe.
 */
final class CompactionGain {
  /**
   * Share of needed bytes, in percent, below which a segment is emptied; the second one applies to
   * a full drive.
   */
  private static final int NEEDED_PERCENT_MAX = 50;

  private static final int NEEDED_PERCENT_MAX_WHEN_FULL = 90;

  /** Minimum gain as a fraction of a segment. */
  private static final int GAIN_SHARE_MIN = 16;

  private final int segmentBytes;
  private long takenBytes;

  /**
   * The segment emptied in vain had the fewest needed bytes, so others gain nothing either before
   * more is deleted.
   */
  private long inVainFrom = Long.MAX_VALUE;

  private boolean wasFull;

  CompactionGain(int segmentBytes) {
    this.segmentBytes = segmentBytes;
  }

  /** Segments with fewer needed bytes are worth emptying. */
  long neededBytesBelow(boolean isFull) {
    if (isFull != wasFull) {
      wasFull = isFull;
      inVainFrom = Long.MAX_VALUE;
    }
    int percentMax = isFull ? NEEDED_PERCENT_MAX_WHEN_FULL : NEEDED_PERCENT_MAX;
    return Math.min(inVainFrom, (long) segmentBytes * percentMax / 100);
  }

  void begin() {
    takenBytes = 0;
  }

  void took(long bytes) {
    takenBytes += bytes;
  }

  /**
   * The segment has been emptied.
   *
   * @param neededBytes its needed bytes before
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
