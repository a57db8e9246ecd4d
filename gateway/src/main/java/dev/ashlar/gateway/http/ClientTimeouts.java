package dev.ashlar.gateway.http;

/** How long a client has kept its connection waiting, counted in regular looks at it. */
final class ClientTimeouts {
  /** What a connection waits for its client to do. */
  enum Waiting {
    /** To begin a request, or to send the rest of its head. */
    REQUEST,
    /** To send more of a body. */
    BODY,
    /** To close its side, after our last answer. */
    END,
    /** Nothing: we have the word. */
    NOTHING
  }

  /** What a look at the client gave. */
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
   * @param isIdle whether they can only belong to a new request
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
   * @param isNextHere whether the client has sent something ahead
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
   * @param waits whether what was received waits to be looked at
   */
  Verdict look(TimeoutTicks ticks, Waiting waiting, boolean unsent, boolean waits) {
    idleTicks++;
    return switch (waiting) {
      case END -> !unsent && idleTicks > ticks.linger() ? Verdict.CLOSE : Verdict.WAIT;
      case REQUEST -> request(ticks, unsent, waits);
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

  private Verdict request(TimeoutTicks ticks, boolean unsent, boolean waits) {
    if (headBegun) {
      return !waits && idleTicks > ticks.head() ? Verdict.HEAD_TOO_SLOW : Verdict.WAIT;
    }
    return !unsent && idleTicks > ticks.idle() ? Verdict.CLOSE : Verdict.WAIT;
  }
}
