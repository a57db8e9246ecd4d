package dev.ashlar.blob.context;

import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Decides which reads are late, and how many extra reads may replace them. Each read adds a part of
 * a read to the budget. The budget starts empty and is small, so hedging adds little load on an
 * overloaded machine, where every read is late. Its thread also sweeps the deadlines of waits.
 */
public class Hedging implements AutoCloseable {
  private static final int PER_READ = 100;
  private static final long SAVED_MAX = 100L * PER_READ;

  /** Delay, at most, until a late read is noticed. */
  private static final Duration TICK = Duration.ofMillis(5);

  /** The same after a time without reads, and while hedging is off. */
  private static final Duration IDLE_TICK = Duration.ofMillis(100);

  private static final int TICKS_TO_IDLE = 200;

  private final HedgeConfig config;
  private final LongSupplier nanoTime;
  private final Map<UUID, DriveLatency> drives = new ConcurrentHashMap<>();
  private final AtomicLong saved = new AtomicLong();
  private final DeadlineSweeper watch = new DeadlineSweeper();
  private @Nullable Thread watcher;
  private volatile boolean isWatching;

  public Hedging(HedgeConfig config, LongSupplier nanoTime) {
    this.config = config;
    this.nanoTime = nanoTime;
  }

  /** Sweeps deadlines until it is closed. */
  public void start() {
    isWatching = true;
    watcher = Thread.ofPlatform().name("late-answers").daemon().start(this::run);
  }

  /** Whether the thread that sweeps the {@link #watch} is running. */
  boolean isWatching() {
    return isWatching;
  }

  /**
   * Parks until the thread is woken; may return early.
   *
   * @param place in the {@link #watch}, whose sweep wakes this thread in time
   * @param leftNanos after which the thread wakes if there is no such sweep
   */
  public void park(int place, long leftNanos) throws InterruptedException {
    if (place != DeadlineSweeper.NO_PLACE && isWatching) {
      LockSupport.park();
    } else {
      LockSupport.parkNanos(leftNanos);
    }
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
  }

  public boolean isOn() {
    return config.budgetPercent() > 0;
  }

  public long nanoTime() {
    return nanoTime.getAsLong();
  }

  /** The latencies of this drive's recent reads. */
  public DriveLatency drive(UUID id) {
    DriveLatency known = drives.get(id);
    return known != null
        ? known
        : drives.computeIfAbsent(id, any -> new DriveLatency(config.lateMin().toNanos()));
  }

  /** Adds to the budget for a read that is needed. */
  public void earn() {
    if (isOn() && saved.get() < SAVED_MAX) {
      saved.addAndGet(config.budgetPercent());
    }
  }

  /** Takes all of these reads from the budget, or none. */
  public boolean trySpend(int reads) {
    long cost = (long) reads * PER_READ;
    for (long has = saved.get(); has >= cost; has = saved.get()) {
      if (saved.compareAndSet(has, has - cost)) {
        return true;
      }
    }
    return false;
  }

  public DeadlineSweeper watch() {
    return watch;
  }

  /** Wakes overdue threads; returns whether any thread has waited since the last tick. */
  public boolean tick() {
    return watch.wakeDue();
  }

  private void run() {
    try {
      for (int quietTicks = 0; ; quietTicks++) {
        if (tick()) {
          quietTicks = 0;
        }
        Thread.sleep(isOn() && quietTicks < TICKS_TO_IDLE ? TICK : IDLE_TICK);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      endWatch();
    }
  }

  /** From now on waiting threads check their deadlines themselves. */
  private void endWatch() {
    isWatching = false;
    watch.wakeAll();
  }

  @Override
  public void close() {
    Thread running = watcher;
    if (running != null) {
      running.interrupt();
      endWatch();
    }
  }

  /**
   * Limits of hedged reads.
   *
   * @param budgetPercent extra reads in percent of all other reads, at most; 0 to 100, 0 is off
   * @param lateMin no read is late before, however fast its drive usually is
   */
  public record HedgeConfig(int budgetPercent, Duration lateMin) {
    public static final HedgeConfig OFF = new HedgeConfig(0, Duration.ZERO);

    public HedgeConfig {
      if (budgetPercent < 0 || budgetPercent > 100) {
        throw new IllegalArgumentException(
            "hedging budget must be 0 to 100 percent: " + budgetPercent);
      }
    }

    /** Reads are late after 10 ms at the earliest: schedulers and healthy drives may take that. */
    public static HedgeConfig of(int budgetPercent) {
      return new HedgeConfig(budgetPercent, Duration.ofMillis(10));
    }
  }
}
