package dev.ashlar.bench.codec;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A row of the table before it is measured.
 *
 * @param size bytes of data that one iteration encodes, decodes or updates
 * @param losses which shards are lost, one after the other in turn; empty unless decoding
 */
record CodecTask(CodeShape shape, Workload workload, int size, int iterations, List<int[]> losses) {

  enum Workload {
    ENCODE,
    DECODE,
    /** A delta of every data shard in turn, added to all parity. */
    UPDATE;

    @JsonValue
    String title() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  static CodecTask encode(CodeShape shape, int size, int iterations) {
    return new CodecTask(shape, Workload.ENCODE, size, iterations, List.of());
  }

  static CodecTask update(CodeShape shape, int size, int iterations) {
    return new CodecTask(shape, Workload.UPDATE, size, iterations, List.of());
  }

  /** Of each iteration. */
  int erasures() {
    return losses.isEmpty() ? 0 : losses.getFirst().length;
  }

  /** A heading for it in a table of one profile. */
  String title() {
    return workload.title() + (workload == Workload.DECODE ? " " + erasures() : "");
  }

  /** Every combination of so many lost ones of all shards, each ascending. */
  static List<int[]> allLosses(int shards, int lost) {
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
  static List<int[]> someLosses(List<int[]> all, int max) {
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
