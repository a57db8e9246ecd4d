package dev.ashlar.metadata.consensus.raft;

import dev.ashlar.protocol.process.SteadyClock;
import java.time.Clock;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The steady time of the commands that this process proposes, from which the log's time is made. It
 * goes on from the log's time as it is, and approaches the clock of this machine. A process that
 * starts, or a leader that is elected, may skip the time without metadata, but not more than {@link
 * #SKIPPED_MAX}: what is further ahead is taken for a wrong clock, by which locks would end that
 * are to hold for years. Safe for many threads.
 */
final class LogClock {
  private static final Logger LOG = LoggerFactory.getLogger(LogClock.class);

  /** A retention can end so much too early because of a wrong clock, and no more. */
  static final Duration SKIPPED_MAX = Duration.ofDays(1);

  /** Adds nothing to the log's time: it is earlier than any. Zero would mean that there is none. */
  private static final long EARLIEST = 1;

  private final SteadyClock steady;
  private final LongSupplier nanoTime;
  private final Supplier<OptionalLong> logTimeMs;
  private final ReentrantLock lock = new ReentrantLock();

  /** The latest time that is known to be right, and when that was noted. */
  private long knownMs;

  private long knownNanos;

  /**
   * @param machine the system clock
   * @param nanoTime a monotonic clock
   * @param logTimeMs time of the log with everything that was committed, 0 if nothing was; empty:
   *     this process does not know it
   */
  LogClock(Clock machine, LongSupplier nanoTime, Supplier<OptionalLong> logTimeMs) {
    this.steady = new SteadyClock(machine, nanoTime);
    this.nanoTime = nanoTime;
    this.logTimeMs = logTimeMs;
    knownNanos = nanoTime.getAsLong();
  }

  /** The steady time of a command that is proposed now. */
  long millis() {
    OptionalLong logTime = logTimeMs.get();
    if (logTime.isEmpty()) {
      return EARLIEST;
    }
    lock.lock();
    try {
      note(logTime.getAsLong());
      correct();
      note(steady.millis());
      return knownMs;
    } finally {
      lock.unlock();
    }
  }

  /** A log with commands only of peers that did not know its time has none yet. */
  private void note(long ms) {
    if (ms > Math.max(knownMs, EARLIEST)) {
      knownMs = ms;
      knownNanos = nanoTime.getAsLong();
    }
  }

  private void correct() {
    long now = steady.millis();
    if (knownMs == 0) {
      return; // an empty log
    }
    if (now < knownMs) {
      steady.set(knownMs);
      return;
    }
    // The steady clock may have been a tenth faster.
    long elapsedMs = TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - knownNanos);
    long aheadMs = now - knownMs - elapsedMs - elapsedMs / 10;
    if (aheadMs > SKIPPED_MAX.toMillis()) {
      LOG.warn(
          "The clock of this machine is {} hours ahead of the metadata log, which does not follow it."
              + " If the clock is wrong, correct it. If metadata was down for so long, object lock"
              + " retentions end later by up to that time.",
          TimeUnit.MILLISECONDS.toHours(aheadMs));
      steady.set(knownMs + elapsedMs);
    }
  }
}
