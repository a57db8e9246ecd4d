package dev.ashlar.gateway.http;

import java.time.Duration;

/** Tracks how long a connection has been waiting for its client, counted in ticks. */
final class ClientTimeouts {
  /** What a connection waits for its client to do. */
  enum Waiting {
    /** To begin a request, or to send the rest of its head. */
    REQUEST,
    /** To send more of a body. */
    BODY,
    /** To close its side after the last answer. */
    END,
    /** Nothing: the server is busy with a request. */
    NOTHING
  }

  /** The outcome of a tick. */
  enum Verdict {
    WAIT,
    CLOSE,
    HEAD_TOO_SLOW,
    BODY_TOO_SLOW
  }

  private final ProgressWatch bodyProgress = new ProgressWatch();
  private boolean headBegun;
  private long receivedBytes;
  private int idleTicks;

  /**
   * @param isIdle whether the connection is between requests
   */
  void received(int bytes, boolean isIdle) {
    receivedBytes += bytes;
    if (isIdle && !headBegun) {
      headBegun = true;
      idleTicks = 0;
    }
  }

  void headEnded() {
    headBegun = false;
    bodyProgress.reset(receivedBytes);
  }

  /**
   * @param isNextHere whether the next request has begun to arrive
   */
  void requestEnded(boolean isNextHere) {
    idleTicks = 0;
    headBegun = isNextHere;
  }

  void lingers() {
    idleTicks = 0;
  }

  /**
   * @param unsent whether the client still has an answer to read
   * @param isQueued whether received messages wait to be processed
   */
  Verdict check(Ticks ticks, Waiting waiting, boolean unsent, boolean isQueued) {
    idleTicks++;
    return switch (waiting) {
      case END -> !unsent && idleTicks > ticks.linger() ? Verdict.CLOSE : Verdict.WAIT;
      case REQUEST -> request(ticks, unsent, isQueued);
      case BODY ->
          bodyProgress.stalled(receivedBytes, ticks.stall(), ticks.stallBytesMin())
              ? Verdict.BODY_TOO_SLOW
              : Verdict.WAIT;
      case NOTHING -> {
        bodyProgress.reset(receivedBytes);
        yield Verdict.WAIT;
      }
    };
  }

  private Verdict request(Ticks ticks, boolean unsent, boolean isQueued) {
    if (headBegun) {
      return !isQueued && idleTicks > ticks.head() ? Verdict.HEAD_TOO_SLOW : Verdict.WAIT;
    }
    return !unsent && idleTicks > ticks.idle() ? Verdict.CLOSE : Verdict.WAIT;
  }

  /** Detects a peer that is too slow, from a byte counter that is read at every tick. */
  static final class ProgressWatch {
    private int ticks;
    private long markBytes;

    /** Restarts the measurement, because the peer has nothing to send or receive. */
    void reset(long totalBytes) {
      ticks = 0;
      markBytes = totalBytes;
    }

    /** Whether the counter grew by fewer than {@code bytesMin} in {@code windowTicks} ticks. */
    boolean stalled(long totalBytes, int windowTicks, long bytesMin) {
      if (++ticks < windowTicks) {
        return false;
      }
      boolean stalled = totalBytes - markBytes < bytesMin;
      reset(totalBytes);
      return stalled;
    }
  }

  /**
   * The timeouts as numbers of ticks. One timer per event loop ticks for all its connections, so
   * that ten thousand idle ones need no timers of their own.
   */
  record Ticks(Duration period, int idle, int head, int stall, long stallBytesMin, int linger) {
    private static final Duration PERIOD_MAX = Duration.ofSeconds(1);
    private static final Duration PERIOD_MIN = Duration.ofMillis(5);
    private static final int TICKS_MIN = 4;

    static Ticks of(HttpConfig.Timeouts timeouts) {
      Duration shortest =
          min(min(timeouts.idle(), timeouts.head()), min(timeouts.stall(), timeouts.linger()));
      Duration period = max(PERIOD_MIN, min(PERIOD_MAX, shortest.dividedBy(TICKS_MIN)));
      return new Ticks(
          period,
          count(timeouts.idle(), period),
          count(timeouts.head(), period),
          count(timeouts.stall(), period),
          Math.max(1, timeouts.bytesPerSecondMin() * timeouts.stall().toMillis() / 1000),
          count(timeouts.linger(), period));
    }

    private static int count(Duration time, Duration period) {
      return (int) Math.max(1, time.dividedBy(period));
    }

    private static Duration min(Duration a, Duration b) {
      return a.compareTo(b) <= 0 ? a : b;
    }

    private static Duration max(Duration a, Duration b) {
      return a.compareTo(b) >= 0 ? a : b;
    }
  }
}
