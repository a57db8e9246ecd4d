package dev.ashlar.bench.curves;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The figures behind the charts, and where each response curve bends. */
final class CurvesTable {
  static final List<String> HEAD =
      List.of(
          "profile",
          "sweep",
          "step",
          "op/s",
          "± %",
          "MiB/s",
          "mean ms",
          "p50",
          "p99",
          "server CPU ms/op",
          "resident MiB",
          "failed");

  static final List<String> RESPONSE_HEAD =
      List.of("profile", "knee: op/s at ms", "70 % planning point", "highest op/s");

  private final Curves curves;

  CurvesTable(Curves curves) {
    this.curves = curves;
  }

  List<List<String>> rows() {
    List<List<String>> rows = new ArrayList<>();
    for (Curves.Point point : curves.points()) {
      rows.add(
          List.of(
              CurvesCharts.title(point.profile()),
              point.sweep().title(),
              point.label(),
              figure(point.operationsPerSecond().mean()),
              figure(100 * point.operationsPerSecond().deviation()),
              figure(point.mebibytesPerSecond().mean()),
              figure(point.meanMillis().mean()),
              figure(point.p50Millis().mean()),
              figure(point.p99Millis().mean()),
              known(point.cpuMillisPerOperation(), cpu -> String.format(Locale.ROOT, "%.3f", cpu)),
              known(point.residentMebibytes(), CurvesTable::figure),
              "" + point.failures()));
    }
    return rows;
  }

  /** Where each response curve bends. */
  List<List<String>> responses() {
    List<List<String>> rows = new ArrayList<>();
    for (String profile : curves.profiles()) {
      ResponseCurve curve = ResponseCurve.of(curves.of(profile, Sweep.RESPONSE));
      rows.add(
          List.of(
              CurvesCharts.title(profile),
              place(curve.knee()),
              place(curve.planned()),
              figure(curve.highest())));
    }
    return rows;
  }

  void print(PrintStream out) {
    table(HEAD, 3, rows(), out);
    table(RESPONSE_HEAD, 1, responses(), out);
  }

  private static void table(
      List<String> head, int texts, List<List<String>> rows, PrintStream out) {
    out.println("| " + String.join(" | ", head) + " |");
    out.println("|" + "---|".repeat(texts) + "--:|".repeat(head.size() - texts));
    rows.forEach(row -> out.println("| " + String.join(" | ", row) + " |"));
    out.println();
  }

  private static String place(ResponseCurve.Place place) {
    return figure(place.operationsPerSecond()) + " at " + figure(place.millis());
  }

  private static String known(@Nullable Double value, Function<Double, String> text) {
    return value == null ? "–" : text.apply(value);
  }

  private static String figure(double value) {
    return String.format(Locale.ROOT, value >= 100 ? "%.0f" : "%.2f", value);
  }
}
