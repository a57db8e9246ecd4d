package dev.ashlar.protocol.wire;

import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Who one side of a connection claims to be.
 *
 * @param instance chosen when the process starts, so that a new connection of the same process can
 *     be told from one of another
 */
public record PeerIdentity(int version, Role role, UUID cluster, UUID instance) {
  /** A new instance of a process that speaks this version. */
  public static PeerIdentity of(Role role, UUID cluster) {
    return new PeerIdentity(Wire.VERSION, role, cluster, UUID.randomUUID());
  }

  /** Why a process with this identity cannot talk to the peer; null if nothing differs. */
  public @Nullable HandshakeFault differenceTo(PeerIdentity peer) {
    if (peer.version != version) {
      return peer.version < version ? HandshakeFault.OLDER_VERSION : HandshakeFault.NEWER_VERSION;
    }
    return peer.cluster.equals(cluster) ? null : HandshakeFault.WRONG_CLUSTER;
  }

  @Override
  public String toString() {
    return role + " " + instance + " of cluster " + cluster + ", wire version " + version;
  }
}
