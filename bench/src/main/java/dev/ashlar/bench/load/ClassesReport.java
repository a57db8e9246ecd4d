package dev.ashlar.bench.load;

import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The same load on several storage classes of one store, in turn.
 *
 * @param classes by their names, in the order in which they were named
 * @param counters of all classes together; absent when the management port is not known
 */
record ClassesReport(
    String machine,
    String server,
    Map<String, LoadReport> classes,
    LoadReport.@Nullable Counters counters) {

  static ClassesReport of(
      String machine,
      String server,
      Map<String, List<LoadResult>> passes,
      LoadReport.@Nullable Counters counters) {
    Map<String, LoadReport> classes = new LinkedHashMap<>();
    passes.forEach(
        (name, results) -> classes.put(name, LoadReport.of(machine, server, results, null)));
    return new ClassesReport(machine, server, classes, counters);
  }

  /** Where no class was named: that of its one run. */
  LoadReport only() {
    return classes.values().iterator().next().withCounters(counters);
  }

  /** The table for people. */
  void print(PrintStream out) {
    classes.values().iterator().next().describe(out);
    out.println("The storage classes in turn, each in a bucket of its own.");
    out.println();
    out.println("| class |" + LoadReport.COLUMNS);
    out.println("|---|---" + LoadReport.ALIGNMENT);
    classes.forEach((name, report) -> report.rows("| " + name + " ", out));
    classes.forEach(
        (name, report) -> {
          out.println();
          out.println(name + ":");
          report.notes(out);
        });
    if (counters != null) {
      out.println();
      counters.print(out);
    }
  }
}
