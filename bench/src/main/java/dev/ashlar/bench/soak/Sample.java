package dev.ashlar.bench.soak;

import dev.ashlar.bench.process.ManagementPage;
import dev.ashlar.bench.process.Proc;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The server at one moment. NaN where it does not tell.
 *
 * @param seconds since the load began
 * @param heapMebibytes used, garbage included
 * @param cpuMillis since its process began
 * @param requests answered since its process began
 */
public record Sample(
    double seconds,
    double residentMebibytes,
    double heapMebibytes,
    double directMebibytes,
    double threads,
    double fileHandles,
    double cpuMillis,
    double requests) {
  private static final double MEBIBYTE = 1 << 20;

  /**
   * @param page absent when the management port is not known
   */
  static Sample now(double seconds, long pid, @Nullable ManagementPage page)
      throws IOException, InterruptedException {
    ManagementPage.Metrics read = page == null ? null : page.metrics();
    ManagementPage.Metrics metrics = read == null ? new ManagementPage.Metrics("") : read;
    return new Sample(
        seconds,
        Proc.rssBytes(pid) / MEBIBYTE,
        metrics.sum("jvm_memory_used_bytes", "area=\"heap\"") / MEBIBYTE,
        metrics.sum("jvm_buffer_memory_used_bytes", "id=\"direct\"") / MEBIBYTE,
        Proc.threads(pid),
        Proc.fileHandles(pid),
        Proc.cpuMillis(pid),
        metrics.sum("ashlar_s3_requests_total", ""));
  }
}
