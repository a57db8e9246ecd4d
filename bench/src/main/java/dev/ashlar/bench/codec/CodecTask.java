package dev.ashlar.bench.codec;

import com.fasterxml.jackson.annotation.JsonValue;
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
}
