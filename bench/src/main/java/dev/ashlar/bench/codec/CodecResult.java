package dev.ashlar.bench.codec;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.ashlar.bench.result.Spread;
import java.io.PrintStream;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * All that was measured.
 *
 * @param ratios how many times as fast as jerasure, where that was measured too
 */
record CodecResult(String machine, int passes, List<Row> rows, List<Ratio> ratios) {
  private static final String REFERENCE = "jerasure";

  /**
   * A row of the table.
   *
   * @param seconds of CPU time that all iterations took, in the median pass
   * @param kib of data: iterations times size
   * @param shardBytes of each of the k shards that hold the size, with what the codec rounds it up
   *     by
   * @param spread between the passes, as a share of the seconds
   */
  record Row(
      double seconds,
      @JsonProperty("KB") long kib,
      String plugin,
      int k,
      int m,
      CodecTask.Workload workload,
      int iterations,
      int size,
      int erasures,
      int shardBytes,
      double gigabytesPerSecond,
      double spread) {
    private static final String FORMAT = "%12s %10s %-9s %3s %3s %-7s %7s %9s %5s";

    /** Passes this far apart say little. */
    private static final double SPREAD_MAX = 0.25;

    static final String HEADER =
        FORMAT.formatted("seconds", "KB", "plugin", "k", "m", "work.", "iter.", "size", "eras.");

    static Row of(CodecPlugin plugin, CodecTask task, List<Double> seconds) {
      int shardBytes = plugin.shardBytes(task.shape(), task.size());
      return of(plugin.name(), task, shardBytes, seconds);
    }

    static Row of(String plugin, CodecTask task, int shardBytes, List<Double> seconds) {
      double median = Spread.median(seconds);
      double least = seconds.stream().mapToDouble(Double::doubleValue).min().orElseThrow();
      double most = seconds.stream().mapToDouble(Double::doubleValue).max().orElseThrow();
      long bytes = (long) task.iterations() * task.size();
      return new Row(
          median,
          bytes >> 10,
          plugin,
          task.shape().dataShards(),
          task.shape().parityShards(),
          task.workload(),
          task.iterations(),
          task.size(),
          task.erasures(),
          shardBytes,
          bytes / median / 1e9,
          (most - least) / median);
    }

    /** Decoding what is not lost is next to nothing, and its speed no speed. */
    @JsonIgnore
    boolean isIdle() {
      return workload == CodecTask.Workload.DECODE && erasures == 0;
    }

    @JsonIgnore
    boolean isUnsteady() {
      return spread > SPREAD_MAX && !isIdle();
    }

    String line() {
      return FORMAT.formatted(
          String.format(Locale.ROOT, "%.6f", seconds),
          kib,
          plugin,
          k,
          m,
          workload.title(),
          iterations,
          size,
          erasures);
    }
  }

  record Ratio(
      String plugin, int k, int m, CodecTask.Workload workload, int erasures, double times) {}

  static CodecResult of(String machine, int passes, List<Row> rows) {
    List<Ratio> ratios = rows.stream().flatMap(row -> ratio(rows, row).stream()).toList();
    return new CodecResult(machine, passes, rows, ratios);
  }

  /** Of a row that is not of the reference itself. */
  private static Optional<Ratio> ratio(List<Row> rows, Row row) {
    boolean isCompared = !row.plugin().equals(REFERENCE) && !row.isIdle();
    return rows.stream()
        .filter(other -> isCompared && other.plugin().equals(REFERENCE) && isSameTask(other, row))
        .findFirst()
        .map(
            other ->
                new Ratio(
                    row.plugin(),
                    row.k(),
                    row.m(),
                    row.workload(),
                    row.erasures(),
                    other.seconds() / row.seconds()));
  }

  private static boolean isSameTask(Row one, Row other) {
    return one.k() == other.k()
        && one.m() == other.m()
        && one.workload() == other.workload()
        && one.erasures() == other.erasures();
  }

  void print(PrintStream out) {
    out.println(Row.HEADER);
    rows.forEach(row -> out.println(row.line()));
    out.println();
    printRates(out);
    printPadding(out);
    List<Row> unsteady = rows.stream().filter(Row::isUnsteady).toList();
    if (!unsteady.isEmpty()) {
      out.println();
      out.println("Unsteady, the passes lie this far apart:");
      unsteady.forEach(
          row ->
              out.printf(
                  Locale.ROOT,
                  "  %s %d+%d %s: %.0f %%%n",
                  row.plugin(),
                  row.k(),
                  row.m(),
                  column(row),
                  100 * row.spread()));
    }
  }

  /** GB/s, and in parentheses the ratio to jerasure. */
  private void printRates(PrintStream out) {
    List<Row> shown = rows.stream().filter(row -> !row.isIdle()).toList();
    Set<String> columns =
        shown.stream()
            .sorted(Comparator.comparing(Row::workload).thenComparing(Row::erasures))
            .map(CodecResult::column)
            .collect(Collectors.toCollection(LinkedHashSet::new));
    Set<String> lines =
        shown.stream().map(CodecResult::line).collect(Collectors.toCollection(LinkedHashSet::new));
    out.println(
        "| GB/s"
            + (ratios.isEmpty() ? "" : " (× jerasure)")
            + " | "
            + String.join(" | ", columns)
            + " |");
    out.println("|---|" + "--:|".repeat(columns.size()));
    for (String line : lines) {
      StringBuilder cells = new StringBuilder("| ").append(line);
      for (String column : columns) {
        cells.append(" | ").append(cell(line, column));
      }
      out.println(cells.append(" |"));
    }
  }

  /** What a codec does more than it is asked to is part of its time. */
  private void printPadding(PrintStream out) {
    Set<String> lines = new LinkedHashSet<>();
    for (Row row : rows) {
      double more = (double) row.shardBytes() * row.k() / row.size() - 1;
      if (more > 0.01) {
        lines.add(
            String.format(
                Locale.ROOT,
                "%s works on shards of %d bytes, %.1f %% more than the data.",
                line(row),
                row.shardBytes(),
                100 * more));
      }
    }
    if (!lines.isEmpty()) {
      out.println();
      lines.forEach(out::println);
    }
  }

  private String cell(String line, String column) {
    return rows.stream()
        .filter(row -> line(row).equals(line) && column(row).equals(column))
        .findFirst()
        .map(row -> String.format(Locale.ROOT, "%.1f", row.gigabytesPerSecond()) + ratio(row))
        .orElse("");
  }

  private String ratio(Row row) {
    return ratio(rows, row)
        .map(ratio -> String.format(Locale.ROOT, " (%.1f ×)", ratio.times()))
        .orElse("");
  }

  private static String line(Row row) {
    return row.k() + "+" + row.m() + " " + row.plugin();
  }

  private static String column(Row row) {
    String workload = row.workload().title();
    return row.workload() == CodecTask.Workload.DECODE ? workload + " " + row.erasures() : workload;
  }
}
