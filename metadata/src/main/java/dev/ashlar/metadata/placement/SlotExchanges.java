package dev.ashlar.metadata.placement;

import static java.util.Objects.requireNonNull;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Finds unnecessary moves: placement groups in which a drive may as well stay, because it gets as
 * many slots in other groups as it gives away. These form circles of drives, each of which gives
 * the next one a slot. The number of slots of a drive matters, not which they are.
 */
final class SlotExchanges {
  /** In a placement group, one drive replaces another. */
  record Swap(UUID from, UUID to) {}

  /** The placement groups, by giving and receiving drive. */
  private final NavigableMap<UUID, NavigableMap<UUID, Deque<Integer>>> gifts = new TreeMap<>();

  private final Set<Integer> circular = new HashSet<>();

  private SlotExchanges(Map<Integer, Swap> swaps) {
    new TreeMap<>(swaps)
        .forEach(
            (pg, swap) ->
                of(swap.from()).computeIfAbsent(swap.to(), drive -> new ArrayDeque<>()).add(pg));
  }

  /** The placement groups that may stay as they are; the rest contains no circle. */
  static Set<Integer> circular(Map<Integer, Swap> swaps) {
    SlotExchanges exchanges = new SlotExchanges(swaps);
    for (UUID start : List.copyOf(exchanges.gifts.keySet())) {
      exchanges.walk(start);
    }
    return exchanges.circular;
  }

  /** Follows gifts from this drive until no circle can be reached from it. */
  private void walk(UUID start) {
    List<UUID> path = new ArrayList<>(List.of(start));
    while (!path.isEmpty()) {
      NavigableMap<UUID, Deque<Integer>> gets = of(path.getLast());
      if (gets.isEmpty()) {
        UUID end = path.removeLast();
        if (!path.isEmpty()) {
          of(path.getLast()).remove(end);
        }
        continue;
      }
      UUID next = gets.firstKey();
      int began = path.indexOf(next);
      if (began < 0) {
        path.add(next);
      } else {
        leaveOut(path.subList(began, path.size()));
        path.subList(began + 1, path.size()).clear();
      }
    }
  }

  /** Removes the circle as many times as it exists. */
  private void leaveOut(List<UUID> circle) {
    int times = Integer.MAX_VALUE;
    for (int i = 0; i < circle.size(); i++) {
      times = Math.min(times, groups(circle, i).size());
    }
    for (int i = 0; i < circle.size(); i++) {
      Deque<Integer> groups = groups(circle, i);
      for (int time = 0; time < times; time++) {
        circular.add(groups.remove());
      }
      if (groups.isEmpty()) {
        of(circle.get(i)).remove(circle.get((i + 1) % circle.size()));
      }
    }
  }

  private Deque<Integer> groups(List<UUID> circle, int giver) {
    UUID gets = circle.get((giver + 1) % circle.size());
    return requireNonNull(of(circle.get(giver)).get(gets));
  }

  private NavigableMap<UUID, Deque<Integer>> of(UUID giver) {
    return gifts.computeIfAbsent(giver, drive -> new TreeMap<>());
  }
}
