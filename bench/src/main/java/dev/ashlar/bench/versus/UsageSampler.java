package dev.ashlar.bench.versus;

import dev.ashlar.bench.process.Proc;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Notes ten times a second what a server, and the machine around it, has used. */
final class UsageSampler implements AutoCloseable {
  private static final long PERIOD_MILLIS = 100;

  private final @Nullable ProcessHandle server;
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final ReentrantLock lock = new ReentrantLock();
  private final List<Usage> samples = new ArrayList<>();
  private @Nullable ProcessHandle generator;
  private double pastGeneratorsCpuMillis;
  private double generatorCpuMillis;

  /**
   * @param server null: what it uses is not known
   */
  UsageSampler(@Nullable ProcessHandle server) {
    this.server = server;
    sample();
    var unused =
        timer.scheduleAtFixedRate(
            this::sample, PERIOD_MILLIS, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** From now on this process makes the load. */
  void watchGenerator(ProcessHandle process) {
    lock.lock();
    try {
      pastGeneratorsCpuMillis += generatorCpuMillis;
      generatorCpuMillis = 0;
      generator = process;
    } finally {
      lock.unlock();
    }
  }

  List<Usage> samples() {
    lock.lock();
    try {
      return List.copyOf(samples);
    } finally {
      lock.unlock();
    }
  }

  private void sample() {
    lock.lock();
    try {
      if (generator != null) {
        // A process that is gone reads as zero; what it used before still counts.
        generatorCpuMillis = Math.max(generatorCpuMillis, Proc.cpuMillis(generator));
      }
      double ours =
          Proc.cpuMillis(ProcessHandle.current().pid())
              + generatorCpuMillis
              + pastGeneratorsCpuMillis;
      samples.add(
          new Usage(
              Instant.now(),
              server == null ? Double.NaN : Proc.cpuMillis(server),
              server == null ? Double.NaN : Proc.machineCpuMillis() - ours,
              server == null ? Double.NaN : Proc.rssBytes(server)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
