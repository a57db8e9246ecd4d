package dev.ashlar.it.harness;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The processes of a cluster by their names: gateway-1, metadata-1, storage-1 and so on.
 *
 * @param gateways where each serves S3
 */
public record ClusterNodes(
    Path folder, List<InetSocketAddress> gateways, Map<String, NodeProcess> byName) {
  private static final Duration PAUSE = Duration.ofMillis(100);
  private static final int LOOKS = 1_800;

  ClusterNodes(Path folder, List<InetSocketAddress> gateways) {
    this(folder, List.copyOf(gateways), new ConcurrentHashMap<>());
  }

  public NodeProcess node(String name) {
    NodeProcess node = byName.get(name);
    if (node == null) {
      throw new IllegalArgumentException("no node " + name + " but " + byName.keySet());
    }
    return node;
  }

  /** All of this role, in their order. */
  public List<NodeProcess> of(String role) {
    return byName.values().stream()
        .filter(node -> node.name().startsWith(role + "-"))
        .sorted(Comparator.comparing(NodeProcess::name))
        .toList();
  }

  /** The metadata node that leads, as soon as one does. */
  public NodeProcess leader() {
    for (int i = 0; i < LOOKS; i++) {
      for (NodeProcess node : of("metadata")) {
        if (node.health().orElse("").contains("\"leads\":true")) {
          return node;
        }
      }
      ServerProcess.pause(PAUSE);
    }
    throw failed("no leader");
  }

  /** Waits until metadata knows of no object that lacks a shard. */
  public void awaitNothingOwed() {
    for (int i = 0; i < LOOKS; i++) {
      if (of("gateway").stream().anyMatch(ClusterNodes::owesNothing)) {
        return;
      }
      ServerProcess.pause(PAUSE);
    }
    throw failed("shards are still owed");
  }

  private static boolean owesNothing(NodeProcess gateway) {
    return gateway
        .admin("repair")
        .filter(page -> page.contains("\"known\":true") && page.contains("\"debtBlobs\":0,"))
        .isPresent();
  }

  /** A client of the gateway of this number, from 1. */
  public ChangeClient client(int gateway, String bucket, Duration timeout) throws IOException {
    return new ChangeClient(new RawConnection(gateways.get(gateway - 1), timeout), bucket);
  }

  /** With what every process said last. */
  public AssertionError failed(String what) {
    StringBuilder text = new StringBuilder(what);
    byName.values().forEach(node -> text.append(node.logTail()));
    return new AssertionError(text.toString());
  }
}
