package dev.ashlar.metadata.placement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.placement.SlotExchanges.Swap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class SlotExchangesTest {
  private static UUID drive(int number) {
    return new UUID(0, number);
  }

  private static Swap swap(int from, int to) {
    return new Swap(drive(from), drive(to));
  }

  private static Map<UUID, Integer> balance(Map<Integer, Swap> swaps) {
    Map<UUID, Integer> balance = new HashMap<>();
    for (Swap swap : swaps.values()) {
      balance.merge(swap.from(), -1, Integer::sum);
      balance.merge(swap.to(), 1, Integer::sum);
    }
    balance.values().removeIf(slots -> slots == 0);
    return balance;
  }

  /** Whoever gives something, gets nothing in the end: without a circle there is an order. */
  private static boolean hasNoCircle(Map<Integer, Swap> swaps) {
    Set<Swap> left = new HashSet<>(swaps.values());
    boolean isLess = true;
    while (isLess) {
      Set<UUID> givers = new HashSet<>();
      left.forEach(swap -> givers.add(swap.from()));
      isLess = left.removeIf(swap -> !givers.contains(swap.to()));
    }
    return left.isEmpty();
  }

  @Test
  void aCircleIsLeftOutAndWhatLeadsThereIsNot() {
    Map<Integer, Swap> swaps =
        Map.of(1, swap(1, 2), 2, swap(2, 3), 3, swap(3, 1), 4, swap(4, 1), 5, swap(3, 5));
    assertEquals(Set.of(1, 2, 3), SlotExchanges.circular(swaps));
  }

  @Test
  void ofAnExchangeAsManyAreLeftOutAsThereAreBothWays() {
    Map<Integer, Swap> swaps = Map.of(1, swap(1, 2), 2, swap(1, 2), 3, swap(2, 1));
    assertEquals(2, SlotExchanges.circular(swaps).size());
    assertTrue(SlotExchanges.circular(swaps).contains(3));
  }

  @Property(tries = 200)
  void everyDriveComesToAsManySlotsAndNoCircleIsLeft(
      @ForAll long seed,
      @ForAll @IntRange(min = 2, max = 12) int drives,
      @ForAll @IntRange(min = 0, max = 150) int groups) {
    Random random = new Random(seed);
    Map<Integer, Swap> swaps = new HashMap<>();
    for (int pg = 0; pg < groups; pg++) {
      int from = random.nextInt(drives);
      swaps.put(pg, swap(from, (from + 1 + random.nextInt(drives - 1)) % drives));
    }
    Map<UUID, Integer> before = balance(swaps);
    swaps.keySet().removeAll(SlotExchanges.circular(swaps));
    assertEquals(before, balance(swaps));
    assertTrue(hasNoCircle(swaps));
  }
}
