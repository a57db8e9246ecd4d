package dev.ashlar.server.cli.admin;

import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Looks again and again at what a management port tells. Once it has answered, it may be silent or
 * refuse for a while, as it does while a leader is elected.
 */
final class RetryingPoller {
  /** So often in turn a look may fail, where something is waited for. */
  static final int FAILED_MAX = 60;

  /** Where somebody looks on until they have seen enough. */
  static final int FAILED_ANY = Integer.MAX_VALUE;

  private final Look look;
  private final Duration pause;
  private final int failedMax;
  private boolean hasAnswered;
  private int failed;
  private String failure = "";

  /** One of them, the body of the answer. */
  interface Look {
    String make() throws IOException, InterruptedException;
  }

  /**
   * @param pause from one look to the next
   * @param failedMax so many in turn end it
   * @param hasAnswered whether it has answered already; else the first look has to succeed
   */
  RetryingPoller(Look look, Duration pause, int failedMax, boolean hasAnswered) {
    this.look = look;
    this.pause = pause;
    this.failedMax = failedMax;
    this.hasAnswered = hasAnswered;
  }

  /** Waits until the next look. */
  void pause() throws InterruptedException {
    Thread.sleep(pause);
  }

  /** Why the last look has failed; empty where it has not. */
  String failure() {
    return failure;
  }

  /**
   * The body of the answer; null where there is none now, and {@link #failure} tells why.
   *
   * @throws IOException when that is not to be waited for any longer
   */
  @Nullable String poll() throws IOException, InterruptedException {
    try {
      String body = look.make();
      hasAnswered = true;
      failed = 0;
      failure = "";
      return body;
    } catch (IOException e) {
      failed++;
      if (!hasAnswered || failed >= failedMax) {
        throw e;
      }
      failure = String.valueOf(e.getMessage());
      return null;
    }
  }
}
