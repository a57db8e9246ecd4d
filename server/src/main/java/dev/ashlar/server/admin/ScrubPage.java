package dev.ashlar.server.admin;

import dev.ashlar.storage.drive.scrub.ScrubProgress;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** How far the drives of a process are with looking after what they hold. */
public record ScrubPage(List<Drive> drives) {
  /**
   * One drive.
   *
   * @param deep the reading of everything
   * @param percent of the segments of the pass that are read; of a drive that rests 100, or 0 if it
   *     never was read through
   * @param bytesPerSecond that the pass has verified, on average since it began; 0: none is under
   *     way
   * @param secondsLeft of the pass if it goes on so; null: not known, or none is under way
   * @param light the last comparison with metadata; null: there was none since the start
   */
  public record Drive(
      UUID drive,
      @Nullable ScrubProgress deep,
      int percent,
      long bytesPerSecond,
      @Nullable Long secondsLeft,
      @Nullable Light light) {
    public static Drive of(
        UUID drive, @Nullable ScrubProgress deep, @Nullable Light light, long nowMs) {
      if (deep == null || !deep.running()) {
        int percent = deep == null || deep.finishedMs() == 0 ? 0 : 100;
        return new Drive(drive, deep, percent, 0, null, light);
      }
      long done = deep.segmentsDone();
      double elapsedMs = Math.max(1, nowMs - deep.startedMs());
      return new Drive(
          drive,
          deep,
          (int) (100 * done / Math.max(1, done + deep.segmentsLeft())),
          (long) (deep.verifiedBytes() * TimeUnit.SECONDS.toMillis(1) / elapsedMs),
          done == 0
              ? null
              : TimeUnit.MILLISECONDS.toSeconds((long) (elapsedMs * deep.segmentsLeft() / done)),
          light);
    }
  }

  /**
   * A comparison of a drive with metadata.
   *
   * @param shards that the drive should have
   * @param missing of these, those that seemed to be missing
   * @param orphansRemoved what dead sessions had left
   */
  public record Light(
      long startedMs, long finishedMs, long shards, long missing, long orphansRemoved) {}
}
