package dev.ashlar.gateway.http;

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
  Verdict check(TimeoutTicks ticks, Waiting waiting, boolean unsent, boolean isQueued) {
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

  private Verdict request(TimeoutTicks ticks, boolean unsent, boolean isQueued) {
    if (headBegun) {
      return !isQueued && idleTicks > ticks.head() ? Verdict.HEAD_TOO_SLOW : Verdict.WAIT;
    }
    return !unsent && idleTicks > ticks.idle() ? Verdict.CLOSE : Verdict.WAIT;
  }
}
