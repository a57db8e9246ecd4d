package dev.ashlar.bench.engine;

import dev.ashlar.bench.Median;
import dev.ashlar.bench.result.Spread;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * All of it.
 *
 * @param conditions how it was measured
 */
record ChangingResult(String machine, String conditions, List<Row> rows, List<Space> space) {

  /**
   * One work on one profile: medians over the passes.
   *
   * @param passes their operations per second
   * @param ratio by how much the first profile has more operations per second; null for itself
   * @param conflicts of all passes
   * @param undrained passes that left behind work which is missing in CPU and I/Os
   */
  record Row(
      String work,
      String profile,
      double operationsPerSecond,
      Spread passes,
      @Nullable Double ratio,
      double p50Millis,
      double p99Millis,
      double cpuMillis,
      double driveReads,
      double driveWrites,
      double driveIos,
      double conflicts,
      int undrained) {
    static Row of(Work work, String profile, List<Pass> passes, @Nullable Row first) {
      double rate = Median.of(passes, Pass::operationsPerSecond);
      return new Row(
          work.title(),
          profile,
          rate,
          Spread.of(passes.stream().mapToDouble(Pass::operationsPerSecond).toArray()),
          first == null ? null : (Double) (first.operationsPerSecond() / rate),
          Median.of(passes, Pass::p50Millis),
          Median.of(passes, Pass::p99Millis),
          Median.of(passes, Pass::cpuMillis),
          Median.of(passes, Pass::driveReads),
          Median.of(passes, Pass::driveWrites),
          Median.of(passes, Pass::driveIos),
          sum(passes, Pass::conflicts),
          (int) passes.stream().filter(pass -> !pass.isDrained()).count());
    }

    private static double sum(List<Pass> passes, ToDoubleFunction<Pass> figure) {
      return passes.stream().mapToDouble(figure).sum();
    }
  }

  /**
   * Bytes on drives per byte of the objects.
   *
   * @param after behind all work
   */
  record Space(String profile, double before, double after) {}

  void print(PrintStream out) {
    out.println(machine);
    out.println(conditions);
    out.println();
    out.println(
        "| work | profile | op/s | "
            + rows.getFirst().profile()
            + " does"
            + " | p50 ms | p99 ms | CPU ms/op | drive reads/op | drive writes/op | I/Os/op |"
            + " conflicts |");
    out.println("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    rows.forEach(row -> print(row, out));
    out.println();
    out.println("| profile | bytes on drives per byte | after all work |");
    out.println("|---|--:|--:|");
    for (Space each : space) {
      out.printf(
          Locale.ROOT, "| %s | %.3f | %.3f |%n", each.profile(), each.before(), each.after());
    }
    printAbnormal(out);
    printUndrained(out);
  }

  private static void print(Row row, PrintStream out) {
    Double ratio = row.ratio();
    out.printf(
        Locale.ROOT,
        "| %s | %s | %.0f | %s | %.2f | %.2f | %.3f | %.2f | %.2f | %.2f | %.0f |%n",
        row.work(),
        row.profile(),
        row.operationsPerSecond(),
        ratio == null ? "" : String.format(Locale.ROOT, "%.2f ×", ratio),
        row.p50Millis(),
        row.p99Millis(),
        row.cpuMillis(),
        row.driveReads(),
        row.driveWrites(),
        row.driveIos(),
        row.conflicts());
  }

  private void printAbnormal(PrintStream out) {
    List<Row> abnormal = rows.stream().filter(row -> row.passes().isAbnormal()).toList();
    if (!abnormal.isEmpty()) {
      out.println();
      abnormal.forEach(
          row -> out.println(row.passes().text(row.work() + ", " + row.profile() + ", op/s")));
    }
  }

  private void printUndrained(PrintStream out) {
    for (Row row : rows) {
      if (row.undrained() > 0) {
        out.printf(
            Locale.ROOT,
            "%n%s, %s: what %d passes put off was not done %d s later; it is missing in CPU and I/Os.%n",
            row.work(),
            row.profile(),
            row.undrained(),
            LocalEngine.DRAIN_MAX.toSeconds());
      }
    }
  }
}
