package dev.ashlar.bench.codec;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.ashlar.bench.Median;
import java.util.List;
import java.util.Locale;

/**
 * A row of the table.
 *
 * @param seconds of CPU time that all iterations took, in the median pass
 * @param kib of data: iterations times size
 * @param shardBytes of each of the k shards that hold the size, with what the codec rounds it up by
 * @param spread between the passes, as a share of the seconds
 */
record CodecRow(
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

  static CodecRow of(CodecPlugin plugin, CodecTask task, List<Double> seconds) {
    int shardBytes = plugin.shardBytes(task.shape(), task.size());
    return of(plugin.name(), task, shardBytes, seconds);
  }

  static CodecRow of(String plugin, CodecTask task, int shardBytes, List<Double> seconds) {
    double median = Median.of(seconds);
    double least = seconds.stream().mapToDouble(Double::doubleValue).min().orElseThrow();
    double most = seconds.stream().mapToDouble(Double::doubleValue).max().orElseThrow();
    long bytes = (long) task.iterations() * task.size();
    return new CodecRow(
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
