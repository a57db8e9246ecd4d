package dev.ashlar.transport.client;

import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.transport.frame.FrameTimes;
import dev.ashlar.transport.tls.ClusterTls;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A storage node as another process reaches it.
 *
 * @param host looked up anew for each connection, so that a node may move
 * @param role of this process
 * @param drives that are expected there, each in the last life that is known: an older one is
 *     refused, a newer one is believed
 * @param tls null: none
 */
public record NodeConfig(
    String host,
    int port,
    Role role,
    UUID cluster,
    ClusterSecret secret,
    List<DriveId> drives,
    @Nullable ClusterTls tls,
    Times times,
    Limits limits) {
  public NodeConfig {
    drives = List.copyOf(drives);
    if (drives.isEmpty() || drives.size() > Wire.DRIVES_MAX) {
      throw new IllegalArgumentException(drives.size() + " drives of one node");
    }
  }

  /**
   * @param connect until the node has taken the connection
   * @param operation from when a drive is asked until it counts as not answering
   * @param retryFirst from the first failure to connect until the next try; doubled with each
   * @param retryMax the longest of these pauses
   */
  public record Times(
      FrameTimes frames,
      Duration connect,
      Duration operation,
      Duration retryFirst,
      Duration retryMax) {
    public static final Times DEFAULT =
        new Times(
            FrameTimes.DEFAULT,
            Duration.ofSeconds(3),
            Duration.ofSeconds(30),
            Duration.ofMillis(50),
            Duration.ofSeconds(3));

    public Times {
      if (!connect.isPositive()
          || !operation.isPositive()
          || !retryFirst.isPositive()
          || retryMax.compareTo(retryFirst) < 0) {
        throw new IllegalArgumentException("needs positive times");
      }
    }
  }

  /**
   * Of one drive, waiting here or on their way. What is beyond is refused.
   *
   * @param operationsMax that are not answered
   * @param bytesMax of the data that they send or ask for
   */
  public record Limits(int operationsMax, long bytesMax) {
    public static final Limits DEFAULT = new Limits(4096, 64L << 20);

    public Limits {
      if (operationsMax < 1 || bytesMax < Wire.DATA_BYTES_MAX) {
        throw new IllegalArgumentException("limits " + operationsMax + ", " + bytesMax);
      }
    }
  }
}
