package dev.ashlar.metadata.backup;

import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * Where the log of a restored Raft group begins. Ids are made from positions in the log, so it
 * begins behind every position and term that the group ever had, also after an earlier restore. The
 * time of the restore gives that: a group adds fewer than 65,536 entries per second and has fewer
 * than one election per second, on average since the restore or the first start that it began with.
 *
 * @param time in whole seconds
 */
public record RestorePoint(Instant time) {
  private static final int ENTRIES_PER_SECOND_BITS = 16;

  public RestorePoint {
    time = time.truncatedTo(ChronoUnit.SECONDS);
  }

  /** The term of the entry before the first one. */
  long term() {
    return time.getEpochSecond();
  }

  /** The position of that entry. */
  long index() {
    return time.getEpochSecond() << ENTRIES_PER_SECOND_BITS;
  }

  /**
   * @throws IOException when the log of the backup may have reached this point
   */
  void requireBehind(BackupHeader backup, Instant now) throws IOException {
    boolean isBehind =
        index() > backup.index() && term() > backup.term() && time.isAfter(backup.taken());
    if (!isBehind) {
      throw new IOException(
          String.format(
              "the time of the restore, %s, is not after that of the backup, %s: set the clock",
              time, backup.taken()));
    }
    if (time.isAfter(now.plus(1, ChronoUnit.HOURS))) {
      throw new IOException(
          String.format("the time of the restore, %s, is later than now, %s", time, now));
    }
  }
}
