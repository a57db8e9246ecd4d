package dev.ashlar.bench.load;

import dev.ashlar.bench.result.Spread;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * What one run came to.
 *
 * @param started when the measured time began, ISO 8601
 * @param seconds measured
 * @param total over all kinds
 * @param kinds by their titles
 * @param unsent requests of an open loop that the server left no connection for until the end;
 *     percentiles hold how long they had waited by then, and total no operations for them
 * @param answered by S3's operations: all answers of the run, warming up and errors too
 * @param server what it used; absent when its process is not known
 */
public record LoadResult(
    String started,
    Load load,
    long objects,
    long objectBytes,
    double seconds,
    Figures total,
    Map<String, Figures> kinds,
    long unsent,
    Map<String, Long> answered,
    @Nullable Use server,
    Client client) {

  /** What the server used, whose process is known. */
  public Use used() {
    return Objects.requireNonNull(server);
  }

  public static Spread spread(List<LoadResult> passes, ToDoubleFunction<LoadResult> figure) {
    return Spread.of(passes.stream().mapToDouble(figure).toArray());
  }

  /** Of one kind of operation, or of all. */
  public record Figures(
      long operations,
      long bytes,
      double operationsPerSecond,
      double mebibytesPerSecond,
      Latency latency,
      Map<String, Long> errors) {
    public long failures() {
      return errors.values().stream().mapToLong(times -> times).sum();
    }
  }

  /** In milliseconds. */
  public record Latency(double mean, double p50, double p90, double p99, double p999, double max) {}

  /**
   * @param cores processors that it kept busy
   * @param otherCpuMillisPerOperation what the machine spent on neither server nor generator
   */
  public record Use(
      double cpuMillisPerOperation,
      double cores,
      double otherCpuMillisPerOperation,
      double residentMebibytesMean,
      double residentMebibytesMax) {}

  /**
   * The generator itself.
   *
   * @param busiestThread share of the time that its busiest thread was at work: near 1 the
   *     generator is what limits
   */
  public record Client(int threads, double busiestThread) {}
}
