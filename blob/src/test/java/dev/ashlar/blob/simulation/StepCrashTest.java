package dev.ashlar.blob.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.blob.simulation.StepCrash.Action;
import dev.ashlar.blob.simulation.StepCrash.End;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Whoever appends, folds, repairs, re-encodes or moves may end at any step of it: the next one does
 * the rest.
 */
class StepCrashTest {
  private static final int SEEDS = 3;

  @ParameterizedTest
  @EnumSource
  void theNextOneEndsTheMoveWhereverTheLastOneEnded(End end) {
    assertEquals(
        Set.of(
            "before MOVE_SLOTS",
            "after MOVE_SLOTS",
            "before RECORD_DEBTS",
            "after RECORD_DEBTS",
            "before SETTLE_DRIVE",
            "after SETTLE_DRIVE",
            "a drive writes",
            "before REPAIR_BLOB",
            "after REPAIR_BLOB",
            "a drive removes"),
        ends(Action.MOVE, end));
  }

  @ParameterizedTest
  @EnumSource
  void anAppendIsWholeOrNotAtAllWhereverItEnds(End end) {
    assertEquals(
        Set.of("a drive writes", "a drive removes", "before MODIFY_OBJECT", "after MODIFY_OBJECT"),
        ends(Action.APPEND, end));
  }

  @ParameterizedTest
  @EnumSource
  void aFoldMayEndAnywhere(End end) {
    assertEquals(
        Set.of("a drive writes", "a drive removes", "before FOLD_BLOB", "after FOLD_BLOB"),
        ends(Action.FOLD, end));
  }

  @ParameterizedTest
  @EnumSource
  void aRepairMayEndAnywhere(End end) {
    assertEquals(
        Set.of(
            "before RECORD_DEBTS",
            "after RECORD_DEBTS",
            "before SETTLE_DRIVE",
            "after SETTLE_DRIVE",
            "a drive removes",
            "before REPAIR_BLOB",
            "after REPAIR_BLOB"),
        ends(Action.REPAIR, end));
  }

  @ParameterizedTest
  @EnumSource
  void aMoveToAnotherProfileMayEndAnywhere(End end) {
    assertEquals(
        Set.of("a drive writes", "a drive removes", "before MOVE_OBJECT", "after MOVE_OBJECT"),
        ends(Action.RE_ENCODE, end));
  }

  /** Of all seeds, at what the process ended. */
  private static Set<String> ends(Action action, End end) {
    Set<String> ends = new TreeSet<>();
    for (long seed = 1; seed <= SEEDS; seed++) {
      int step = 1;
      for (String at = run(seed, action, end, step);
          at != null;
          at = run(seed, action, end, ++step)) {
        ends.add(at);
      }
    }
    return ends;
  }

  /** What the process was at when it ended; null if that never happened. */
  private static @Nullable String run(long seed, Action action, End end, int step) {
    try {
      return new StepCrash(seed, action, end).run(step);
    } catch (Exception | AssertionError e) {
      throw new AssertionError("seed " + seed + ", " + action + ", " + end + " at step " + step, e);
    }
  }
}
