package dev.ashlar.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DeckTest {
  private static final List<Integer> ALL = IntStream.range(0, 17).boxed().toList();

  private static List<Integer> drawn(long seed, int times) {
    Deck<Integer> deck = new Deck<>(ALL, new Random(seed));
    return IntStream.range(0, times).mapToObj(i -> deck.draw()).toList();
  }

  @Test
  void eachOnceBeforeAnyAgain() {
    List<Integer> drawn = drawn(1, 3 * ALL.size());
    for (int from = 0; from < drawn.size(); from += ALL.size()) {
      assertEquals(Set.copyOf(ALL), Set.copyOf(drawn.subList(from, from + ALL.size())));
    }
  }

  @Test
  void theSeedSaysInWhichOrder() {
    assertEquals(drawn(1, 40), drawn(1, 40));
    assertNotEquals(drawn(1, 40), drawn(2, 40));
  }

  @Test
  void whatWasDrawnBecauseOfHowItIsDoesNotComeAgain() {
    Deck<Integer> deck = new Deck<>(ALL, new Random(1));
    List<Integer> drawn = new ArrayList<>(List.of(deck.draw()));
    deck.draw(each -> each % 2 == 0).ifPresent(drawn::add);
    while (drawn.size() < ALL.size()) {
      assertFalse(deck.isThrough());
      drawn.add(deck.draw());
    }
    assertEquals(Set.copyOf(ALL), Set.copyOf(drawn));
    assertTrue(deck.isThrough());
    assertEquals(Optional.empty(), deck.draw(each -> true));
  }
}
