package dev.ashlar.transport.frame;

import java.time.Duration;

/**
 * How long one end of a connection waits for the other.
 *
 * @param handshake limit for the handshake
 * @param heartbeat interval of checks for overdue requests and answers
 * @param silenceMax limit for the answer to a ping; beyond it the peer counts as gone. A ping is
 *     sent about every quarter of it, but no more often than the heartbeat
 */
public record FrameTimes(Duration handshake, Duration heartbeat, Duration silenceMax) {
  public static final FrameTimes DEFAULT =
      new FrameTimes(Duration.ofSeconds(5), Duration.ofMillis(500), Duration.ofSeconds(5));

  public FrameTimes {
    if (!handshake.isPositive() || !heartbeat.isPositive() || !silenceMax.isPositive()) {
      throw new IllegalArgumentException("needs positive times");
    }
  }
}
