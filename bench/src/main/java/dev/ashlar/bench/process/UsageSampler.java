package dev.ashlar.bench.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Notes ten times a second what a server, and the machine around it, has used. */
public final class UsageSampler implements AutoCloseable {
  private static final long PERIOD_MILLIS = 100;

  /** Of one processor. */
  private static final double IDLE_CPU_SHARE = 0.05;

  private final @Nullable ProcessHandle server;
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition sampled = lock.newCondition();
  private final List<Usage> samples = new ArrayList<>();
  private @Nullable ProcessHandle generator;
  private double pastGeneratorsCpuMillis;
  private double generatorCpuMillis;

  /**
   * Samples from now on.
   *
   * @param server null: what it uses is not known
   */
  public UsageSampler(@Nullable ProcessHandle server) {
    this.server = server;
    sample();
    var unused =
        timer.scheduleAtFixedRate(
            this::sample, PERIOD_MILLIS, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** From now on this process makes the load, beside our own, which is never charged. */
  public void watchGenerator(ProcessHandle process) {
    lock.lock();
    try {
      pastGeneratorsCpuMillis += generatorCpuMillis;
      generatorCpuMillis = 0;
      generator = process;
    } finally {
      lock.unlock();
    }
  }

  /** All until this moment. */
  public UsageSeries series() {
    sample();
    lock.lock();
    try {
      return new UsageSeries(List.copyOf(samples));
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until the server takes next to nothing of a processor, or long enough; not at all when
   * nobody sees whether it does.
   *
   * @param span over which it has to be so
   */
  public void awaitIdle(Duration span, Duration longest) throws InterruptedException {
    if (server == null) {
      return;
    }
    long begin = System.nanoTime();
    lock.lockInterruptibly();
    try {
      while (isTooEarly(System.nanoTime() - begin, span, longest)) {
        var unused = sampled.await(span.toMillis(), TimeUnit.MILLISECONDS);
      }
    } finally {
      lock.unlock();
    }
  }

  private boolean isTooEarly(long waitedNanos, Duration span, Duration longest) {
    boolean isSeen = waitedNanos >= span.toNanos();
    return !isSeen || (waitedNanos < longest.toNanos() && isBusy(span));
  }

  private boolean isBusy(Duration span) {
    UsageSeries all = series();
    Usage now = all.last();
    double millis = now.serverCpuMillis() - all.at(now.at().minus(span)).serverCpuMillis();
    return millis > IDLE_CPU_SHARE * span.toMillis();
  }

  private void sample() {
    lock.lock();
    try {
      samples.add(server == null ? unknown() : known(server.pid()));
      sampled.signalAll();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      lock.unlock();
    }
  }

  private static Usage unknown() {
    return new Usage(Instant.now(), Double.NaN, Double.NaN, Double.NaN);
  }

  private Usage known(long pid) throws IOException {
    if (generator != null) {
      // A process that is gone reads as zero; what it used before still counts.
      generatorCpuMillis = Math.max(generatorCpuMillis, Proc.cpuMillis(generator.pid()));
    }
    double ours =
        Proc.cpuMillis(ProcessHandle.current().pid())
            + generatorCpuMillis
            + pastGeneratorsCpuMillis;
    return new Usage(
        Instant.now(), Proc.cpuMillis(pid), Proc.machineCpuMillis() - ours, Proc.rssBytes(pid));
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
