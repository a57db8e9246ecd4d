package dev.ashlar.bench.codec;

import java.io.PrintStream;
import java.util.ArrayList;
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
record CodecResult(String machine, int passes, List<CodecRow> rows, List<Ratio> ratios) {
  private static final String REFERENCE = "jerasure";

  record Ratio(
      String plugin, int k, int m, CodecTask.Workload workload, int erasures, double times) {}

  static CodecResult of(String machine, int passes, List<CodecRow> rows) {
    List<Ratio> ratios = new ArrayList<>();
    for (CodecRow row : rows) {
      if (row.plugin().equals(REFERENCE) || row.isIdle()) {
        continue;
      }
      reference(rows, row)
          .ifPresent(
              other ->
                  ratios.add(
                      new Ratio(
                          row.plugin(),
                          row.k(),
                          row.m(),
                          row.workload(),
                          row.erasures(),
                          other.seconds() / row.seconds())));
    }
    return new CodecResult(machine, passes, rows, ratios);
  }

  private static Optional<CodecRow> reference(List<CodecRow> rows, CodecRow row) {
    return rows.stream()
        .filter(other -> other.plugin().equals(REFERENCE) && isSameTask(other, row))
        .findFirst();
  }

  private static boolean isSameTask(CodecRow one, CodecRow other) {
    return one.k() == other.k()
        && one.m() == other.m()
        && one.workload() == other.workload()
        && one.erasures() == other.erasures();
  }

  void print(PrintStream out) {
    out.println(CodecRow.HEADER);
    rows.forEach(row -> out.println(row.line()));
    out.println();
    printRates(out);
    printPadding(out);
    List<CodecRow> unsteady = rows.stream().filter(CodecRow::isUnsteady).toList();
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
    List<CodecRow> shown = rows.stream().filter(row -> !row.isIdle()).toList();
    Set<String> columns =
        shown.stream()
            .sorted(Comparator.comparing(CodecRow::workload).thenComparing(CodecRow::erasures))
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
    for (CodecRow row : rows) {
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

  private String ratio(CodecRow row) {
    return ratios.stream()
        .filter(
            ratio ->
                ratio.plugin().equals(row.plugin())
                    && ratio.k() == row.k()
                    && ratio.m() == row.m()
                    && ratio.workload() == row.workload()
                    && ratio.erasures() == row.erasures())
        .map(ratio -> String.format(Locale.ROOT, " (%.1f ×)", ratio.times()))
        .findFirst()
        .orElse("");
  }

  private static String line(CodecRow row) {
    return row.k() + "+" + row.m() + " " + row.plugin();
  }

  private static String column(CodecRow row) {
    String workload = row.workload().title();
    return row.workload() == CodecTask.Workload.DECODE ? workload + " " + row.erasures() : workload;
  }
}
