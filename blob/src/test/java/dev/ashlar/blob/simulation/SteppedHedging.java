package dev.ashlar.blob.simulation;

import dev.ashlar.blob.context.DriveLatency;
import dev.ashlar.blob.context.Hedging;
import dev.ashlar.blob.context.Hedging.HedgeConfig;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

/**
 * Hedging by a clock that is moved by hand, a thousand times slower than that, so that nobody runs
 * into a deadline. Who waits is woken when the simulation says so, by no timer, and looks for
 * itself whether it is time.
 */
final class SteppedHedging extends Hedging {
  private static final int[] LATE_MIN_MS = {16, 100, 1000};

  private final List<Thread> waiting = new ArrayList<>();

  SteppedHedging(Clock clock, Random random) {
    super(
        new HedgeConfig(
            100, Duration.ofNanos(1000L * LATE_MIN_MS[random.nextInt(LATE_MIN_MS.length)])),
        () -> 1000 * clock.millis());
  }

  /** So many reads were fast that what is late is known from the first on. */
  @Override
  public DriveLatency drive(UUID id) {
    DriveLatency known = super.drive(id);
    while (known.lateNanos() == Long.MAX_VALUE) {
      known.record(1);
    }
    return known;
  }

  @Override
  public void park(int place, long leftNanos) throws InterruptedException {
    waiting.add(Thread.currentThread());
    LockSupport.park();
    waiting.remove(Thread.currentThread());
  }

  /** They may have waited for long enough. */
  void wakeAll() {
    List.copyOf(waiting).forEach(LockSupport::unpark);
  }
}
