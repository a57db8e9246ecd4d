package dev.ashlar.transport.call;

import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.protocol.wire.Wire;
import java.util.UUID;

/** Who may call, and how much at a time. */
public record CallServerConfig(UUID cluster, ClusterSecret secret, Limits limits) {
  /**
   * @param connectionsMax of processes that have proved themselves
   * @param greetingsMax of those that have not yet
   * @param callsMax of one connection that are not answered
   * @param callBytesMax of all connections, of calls that are not answered; beyond it they are
   *     refused
   * @param answerBytesMax of one connection, of answers that are not sent; likewise
   */
  public record Limits(
      int connectionsMax, int greetingsMax, int callsMax, long callBytesMax, long answerBytesMax) {
    public static final Limits DEFAULT = new Limits(512, 64, 1024, 64L << 20, 64L << 20);

    public Limits {
      if (connectionsMax < 1 || greetingsMax < 1 || callsMax < 1) {
        throw new IllegalArgumentException("needs positive limits");
      }
      if (callBytesMax < Wire.CALL_BYTES_MAX || answerBytesMax < Wire.ANSWER_BYTES_MAX) {
        throw new IllegalArgumentException("less than one call may need");
      }
    }
  }
}
