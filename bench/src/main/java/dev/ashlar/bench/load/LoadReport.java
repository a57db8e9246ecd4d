package dev.ashlar.bench.load;

import dev.ashlar.bench.result.Spread;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The passes of one load and what they come to.
 *
 * @param counters what the server has counted meanwhile; absent when its management port is not
 *     known
 */
public record LoadReport(
    String machine,
    String server,
    List<LoadResult> passes,
    Spread operationsPerSecond,
    Spread p50Millis,
    Spread p99Millis,
    @Nullable Counters counters) {
  static final String COLUMNS =
      " | op/s | MiB/s | mean ms | p50 | p90 | p99 | p99.9 | max | failed |";
  static final String ALIGNMENT = "|--:|--:|--:|--:|--:|--:|--:|--:|--:|";

  private static final double BUSY_MAX = 0.9;

  /**
   * Answers by S3's operations.
   *
   * @param generator those that we received
   * @param server those that the server says it gave
   * @param refused what the server turned away under overload: before it knew the operation, or
   *     when it had counted it already
   */
  public record Counters(Map<String, Long> generator, Map<String, Long> server, long refused) {
    public boolean agree() {
      if (refused == 0) {
        return generator.equals(server);
      }
      long missing = sum(generator) - sum(server);
      return generator.keySet().containsAll(server.keySet()) && 0 <= missing && missing <= refused;
    }

    private static long sum(Map<String, Long> counts) {
      return counts.values().stream().mapToLong(count -> count).sum();
    }

    void print(PrintStream out) {
      if (agree()) {
        out.printf(
            "The server counts the same requests, warm-up included: %s%s%n",
            server, refused > 0 ? ", and refused " + refused : "");
      } else {
        out.println(
            "THE SERVER COUNTS OTHERWISE: "
                + server
                + " and "
                + refused
                + " refused, the generator "
                + generator
                + " (someone else may use it).");
      }
    }
  }

  static LoadReport of(
      String machine, String server, List<LoadResult> passes, @Nullable Counters counters) {
    return new LoadReport(
        machine,
        server,
        passes,
        LoadResult.spread(passes, pass -> pass.total().operationsPerSecond()),
        latency(passes, LoadResult.Latency::p50),
        latency(passes, LoadResult.Latency::p99),
        counters);
  }

  LoadReport withCounters(@Nullable Counters other) {
    return new LoadReport(
        machine, server, passes, operationsPerSecond, p50Millis, p99Millis, other);
  }

  /** Whether there is anything to be believed. */
  boolean hasSucceeded() {
    return operationsPerSecond.mean() > 0;
  }

  /** Of the passes that have any: where all failed there is none. */
  private static Spread latency(
      List<LoadResult> passes, ToDoubleFunction<LoadResult.Latency> figure) {
    return LoadResult.spread(
        passes.stream().filter(pass -> pass.total().latency().max() > 0).toList(),
        pass -> figure.applyAsDouble(pass.total().latency()));
  }

  /** The table for people. */
  void print(PrintStream out) {
    describe(out);
    out.println();
    out.println("|" + COLUMNS);
    out.println("|---" + ALIGNMENT);
    rows("", out);
    out.println();
    notes(out);
    if (counters != null) {
      counters.print(out);
    }
  }

  /** The machine and the load. */
  void describe(PrintStream out) {
    LoadResult first = passes.getFirst();
    Load load = first.load();
    out.println(machine);
    out.printf(
        Locale.ROOT,
        "%s. %s of %,d bytes, %s, in %d objects of %,d bytes; %d clients × depth %d, %s.%n",
        server,
        load.mix(),
        load.blockBytes(),
        load.isRandom() ? "random" : "sequential",
        first.objects(),
        first.objectBytes(),
        load.clients(),
        load.depth(),
        load.isOpen()
            ? String.format(Locale.ROOT, "%.0f op/s whatever comes", load.rate())
            : "the next when the last has ended");
    out.printf(
        Locale.ROOT,
        "Means of %d passes of %.1f s, seed %d.%n",
        passes.size(),
        first.seconds(),
        load.seed());
  }

  /**
   * A row for each kind of operation, and one for all.
   *
   * @param before cells, as {@code "| COLD "}; or the empty string
   */
  void rows(String before, PrintStream out) {
    for (String kind : kinds()) {
      row(out, before + "| " + kind, pass -> pass.kinds().get(kind));
    }
    row(out, before + "| all", LoadResult::total);
  }

  private TreeSet<String> kinds() {
    TreeSet<String> kinds = new TreeSet<>();
    passes.forEach(pass -> kinds.addAll(pass.kinds().keySet()));
    return kinds;
  }

  /** Takes the figures of a pass. */
  private interface Part {
    LoadResult.@Nullable Figures of(LoadResult pass);
  }

  private void row(PrintStream out, String title, Part part) {
    out.printf(
        Locale.ROOT,
        "%s | %.1f | %.2f | %s | %s | %s | %s | %s | %s | %.0f |%n",
        title,
        sum(part, LoadResult.Figures::operationsPerSecond) / passes.size(),
        sum(part, LoadResult.Figures::mebibytesPerSecond) / passes.size(),
        mean(part, LoadResult.Latency::mean),
        mean(part, LoadResult.Latency::p50),
        mean(part, LoadResult.Latency::p90),
        mean(part, LoadResult.Latency::p99),
        mean(part, LoadResult.Latency::p999),
        mean(part, LoadResult.Latency::max),
        sum(part, LoadResult.Figures::failures));
  }

  private double sum(Part part, ToDoubleFunction<LoadResult.Figures> figure) {
    return passes.stream().map(part::of).filter(Objects::nonNull).mapToDouble(figure).sum();
  }

  /** Of the passes that have any. */
  private String mean(Part part, ToDoubleFunction<LoadResult.Latency> figure) {
    OptionalDouble mean =
        passes.stream()
            .map(part::of)
            .filter(Objects::nonNull)
            .map(LoadResult.Figures::latency)
            .filter(latency -> latency.max() > 0)
            .mapToDouble(figure)
            .average();
    return mean.isPresent() ? String.format(Locale.ROOT, "%.2f", mean.getAsDouble()) : "–";
  }

  /** What stands below the table. */
  void notes(PrintStream out) {
    out.println(operationsPerSecond.text("Operations/s"));
    out.println(p99Millis.text("p99 ms"));
    LoadResult.Use use = passes.getLast().server();
    if (use != null) {
      out.printf(
          Locale.ROOT,
          "Server: %.3f CPU ms per operation, %.2f processors busy; resident %.0f MiB.%n",
          average(pass -> pass.used().cpuMillisPerOperation()),
          average(pass -> pass.used().cores()),
          average(pass -> pass.used().residentMebibytesMax()));
    }
    double busiest = passes.stream().mapToDouble(p -> p.client().busiestThread()).max().orElse(0);
    out.printf(
        Locale.ROOT,
        "Generator: %d thread(s), the busiest %.0f %% of the time%s.%n",
        passes.getFirst().client().threads(),
        100 * busiest,
        busiest > BUSY_MAX ? ": IT IS THE LIMIT, give it more by --threads" : "");
    failures(out);
  }

  private double average(ToDoubleFunction<LoadResult> figure) {
    return passes.stream().mapToDouble(figure).average().orElse(0);
  }

  private void failures(PrintStream out) {
    Map<String, Long> errors = new TreeMap<>();
    long unsent = 0;
    for (LoadResult pass : passes) {
      unsent += pass.unsent();
      pass.total().errors().forEach((name, times) -> errors.merge(name, times, Long::sum));
    }
    errors.forEach((name, times) -> out.printf("Failed %,d times: %s.%n", times, name));
    if (unsent > 0) {
      out.printf(
          "The server did not keep up: %,d operations were not even sent in time. Percentiles hold"
              + " how long they had waited.%n",
          unsent);
    }
  }
}
