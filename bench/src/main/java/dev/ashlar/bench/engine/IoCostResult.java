package dev.ashlar.bench.engine;

import java.io.PrintStream;
import java.util.List;

/** The table of what operations cost the drives. */
record IoCostResult(String machine, List<Row> rows) {

  /**
   * @param mode fast or classic
   * @param costs by size
   */
  record Row(String profile, String operation, String mode, List<Cost> costs) {
    private String line() {
      StringBuilder line = new StringBuilder("| ");
      line.append(String.join(" | ", profile, operation, mode));
      for (Cost cost : costs) {
        line.append(
            " | %d+%d · %d+%d"
                .formatted(
                    cost.reads(), cost.writes(), cost.readBytes() >> 10, cost.writeBytes() >> 10));
      }
      return line.append(" |").toString();
    }
  }

  /**
   * Of one operation.
   *
   * @param bytes that it reads or writes of the object
   */
  record Cost(int bytes, long reads, long writes, long readBytes, long writeBytes) {}

  void print(PrintStream out) {
    out.println(machine);
    out.println("Drive reads + writes per operation · KiB read + written.");
    out.println();
    out.println("| profile | operation | | 4 KiB | 16 KiB | 32 KiB | 64 KiB | k · 16 KiB |");
    out.println("|---|---|---|--:|--:|--:|--:|--:|");
    rows.forEach(row -> out.println(row.line()));
  }
}
