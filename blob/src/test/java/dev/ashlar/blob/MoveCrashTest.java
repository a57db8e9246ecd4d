package dev.ashlar.blob;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.blob.MoveCrash.End;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whoever moves shards may end at any step of it: the next one ends the move. */
class MoveCrashTest {
  private static final int SEEDS = 4;

  @ParameterizedTest
  @EnumSource
  void theNextOneEndsTheMoveWhereverTheLastOneEnded(End end) {
    Set<String> ends = new TreeSet<>();
    for (long seed = 1; seed <= SEEDS; seed++) {
      int step = 1;
      for (String at = run(seed, end, step); at != null; at = run(seed, end, ++step)) {
        ends.add(at);
      }
    }
    assertEquals(
        Set.of(
            "before MOVE_SLOTS",
            "after MOVE_SLOTS",
            "before NOTE_DEBTS",
            "after NOTE_DEBTS",
            "before SETTLE_DRIVE",
            "after SETTLE_DRIVE",
            "a drive writes",
            "before REPAIR_BLOB",
            "after REPAIR_BLOB",
            "a drive removes"),
        ends);
  }

  /** What the process was at when it ended; null if that never happened. */
  private static @Nullable String run(long seed, End end, int step) {
    try {
      return new MoveCrash(seed, end).run(step);
    } catch (Exception | AssertionError e) {
      throw new AssertionError("seed " + seed + ", " + end + " at step " + step, e);
    }
  }
}
