package dev.ashlar.it.linear;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class LinearizabilityTest {
  /** A register: a positive input is written, 0 reads; writes answer 0. */
  private enum Register implements SequentialModel<Integer, Integer, Integer> {
    MODEL;

    @Override
    public Integer initial() {
      return 0;
    }

    @Override
    public Optional<Integer> after(Integer state, Integer input, @Nullable Integer output) {
      if (input > 0) {
        return Optional.of(input);
      }
      return output == null || output.equals(state) ? Optional.of(state) : Optional.empty();
    }
  }

  private static Operation<Integer, Integer> write(int value, long from, long to) {
    return new Operation<>(value, 0, from, to);
  }

  private static Operation<Integer, Integer> lostWrite(int value, long from) {
    return new Operation<>(value, null, from, 0);
  }

  private static Operation<Integer, Integer> read(int value, long from, long to) {
    return new Operation<>(0, value, from, to);
  }

  private static boolean holds(List<Operation<Integer, Integer>> history) {
    return Linearizability.isLinearizable(Register.MODEL, history);
  }

  @Test
  void oneAfterTheOther() {
    assertTrue(holds(List.of()));
    assertTrue(holds(List.of(read(0, 1, 2), write(5, 3, 4), read(5, 5, 6))));
    assertFalse(holds(List.of(write(5, 1, 2), read(0, 3, 4))), "a stale read");
    assertFalse(holds(List.of(read(5, 1, 2), write(5, 3, 4))), "a read of the future");
  }

  @Test
  void whatOverlapsGoesInEitherOrder() {
    assertTrue(holds(List.of(write(5, 1, 10), read(0, 2, 3), read(5, 4, 5))));
    assertTrue(holds(List.of(write(5, 1, 10), write(6, 1, 10), read(6, 11, 12))));
    assertTrue(holds(List.of(write(5, 1, 10), write(6, 1, 10), read(5, 11, 12))));
    assertFalse(
        holds(List.of(write(5, 1, 10), read(5, 2, 3), read(0, 4, 5))), "back to what was before");
    assertFalse(
        holds(List.of(write(5, 1, 10), write(6, 1, 10), read(5, 11, 12), read(6, 13, 14))),
        "readers that disagree on the order");
  }

  @Test
  void aWriteThatEndedBeforeAnotherBeganIsOverwritten() {
    assertFalse(holds(List.of(write(1, 1, 2), write(2, 3, 4), read(1, 5, 6))));
    assertTrue(holds(List.of(write(1, 1, 4), write(2, 3, 4), read(1, 5, 6))));
  }

  @Test
  void anOperationWithoutAnAnswerHappenedOrNot() {
    assertTrue(holds(List.of(lostWrite(5, 1), read(0, 2, 3))));
    assertTrue(holds(List.of(lostWrite(5, 1), read(5, 2, 3))));
    assertTrue(holds(List.of(lostWrite(5, 1), read(0, 2, 3), read(5, 4, 5))), "late");
    assertFalse(holds(List.of(lostWrite(5, 1), read(5, 2, 3), read(0, 4, 5))), "and undone");
    assertFalse(holds(List.of(lostWrite(5, 4), read(5, 2, 3))), "before it was called");
    assertFalse(
        holds(List.of(lostWrite(5, 1), read(5, 2, 3), write(6, 4, 5), read(5, 6, 7))), "and twice");
  }

  /** All short histories of a few clients, compared with trying every order. */
  @Test
  void agreesWithTryingEveryOrder() {
    long seed = System.nanoTime();
    SplittableRandom random = new SplittableRandom(seed);
    int[] count = new int[2];
    for (int i = 0; i < 5000; i++) {
      List<Operation<Integer, Integer>> history = history(random);
      boolean expected = holdsInSomeOrder(new ArrayList<>(history), 0);
      assertEquals(
          expected,
          Linearizability.isLinearizable(Register.MODEL, history),
          () -> "seed " + seed + ": " + history);
      count[expected ? 1 : 0]++;
    }
    assertTrue(count[0] > 500 && count[1] > 500, "histories of both kinds");
  }

  private static List<Operation<Integer, Integer>> history(SplittableRandom random) {
    List<Operation<Integer, Integer>> history = new ArrayList<>();
    int length = 1 + random.nextInt(6);
    for (int i = 0; i < length; i++) {
      long from = random.nextInt(12);
      long to = from + random.nextInt(8);
      int value = random.nextInt(3);
      history.add(
          switch (random.nextInt(5)) {
            case 0 -> lostWrite(1 + value, from);
            case 1, 2 -> write(1 + value, from, to);
            default -> read(value, from, to);
          });
    }
    return history;
  }

  private static boolean holdsInSomeOrder(List<Operation<Integer, Integer>> left, int state) {
    if (left.stream().allMatch(each -> each.output() == null)) {
      return true;
    }
    for (int i = 0; i < left.size(); i++) {
      Operation<Integer, Integer> next = left.get(i);
      boolean isFirst =
          left.stream()
              .allMatch(each -> each.output() == null || each.returnedAt() >= next.calledAt());
      Optional<Integer> after = Register.MODEL.after(state, next.input(), next.output());
      if (isFirst && after.isPresent()) {
        List<Operation<Integer, Integer>> rest = new ArrayList<>(left);
        rest.remove(i);
        if (holdsInSomeOrder(rest, after.get())) {
          return true;
        }
      }
    }
    return false;
  }

  /** Each of them may have happened or not: all orders of all of them are too many to try. */
  @Test
  void manyWithoutAnAnswer() {
    List<Operation<Integer, Integer>> history = new ArrayList<>();
    for (int i = 1; i <= 40; i++) {
      history.add(lostWrite(i, i));
    }
    history.add(read(0, 100, 101));
    assertTrue(holds(history), "none happened");
    history.add(read(17, 102, 103));
    history.add(read(3, 104, 105));
    assertTrue(holds(history), "two happened");
  }
}
