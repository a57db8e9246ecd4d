package dev.ashlar.storage.drive.compact;

import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.storage.drive.log.OpenDrive;
import dev.ashlar.storage.drive.log.SegmentLog;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFiles;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.drive.segment.SegmentUsage;
import dev.ashlar.storage.io.FileNotOpenedException;
import java.io.IOException;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the segments that are worth emptying, by their needed bytes. Emptying a segment frees it
 * and uses log space for the moved records. Batches are rounded up, and the end of a segment stays
 * empty if the next batch does not fit: on a drive full of such data, compaction would otherwise
 * move the same bytes forever. Not thread-safe.
 */
final class SegmentChoice {
  /**
   * Share of needed bytes, in percent, below which a segment is emptied; the second one applies to
   * a full drive.
   */
  private static final int NEEDED_PERCENT_MAX = 50;

  private static final int NEEDED_PERCENT_MAX_WHEN_FULL = 90;

  /** Minimum gain as a fraction of a segment. */
  private static final int GAIN_SHARE_MIN = 16;

  /**
   * Below this share of used capacity, in percent, dead bytes may take as much space as live ones.
   * Waiting segments become deader: of randomly overwritten ones about a fifth is live when they
   * are moved then, instead of half. A fuller drive needs space for data that arrives faster than
   * space is freed.
   */
  private static final int ROOMY_PERCENT_MAX = 50;

  /** An eighth of the active segment must be dead; otherwise the log would move in circles. */
  private static final int ACTIVE_DEAD_SHARE = 8;

  private final SegmentFiles segments;
  private final int segmentBytes;
  private final SegmentLog log;
  private final Set<Segment> emptied = new LinkedHashSet<>();

  /**
   * Segments with unreadable directories that cannot be freed: the scrub has not yet reported a
   * piece in them, or they have lost marks. A replay without these marks must meet the damage,
   * which makes it distrust all changed shards.
   */
  private final Set<Segment> stuck = new HashSet<>();

  /** Segments that could not be opened; others are tried first. */
  private final Set<Segment> unopened = new HashSet<>();

  private long takenBytes;

  /**
   * The segment emptied in vain had the fewest needed bytes, so others gain nothing either before
   * more is deleted.
   */
  private long inVainFrom = Long.MAX_VALUE;

  private boolean wasFull;

  SegmentChoice(OpenDrive drive, SegmentLog log) {
    segments = drive.segments();
    segmentBytes = segments.segmentBytes();
    this.log = log;
  }

  /**
   * The segment that takes the least space to empty, as a full drive may have no more; null if none
   * is worth it.
   */
  @Nullable Segment next() {
    long active = log.activeSegment();
    Segment best = null;
    long bestBytes = neededBytesBelow(segments.isFull());
    long neededBytes = 0;
    long deadBytes = 0;
    for (Segment segment : segments.all()) {
      long bytes = neededBytes(segment);
      if ((segment.id() < active || (segment.id() == active && isWorthLeaving(bytes)))
          && !stuck.contains(segment)
          && !unopened.contains(segment)
          && !emptied.contains(segment)) {
        neededBytes += bytes;
        deadBytes += segmentBytes - bytes;
        if (bytes < bestBytes) {
          best = segment;
          bestBytes = bytes;
        }
      }
    }
    boolean mayWait = bestBytes > 0 && deadBytes <= neededBytes && isRoomy();
    if (best == null || mayWait) {
      unopened.clear();
      return null;
    }
    return best;
  }

  private static long neededBytes(Segment segment) {
    SegmentUsage use = segment.use();
    return use.liveBytes() + (long) use.marks() * SegmentFormat.FOLD_MARK_BYTES;
  }

  /** Segments with fewer needed bytes are worth emptying. */
  private long neededBytesBelow(boolean isFull) {
    if (isFull != wasFull) {
      wasFull = isFull;
      inVainFrom = Long.MAX_VALUE;
    }
    int percentMax = isFull ? NEEDED_PERCENT_MAX_WHEN_FULL : NEEDED_PERCENT_MAX;
    return Math.min(inVainFrom, (long) segmentBytes * percentMax / 100);
  }

  private boolean isRoomy() {
    return !segments.isFull()
        && segments.usedBytes() / ROOMY_PERCENT_MAX < segments.capacityBytes() / 100;
  }

  /** Whether the active segment can provide space that a full drive lacks. */
  private boolean isWorthLeaving(long neededBytes) {
    long written = (long) segmentBytes - log.activeRoomBytes();
    return segments.isFull() && written - neededBytes >= segmentBytes / ACTIVE_DEAD_SHARE;
  }

  /** Notes log space that emptying a segment has used. */
  void took(long bytes) {
    takenBytes += bytes;
  }

  /** Empties a segment. */
  interface Emptying {
    void run() throws IOException, ShardException;
  }

  /**
   * Empties the chosen segment.
   *
   * @return false if that was in vain
   */
  boolean empty(Segment segment, Emptying emptying) throws IOException, ShardException {
    long neededBytes = neededBytes(segment);
    takenBytes = 0;
    try {
      emptying.run();
    } catch (FileNotOpenedException e) {
      unopened.add(segment);
      throw e;
    }
    boolean hasGained = segmentBytes - takenBytes >= segmentBytes / GAIN_SHARE_MIN;
    if (!hasGained && neededBytes > 0) {
      inVainFrom = neededBytes - neededBytes / GAIN_SHARE_MIN;
      return false;
    }
    return true;
  }

  void emptied(Segment segment) {
    emptied.add(segment);
  }

  /** The segments that are empty and not freed yet. */
  Set<Segment> emptied() {
    return emptied;
  }

  void freed(Segment segment) {
    emptied.remove(segment);
  }

  /** The segment cannot be freed. */
  void leave(Segment segment) {
    stuck.add(segment);
  }

  /** The scrub has reported what was missing. */
  void retry(Segment segment) {
    stuck.remove(segment);
  }
}
