package dev.ashlar.bench.codec;

import java.util.ArrayList;
import java.util.List;

/** Which shards are lost, ascending. */
final class Losses {
  private Losses() {}

  /** Every combination of so many of all shards. */
  static List<int[]> all(int shards, int lost) {
    List<int[]> all = new ArrayList<>();
    int[] next = new int[lost];
    for (int i = 0; i < lost; i++) {
      next[i] = i;
    }
    while (true) {
      all.add(next.clone());
      int last = lost - 1;
      while (last >= 0 && next[last] == shards - lost + last) {
        last--;
      }
      if (last < 0) {
        return all;
      }
      next[last]++;
      for (int i = last + 1; i < lost; i++) {
        next[i] = next[i - 1] + 1;
      }
    }
  }

  /** At most so many of them, evenly spread. */
  static List<int[]> some(List<int[]> all, int max) {
    if (all.size() <= max) {
      return all;
    }
    List<int[]> some = new ArrayList<>();
    for (int i = 0; i < max; i++) {
      some.add(all.get((int) ((long) i * all.size() / max)));
    }
    return some;
  }
}
