package dev.ashlar.metadata.backup;

import java.io.IOException;
import java.time.Duration;
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

  /** No store is older. */
  private static final Instant FIRST_STORE = Instant.parse("2026-01-01T00:00:00Z");

  /** Positions of later times are too great for ids. */
  private static final Instant LAST = Instant.ofEpochSecond((1L << 32) - 1);

  /** How long the other peers of a restore can get its time. An earlier restore is older. */
  private static final Duration USABLE = Duration.ofHours(1);

  /** By how much the clocks of the peers may differ. */
  private static final Duration CLOCK_DIFFERENCE = Duration.ofMinutes(5);

  public RestorePoint {
    time = time.truncatedTo(ChronoUnit.SECONDS);
  }

  /**
   * That of a restore that begins now. After a backup that is later than now, by a clock that was
   * wrong, the group may have gone on for as long as there are stores.
   *
   * @param now by the clock of this machine
   */
  static RestorePoint first(BackupHeader backup, Instant now) {
    RestorePoint point = new RestorePoint(now);
    if (point.isBehind(backup)) {
      return point;
    }
    long positions = (backup.index() >> ENTRIES_PER_SECOND_BITS) + 1;
    long last = Math.max(Math.max(backup.term() + 1, positions), backup.taken().getEpochSecond());
    Duration since = Duration.between(FIRST_STORE, now);
    return new RestorePoint(Instant.ofEpochSecond(last).plus(since));
  }

  private boolean isBehind(BackupHeader backup) {
    return index() > backup.index() && term() > backup.term() && time.isAfter(backup.taken());
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
   * @param now by the clock of this machine
   * @throws IOException when the log of the backup, or of an earlier restore, may have reached this
   *     point
   */
  void requireBehind(BackupHeader backup, Instant now) throws IOException {
    Instant expected = first(backup, now).time();
    if (time.isBefore(expected.minus(USABLE))) {
      throw new IOException(
          String.format(
              "the time of the restore, %s, is more than an hour old, and each restore has its own:"
                  + " leave --time out on the first node",
              time));
    }
    if (time.isAfter(expected.plus(CLOCK_DIFFERENCE)) || time.isAfter(LAST)) {
      throw new IOException(
          String.format(
              "the time of the restore, %s, is later than now, %s: set the clock", time, now));
    }
    if (!isBehind(backup)) {
      throw new IOException(
          String.format(
              "the time of the restore, %s, is not after that of the backup, %s: set the clock",
              time, backup.taken()));
    }
  }
}
