package dev.ashlar.server.config;

import dev.ashlar.protocol.wire.ClusterSecret;
import dev.ashlar.transport.tls.TlsFiles;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The part of one process in a cluster.
 *
 * @param node its name, unique in the cluster and its own for ever
 * @param host under which the others reach it
 * @param metadataNodes 1, 3 or 5, the same everywhere
 * @param joinsMetadata whether a metadata node with an empty folder is to be added to the group
 * @param rack empty: not said
 * @param zone empty: not said
 * @param expectedDrives with which the first placement map is made; 0: not said
 * @param outAfter how long a drive is down before it is taken out
 * @param credentials null: they are in the environment
 * @param tls of connections between the processes; null: none
 */
public record ClusterOptions(
    String name,
    ClusterSecret secret,
    Set<ServerRole> roles,
    String node,
    String host,
    List<Address> metadataNodes,
    boolean joinsMetadata,
    Address clusterListen,
    String rack,
    String zone,
    int expectedDrives,
    Duration outAfter,
    @Nullable Path credentials,
    @Nullable TlsFiles tls) {
  public ClusterOptions {
    roles = Set.copyOf(roles);
    metadataNodes = List.copyOf(metadataNodes);
    if (roles.isEmpty()) {
      throw new IllegalArgumentException("--roles names none of gateway, storage and metadata");
    }
    if (node.isBlank() || host.isBlank()) {
      throw new IllegalArgumentException("--node and --host take a name each");
    }
    int peers = metadataNodes.size();
    if (peers != 1 && peers != 3 && peers != 5) {
      throw new IllegalArgumentException(
          "--metadata-nodes takes 1, 3 or 5 HOST:PORT, the same in all processes of the cluster,"
              + " not "
              + peers);
    }
    if (metadataNodes.stream().distinct().count() != peers) {
      throw new IllegalArgumentException("--metadata-nodes names a node twice: " + metadataNodes);
    }
    if (clusterListen.port() == 0) {
      throw new IllegalArgumentException("--cluster-listen needs a port that others can know");
    }
    Address own = new Address(host, clusterListen.port());
    if (joinsMetadata && !roles.contains(ServerRole.METADATA)) {
      throw new IllegalArgumentException("--metadata-join is for metadata nodes");
    }
    if (roles.contains(ServerRole.METADATA) && !joinsMetadata && !metadataNodes.contains(own)) {
      throw new IllegalArgumentException(
          "this metadata node is "
              + own
              + " by --host and --cluster-listen, which --metadata-nodes does not name: "
              + metadataNodes);
    }
    if (!outAfter.isPositive()) {
      throw new IllegalArgumentException("--out-after takes a number of seconds");
    }
    if (expectedDrives < 0) {
      throw new IllegalArgumentException("--expect-drives takes a number of drives");
    }
  }

  /** What drives, metadata and connections know the cluster by. */
  public UUID id() {
    return UUID.nameUUIDFromBytes(("ashlar cluster " + name).getBytes(StandardCharsets.UTF_8));
  }

  public boolean has(ServerRole role) {
    return roles.contains(role);
  }

  /** Whether others have anything to ask of this process. */
  public boolean isServing() {
    return has(ServerRole.STORAGE) || has(ServerRole.METADATA);
  }

  /** Where others reach this process. */
  public Address address() {
    return new Address(host, clusterListen.port());
  }
}
