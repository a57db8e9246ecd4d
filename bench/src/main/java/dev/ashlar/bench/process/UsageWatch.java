package dev.ashlar.bench.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** Notes ten times a second what a server has used, we ourselves, and the machine around both. */
public final class UsageWatch implements AutoCloseable {
  private static final long PERIOD_MILLIS = 100;
  private static final double NANOS_PER_MILLI = 1e6;

  private final long pid;
  private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
  private final ReentrantLock lock = new ReentrantLock();
  private final List<Sample> samples = new ArrayList<>();

  /** What had been used at one instant since the processes began. */
  private record Sample(
      long nanos, double serverMillis, double ownMillis, double machineMillis, long residentBytes) {
    static Sample now(long pid) {
      try {
        return new Sample(
            System.nanoTime(),
            Proc.cpuMillis(pid),
            Proc.cpuMillis(ProcessHandle.current().pid()),
            Proc.machineCpuMillis(),
            Proc.rssBytes(pid));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** Between this and the next, in a straight line. */
    Sample towards(Sample next, long at) {
      double share = Math.clamp((double) (at - nanos) / Math.max(1, next.nanos - nanos), 0, 1);
      return new Sample(
          at,
          serverMillis + share * (next.serverMillis - serverMillis),
          ownMillis + share * (next.ownMillis - ownMillis),
          machineMillis + share * (next.machineMillis - machineMillis),
          next.residentBytes);
    }
  }

  /**
   * What was used in a span.
   *
   * @param otherCpuMillis of the machine, neither the server's nor ours
   */
  public record Use(
      double serverCpuMillis,
      double ownCpuMillis,
      double otherCpuMillis,
      long residentBytesMean,
      long residentBytesMax) {}

  /** Watches from now on. */
  public UsageWatch(long pid) {
    this.pid = pid;
    sample();
    var unused =
        timer.scheduleAtFixedRate(
            this::sample, PERIOD_MILLIS, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void sample() {
    Sample now = Sample.now(pid);
    lock.lock();
    try {
      samples.add(now);
    } finally {
      lock.unlock();
    }
  }

  /**
   * @param fromNanos by {@link System#nanoTime}, as the end; both are past
   */
  public Use between(long fromNanos, long endNanos) {
    sample();
    lock.lock();
    try {
      Sample from = at(fromNanos);
      Sample end = at(endNanos);
      double server = end.serverMillis - from.serverMillis;
      double own = end.ownMillis - from.ownMillis;
      List<Sample> within =
          samples.stream()
              .filter(each -> each.nanos - fromNanos >= 0 && each.nanos - endNanos <= 0)
              .toList();
      return new Use(
          server,
          own,
          Math.max(0, end.machineMillis - from.machineMillis - server - own),
          (long) within.stream().mapToLong(Sample::residentBytes).average().orElse(0),
          within.stream().mapToLong(Sample::residentBytes).max().orElse(0));
    } finally {
      lock.unlock();
    }
  }

  /** Waits until the server takes no more than a tenth of a processor, at most so long. */
  public void awaitQuiet(double secondsMax) throws InterruptedException {
    long deadline = System.nanoTime() + (long) (secondsMax * 1e9);
    Sample before = Sample.now(pid);
    while (System.nanoTime() - deadline < 0) {
      Thread.sleep(2 * PERIOD_MILLIS);
      Sample now = Sample.now(pid);
      double spanMillis = (now.nanos - before.nanos) / NANOS_PER_MILLI;
      if (now.serverMillis - before.serverMillis < spanMillis / 10) {
        return;
      }
      before = now;
    }
  }

  private Sample at(long nanos) {
    Sample before = samples.getFirst();
    for (Sample after : samples) {
      if (after.nanos - nanos > 0) {
        return before.towards(after, nanos);
      }
      before = after;
    }
    return before;
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
