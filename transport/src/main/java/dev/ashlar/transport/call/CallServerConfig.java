package dev.ashlar.transport.call;

import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.protocol.wire.Wire;
import java.util.UUID;

/** Which cluster may call, and how much at a time. */
public record CallServerConfig(UUID cluster, ClusterSecret secret, Limits limits) {
  /**
   * @param connectionsMax connections of authenticated processes
   * @param handshakesMax connections that have not authenticated yet
   * @param callsMax unanswered calls of one connection
   * @param callBytesMax bytes of all unanswered calls; a call beyond it is refused
   * @param answerBytesMax unsent answer bytes of one connection; an answer beyond it is refused
   */
  public record Limits(
      int connectionsMax, int handshakesMax, int callsMax, long callBytesMax, long answerBytesMax) {
    public static final Limits DEFAULT = new Limits(512, 64, 1024, 64L << 20, 64L << 20);

    public Limits {
      if (connectionsMax < 1 || handshakesMax < 1 || callsMax < 1) {
        throw new IllegalArgumentException("needs positive limits");
      }
      if (callBytesMax < Wire.CALL_BYTES_MAX || answerBytesMax < Wire.ANSWER_BYTES_MAX) {
        throw new IllegalArgumentException("less than one call may need");
      }
    }
  }
}
