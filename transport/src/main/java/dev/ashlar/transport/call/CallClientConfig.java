package dev.ashlar.transport.call;

import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.protocol.wire.PeerIdentity;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.transport.frame.FrameTimes;
import dev.ashlar.transport.session.ClientSession;
import dev.ashlar.transport.session.RemoteProcess;
import dev.ashlar.transport.tls.ClusterTls;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * How this process calls another one of the cluster.
 *
 * @param role of this process
 * @param tls null: none
 * @param connect how long connecting may take
 * @param callsMax calls that wait to be sent or answered; a call beyond it is refused
 */
public record CallClientConfig(
    Role role,
    UUID cluster,
    ClusterSecret secret,
    @Nullable ClusterTls tls,
    FrameTimes frames,
    Duration connect,
    RemoteProcess.Backoff backoff,
    int callsMax) {
  /** A silent peer is dropped early, because another one may lead by then. */
  private static final FrameTimes FRAMES =
      new FrameTimes(Duration.ofSeconds(5), Duration.ofMillis(250), Duration.ofSeconds(3));

  public CallClientConfig {
    if (!connect.isPositive() || callsMax < 1) {
      throw new IllegalArgumentException("needs a time to connect in and room for calls");
    }
  }

  public CallClientConfig(Role role, UUID cluster, ClusterSecret secret, @Nullable ClusterTls tls) {
    this(
        role,
        cluster,
        secret,
        tls,
        FRAMES,
        Duration.ofSeconds(2),
        new RemoteProcess.Backoff(Duration.ofMillis(20), Duration.ofSeconds(1)),
        4096);
  }

  /** As a new instance of this process. */
  ClientSession.Options options() {
    return new ClientSession.Options(
        PeerIdentity.of(role, cluster), secret, Role.METADATA, frames, connect, tls);
  }
}
