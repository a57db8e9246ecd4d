package dev.ashlar.it.cluster;

import dev.ashlar.it.harness.ClusterNodes;
import dev.ashlar.it.harness.NetworkCluster;
import dev.ashlar.it.harness.NodeProcess;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SmallDisk;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Draws faults that a cluster has to survive: of some storage nodes, of one metadata node, of one
 * gateway, or of several of these at a time.
 */
final class FaultChoice {
  private final ClusterNodes nodes;
  private final @Nullable NetworkCluster network;
  private final Random random;

  /**
   * @param network the same cluster; null where its network cannot be made to fail
   */
  FaultChoice(ClusterNodes nodes, @Nullable NetworkCluster network, Random random) {
    this.nodes = nodes;
    this.network = network;
    this.random = random;
  }

  /**
   * @param weak the only storage nodes that may be touched
   */
  Fault next(List<NodeProcess> weak) {
    return switch (random.nextInt(6)) {
      case 0, 1 -> ofStorage(weak);
      case 2 -> ofMetadata();
      case 3 -> ofGateway();
      case 4 -> Fault.all(List.of(ofStorage(weak), ofMetadata()));
      default -> Fault.all(List.of(ofStorage(weak), ofGateway()));
    };
  }

  private Fault ofStorage(List<NodeProcess> weak) {
    List<NodeProcess> shuffled = new ArrayList<>(weak);
    Collections.shuffle(shuffled, random);
    List<NodeProcess> some = shuffled.subList(0, 1 + random.nextInt(shuffled.size()));
    NodeProcess one = shuffled.getFirst();
    NetworkCluster net = network;
    if (net != null && random.nextBoolean()) {
      return switch (random.nextInt(net.canDisksHang() ? 5 : 3)) {
        case 0 -> isolated(net, some);
        case 1 -> slow(net, one);
        case 2 -> full(net, one);
        case 3 -> slowDisk(net.disk(one), one);
        default -> hangingDisk(net.disk(one), one);
      };
    }
    return switch (random.nextInt(3)) {
      case 0 -> killed(some);
      case 1 -> suspended(some);
      default -> wiped(one);
    };
  }

  private Fault ofMetadata() {
    NodeProcess one = random.nextBoolean() ? nodes.leader() : any("metadata");
    NetworkCluster net = network;
    if (net != null && random.nextBoolean()) {
      return switch (random.nextInt(3)) {
        case 0 -> isolated(net, List.of(one));
        case 1 -> slow(net, one);
        default -> cutOff(net, one, nodes.of("metadata"));
      };
    }
    return random.nextBoolean() ? killed(List.of(one)) : suspended(List.of(one));
  }

  private Fault ofGateway() {
    NodeProcess one = any("gateway");
    NetworkCluster net = network;
    if (net != null && random.nextBoolean()) {
      return random.nextBoolean()
          ? isolated(net, List.of(one))
          : cutOff(net, one, List.of(nodes.leader(), any("metadata")));
    }
    return random.nextBoolean() ? killed(List.of(one)) : suspended(List.of(one));
  }

  private NodeProcess any(String role) {
    List<NodeProcess> all = nodes.of(role);
    return all.get(random.nextInt(all.size()));
  }

  private static Fault onAll(
      String what,
      List<NodeProcess> nodes,
      Consumer<NodeProcess> begin,
      Consumer<NodeProcess> end) {
    return new Fault(
        what + nodes.stream().map(NodeProcess::name).collect(Collectors.joining(", ")),
        storageNodes(nodes),
        () -> nodes.forEach(begin),
        () -> nodes.forEach(end));
  }

  private static int storageNodes(List<NodeProcess> nodes) {
    return (int) nodes.stream().filter(node -> node.name().startsWith("storage")).count();
  }

  private Fault killed(List<NodeProcess> some) {
    return onAll("kill -9 of ", some, NodeProcess::kill, this::startAgain);
  }

  private static Fault suspended(List<NodeProcess> some) {
    return onAll("SIGSTOP of ", some, NodeProcess::suspend, NodeProcess::resume);
  }

  private static Fault isolated(NetworkCluster net, List<NodeProcess> some) {
    return onAll("no network for ", some, net::isolate, net::reconnect);
  }

  private static Fault slow(NetworkCluster net, NodeProcess node) {
    return new Fault("a slow network of " + node, 0, () -> net.slow(node), () -> net.fast(node));
  }

  /** It is back at once, but has nothing. */
  private Fault wiped(NodeProcess node) {
    return new Fault(
        "an empty drive for " + node,
        1,
        () -> {
          node.kill();
          ServerProcess.deleteRecursively(drive(node));
          startAgain(node);
        },
        () -> {});
  }

  private Path drive(NodeProcess node) {
    return node.folder().resolve(network == null ? "drive" : "disk/drive");
  }

  /** A full disk may end a drive's writing until the next start. */
  private Fault full(NetworkCluster net, NodeProcess node) {
    return new Fault(
        "a full disk of " + node,
        1,
        () -> net.fill(node),
        () -> {
          net.empty(node);
          node.kill();
          startAgain(node);
        });
  }

  private static Fault slowDisk(SmallDisk disk, NodeProcess node) {
    return new Fault("a slow disk of " + node, 0, disk::slow, disk::fast);
  }

  private static Fault hangingDisk(SmallDisk disk, NodeProcess node) {
    return new Fault("a hanging disk of " + node, 1, disk::freeze, disk::thaw);
  }

  /** The others do not reach it, but everybody else does. */
  private static Fault cutOff(NetworkCluster net, NodeProcess node, List<NodeProcess> from) {
    List<NodeProcess> others =
        from.stream().distinct().filter(other -> !other.equals(node)).toList();
    return new Fault(
        node + " cut off from " + others,
        0,
        () -> others.forEach(other -> net.cut(node, other)),
        () -> others.forEach(other -> net.mend(node, other)));
  }

  private void startAgain(NodeProcess node) {
    node.start();
    node.awaitHealth(page -> !page.contains("\"takesPart\":false"));
  }
}
