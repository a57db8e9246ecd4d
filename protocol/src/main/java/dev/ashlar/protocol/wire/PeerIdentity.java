package dev.ashlar.protocol.wire;

import java.util.UUID;

/**
 * Who one side of a connection says it is.
 *
 * @param instance chosen when the process starts, so that a new connection of the same process can
 *     be told from one of another
 */
public record PeerIdentity(int version, Role role, UUID cluster, UUID instance) {
  @Override
  public String toString() {
    return role + " " + instance + " of cluster " + cluster + ", wire version " + version;
  }
}
