package dev.ashlar.transport.frame;

import java.time.Duration;

/**
 * How long one end of a connection waits for the other.
 *
 * @param handshake from the connection on until both know each other
 * @param heartbeat between two looks: pings, and what is overdue
 * @param silenceMax from a ping until its answer: beyond it the peer counts as gone
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
