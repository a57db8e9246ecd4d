package dev.ashlar.server;

import java.io.IOException;
import java.time.Duration;

/**
 * Looks again and again at what a management port tells. Once it has answered, it may be silent or
 * refuse for a while, as it does while a leader is elected.
 */
final class PatientLooks {
  /** So often in turn a look may fail. */
  static final int FAILED_MAX = 60;

  private final Look look;
  private final Duration pause;
  private boolean hasAnswered;

  /** One of them, the body of the answer. */
  interface Look {
    String make() throws IOException, InterruptedException;
  }

  /**
   * @param pause between a look that failed and the next
   * @param hasAnswered whether it has answered already; else the first look has to succeed
   */
  PatientLooks(Look look, Duration pause, boolean hasAnswered) {
    this.look = look;
    this.pause = pause;
    this.hasAnswered = hasAnswered;
  }

  /**
   * The body of the next answer.
   *
   * @throws IOException when that is not to be waited for any longer
   */
  String next() throws IOException, InterruptedException {
    for (int failed = 1; ; failed++) {
      try {
        String body = look.make();
        hasAnswered = true;
        return body;
      } catch (IOException e) {
        if (!hasAnswered || failed >= FAILED_MAX) {
          throw e;
        }
        Thread.sleep(pause);
      }
    }
  }
}
