package dev.ashlar.storage.server;

import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.transport.frame.FrameTimes;
import dev.ashlar.transport.tls.ClusterTls;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A server of drives.
 *
 * @param tls null: none
 * @param drain how long what is under way may take when the server is closed
 */
public record ShardServerConfig(
    InetSocketAddress listen,
    UUID cluster,
    ClusterSecret secret,
    @Nullable ClusterTls tls,
    FrameTimes times,
    Duration drain,
    Limits limits) {
  public static final Duration DEFAULT_DRAIN = Duration.ofSeconds(10);

  /**
   * @param connectionsMax of peers that have proved themselves
   * @param greetingsMax connections of peers that have not yet
   * @param operationsMax reads, and as many changes, of one drive that one connection may have
   *     under way
   * @param writeBytesMax data of its changes
   * @param readBytesMax data of its reads
   * @param dataBytesMax of all connections together; what is beyond is refused as overload
   */
  public record Limits(
      int connectionsMax,
      int greetingsMax,
      int operationsMax,
      int writeBytesMax,
      int readBytesMax,
      long dataBytesMax) {
    public static final Limits DEFAULT = new Limits(256, 64, 1024, 16 << 20, 16 << 20, 256L << 20);

    public Limits {
      if (connectionsMax < 1 || greetingsMax < 1 || operationsMax < 1) {
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
