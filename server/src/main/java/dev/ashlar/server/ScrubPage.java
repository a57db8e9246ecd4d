package dev.ashlar.server;

import dev.ashlar.storage.drive.ScrubProgress;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** How far the drives of a process are with looking after what they hold. */
record ScrubPage(List<Drive> drives) {
  /**
   * One drive.
   *
   * @param deep the reading of everything
   * @param light the last comparison with metadata; null: there was none since the start
   */
  record Drive(UUID drive, @Nullable ScrubProgress deep, @Nullable Light light) {}

  /**
   * A comparison of a drive with metadata.
   *
   * @param shards that the drive should have
   * @param lacking of these, those that it seemed to lack
   * @param orphansRemoved what dead sessions had left
   */
  record Light(long startedMs, long finishedMs, long shards, long lacking, long orphansRemoved) {}
}
