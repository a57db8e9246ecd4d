package dev.ashlar.storage.server;

import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.protocol.wire.Wire;
import java.time.Duration;
import java.util.UUID;

/**
 * Which cluster is served, and how much at a time.
 *
 * @param drain how long requests under way may take when the server is closed
 */
public record ShardServerConfig(UUID cluster, ClusterSecret secret, Duration drain, Limits limits) {
  public static final Duration DEFAULT_DRAIN = Duration.ofSeconds(10);

  /**
   * @param connectionsMax connections of authenticated clients
   * @param handshakesMax connections that have not authenticated yet
   * @param operationsMax reads, and as many changes, that one connection may have under way per
   *     drive
   * @param writeBytesMax data of these changes
   * @param readBytesMax data of these reads
   * @param dataBytesMax data of all connections; what is beyond is refused as overload
   */
  public record Limits(
      int connectionsMax,
      int handshakesMax,
      int operationsMax,
      int writeBytesMax,
      int readBytesMax,
      long dataBytesMax) {
    public static final Limits DEFAULT = new Limits(256, 64, 1024, 16 << 20, 16 << 20, 256L << 20);

    public Limits {
      if (connectionsMax < 1 || handshakesMax < 1 || operationsMax < 1) {
        throw new IllegalArgumentException("needs positive limits");
      }
      if (writeBytesMax < Wire.DATA_BYTES_MAX
          || readBytesMax < Wire.DATA_BYTES_MAX
          || dataBytesMax < Wire.DATA_BYTES_MAX) {
        throw new IllegalArgumentException("less than one operation may need");
      }
    }
  }
}
