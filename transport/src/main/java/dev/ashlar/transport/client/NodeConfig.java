package dev.ashlar.transport.client;

import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.protocol.wire.PeerIdentity;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.transport.frame.FrameTimes;
import dev.ashlar.transport.session.ClientSession;
import dev.ashlar.transport.session.RemoteProcess;
import dev.ashlar.transport.tls.ClusterTls;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * How this process reaches a storage node.
 *
 * @param host looked up for each connection, so that a node may move
 * @param role of this process
 * @param drives expected at the node, each with its last known incarnation: an older one is
 *     refused, a newer one is accepted
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
   * @param connect how long connecting may take
   * @param operation how long a drive may take to answer
   */
  public record Times(
      FrameTimes frames, Duration connect, Duration operation, RemoteProcess.Backoff backoff) {
    public static final Times DEFAULT =
        new Times(
            FrameTimes.DEFAULT,
            Duration.ofSeconds(3),
            Duration.ofSeconds(30),
            RemoteProcess.Backoff.DEFAULT);

    public Times {
      if (!connect.isPositive() || !operation.isPositive()) {
        throw new IllegalArgumentException("needs positive times");
      }
    }
  }

  /**
   * Unanswered operations of one drive; what is beyond is refused.
   *
   * @param bytesMax data that they send or read
   */
  public record Limits(int operationsMax, long bytesMax) {
    public static final Limits DEFAULT = new Limits(4096, 64L << 20);

    public Limits {
      if (operationsMax < 1 || bytesMax < Wire.DATA_BYTES_MAX) {
        throw new IllegalArgumentException("limits " + operationsMax + ", " + bytesMax);
      }
    }
  }

  /** As a new instance of this process. */
  ClientSession.Options options() {
    return new ClientSession.Options(
        PeerIdentity.of(role, cluster),
        secret,
        Role.STORAGE_NODE,
        times.frames(),
        times.connect(),
        tls);
  }
}
