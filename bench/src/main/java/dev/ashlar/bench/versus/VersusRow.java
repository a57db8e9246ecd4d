package dev.ashlar.bench.versus;

import dev.ashlar.bench.Median;
import java.util.List;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * One work on one server: medians over the rounds.
 *
 * @param cpuMillis of the server per operation; null where it is not known, as what follows
 * @param machineCpuMillis of the whole machine without the load generator, per operation
 * @param failures of all rounds together
 * @param ratios to the reference; null for the reference itself and where it has no row
 */
record VersusRow(
    String work,
    String server,
    int rounds,
    double operationsPerSecond,
    double p50Millis,
    double p99Millis,
    @Nullable Double cpuMillis,
    @Nullable Double machineCpuMillis,
    @Nullable Double rssMebibytes,
    long failures,
    @Nullable Ratios ratios) {

  /** This server's figure divided by the reference's. */
  record Ratios(
      double operationsPerSecond,
      double p50Millis,
      double p99Millis,
      @Nullable Double cpuMillis,
      @Nullable Double machineCpuMillis) {}

  static VersusRow of(
      Work work, String server, List<Measurement> rounds, @Nullable VersusRow reference) {
    VersusRow row =
        new VersusRow(
            work.title(),
            server,
            rounds.size(),
            Median.of(rounds, Measurement::operationsPerSecond),
            Median.of(rounds, Measurement::p50Millis),
            Median.of(rounds, Measurement::p99Millis),
            known(rounds, Measurement::cpuMillis),
            known(rounds, Measurement::machineCpuMillis),
            known(rounds, Measurement::rssMebibytes),
            (long) rounds.stream().mapToDouble(Measurement::failures).sum(),
            null);
    return reference == null ? row : row.beside(reference);
  }

  private static @Nullable Double known(
      List<Measurement> rounds, ToDoubleFunction<Measurement> figure) {
    double median = Median.of(rounds, figure);
    return Double.isNaN(median) ? null : median;
  }

  private VersusRow beside(VersusRow reference) {
    return new VersusRow(
        work,
        server,
        rounds,
        operationsPerSecond,
        p50Millis,
        p99Millis,
        cpuMillis,
        machineCpuMillis,
        rssMebibytes,
        failures,
        new Ratios(
            operationsPerSecond / reference.operationsPerSecond,
            p50Millis / reference.p50Millis,
            p99Millis / reference.p99Millis,
            ratio(cpuMillis, reference.cpuMillis),
            ratio(machineCpuMillis, reference.machineCpuMillis)));
  }

  private static @Nullable Double ratio(@Nullable Double figure, @Nullable Double reference) {
    return figure == null || reference == null ? null : (Double) (figure / reference);
  }
}
