package dev.ashlar.transport.call;

import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.protocol.wire.Role;
import dev.ashlar.transport.frame.FrameTimes;
import dev.ashlar.transport.session.ConnectionKeeper;
import dev.ashlar.transport.tls.ClusterTls;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * How another process of the cluster is called.
 *
 * @param role of this process
 * @param tls null: none
 * @param callsMax that wait here or for their answer; what is beyond is refused
 */
public record CallClientConfig(
    Role role,
    UUID cluster,
    ClusterSecret secret,
    @Nullable ClusterTls tls,
    FrameTimes frames,
    Duration connect,
    ConnectionKeeper.Pauses pauses,
    int callsMax) {
  /** A peer that is silent for longer is given up, because another one may lead by then. */
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
        new ConnectionKeeper.Pauses(Duration.ofMillis(20), Duration.ofSeconds(1)),
        4096);
  }
}
