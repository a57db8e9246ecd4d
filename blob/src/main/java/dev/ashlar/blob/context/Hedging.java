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
 * Knows which reads are late, and how many may be made to not wait for them: each read earns a part
 * of one. The account starts empty and is small, so an overloaded machine, on which everything is
 * late, reads hardly more for it. Its thread also looks after those who wait for drives that may
 * never answer.
 */
public class Hedging implements AutoCloseable {
  private static final int PER_READ = 100;
  private static final long SAVED_MAX = 100L * PER_READ;

  /** How long after it is late a read is noticed at most. */
  private static final Duration TICK = Duration.ofMillis(5);

  /** The same for the first read after a while without any, and for what is due if none counts. */
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

  /** Looks after waits until it is closed. */
  public void start() {
    isWatching = true;
    watcher = Thread.ofPlatform().name("late-answers").daemon().start(this::run);
  }

  /** Whether those who are in the {@link #watch} are woken in time. */
  boolean isWatching() {
    return isWatching;
  }

  /**
   * Parks until the thread is woken, or for no reason.
   *
   * @param place in the {@link #watch}, whose thread wakes this one in time
   * @param leftNanos after which it wakes where nobody looks after it
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

  /** What is known of this drive's reads. */
  public DriveLatency drive(UUID id) {
    DriveLatency known = drives.get(id);
    return known != null
        ? known
        : drives.computeIfAbsent(id, any -> new DriveLatency(config.lateMin().toNanos()));
  }

  /** A drive is asked for what somebody needs. */
  public void earn() {
    if (isOn() && saved.get() < SAVED_MAX) {
      saved.addAndGet(config.budgetPercent());
    }
  }

  /** Takes so many reads out of the budget, or none. */
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

  /** Wakes those who have waited long enough; whether anybody has waited since the last tick. */
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

  /** However it ends: from now on those who wait look at the time for themselves. */
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
}
