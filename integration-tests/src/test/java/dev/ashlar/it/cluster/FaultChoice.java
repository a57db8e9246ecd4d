package dev.ashlar.it.cluster;

import dev.ashlar.it.harness.ClusterNodes;
import dev.ashlar.it.harness.NetworkCluster;
import dev.ashlar.it.harness.NodeProcess;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SmallDisk;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Draws faults that a cluster has to survive: of some storage nodes, of one metadata node, of one
 * gateway, or of storage nodes and one of the others at the same time. No kind comes a second time
 * before all kinds have come.
 */
final class FaultChoice {
  /** One of so many faults comes together with another. */
  private static final int TOGETHER = 3;

  private static final Duration JUMP = Duration.ofHours(1);

  /** By more than a quarter of an hour no signature would be of its time. */
  private static final Duration JUMP_OF_GATEWAY = Duration.ofMinutes(10);

  private final ClusterNodes nodes;
  private final @Nullable NetworkCluster network;
  private final Random random;
  private final Deck<Kind> kinds;

  /**
   * What can happen, to nodes that are yet to be chosen.
   *
   * @param of given the only storage nodes that may be touched
   */
  private record Kind(boolean isOfStorage, Function<List<NodeProcess>, Fault> of) {}

  /**
   * @param network the same cluster; null where its network cannot be made to fail
   */
  FaultChoice(ClusterNodes nodes, @Nullable NetworkCluster network, Random random) {
    this.nodes = nodes;
    this.network = network;
    this.random = random;
    List<Kind> all = new ArrayList<>(ofStorage());
    Stream.concat(ofMetadata(), ofGateway())
        .forEach(fault -> all.add(new Kind(false, weak -> fault.get())));
    this.kinds = new Deck<>(all, random);
  }

  /**
   * @param weak the only storage nodes that may be touched
   */
  Fault next(List<NodeProcess> weak) {
    Kind first = kinds.draw();
    Optional<Kind> second =
        random.nextInt(TOGETHER) == 0
            ? kinds.draw(kind -> kind.isOfStorage() != first.isOfStorage())
            : Optional.empty();
    return Fault.all(
        Stream.concat(Stream.of(first), second.stream())
            .sorted(Comparator.comparing(Kind::isOfStorage).reversed())
            .map(kind -> kind.of().apply(weak))
            .toList());
  }

  /** Whether each kind has come. */
  boolean isThrough() {
    return kinds.isThrough();
  }

  private List<Kind> ofStorage() {
    List<Kind> all = new ArrayList<>();
    all.add(ofSome(this::killed));
    all.add(ofSome(FaultChoice::suspended));
    all.add(ofOne(this::wiped));
    NetworkCluster net = network;
    if (net != null) {
      all.add(ofSome(some -> isolated(net, some)));
      all.add(ofOne(node -> slow(net, node)));
      all.add(ofOne(node -> full(net, node)));
      if (net.canDisksHang()) {
        all.add(ofOne(node -> slowDisk(net.disk(node), node)));
        all.add(ofOne(node -> hangingDisk(net.disk(node), node)));
      }
      if (net.canClocksJump()) {
        all.add(ofOne(node -> otherTime(net, node, JUMP)));
      }
    }
    return all;
  }

  private Kind ofSome(Function<List<NodeProcess>, Fault> fault) {
    return new Kind(
        true,
        weak -> {
          List<NodeProcess> shuffled = new ArrayList<>(weak);
          Collections.shuffle(shuffled, random);
          return fault.apply(shuffled.subList(0, 1 + random.nextInt(shuffled.size())));
        });
  }

  private Kind ofOne(Function<NodeProcess, Fault> fault) {
    return new Kind(true, weak -> fault.apply(weak.get(random.nextInt(weak.size()))));
  }

  private Stream<Supplier<Fault>> ofMetadata() {
    List<Supplier<Fault>> all = new ArrayList<>();
    all.add(() -> killed(List.of(metadata())));
    all.add(() -> suspended(List.of(metadata())));
    NetworkCluster net = network;
    if (net != null) {
      all.add(() -> isolated(net, List.of(metadata())));
      all.add(() -> slow(net, metadata()));
      all.add(() -> cutOff(net, metadata(), nodes.of("metadata")));
      if (net.canClocksJump()) {
        all.add(() -> otherTime(net, metadata(), JUMP));
      }
    }
    return all.stream();
  }

  /** More often the leader than another. */
  private NodeProcess metadata() {
    return random.nextBoolean() ? nodes.leader() : any("metadata");
  }

  private Stream<Supplier<Fault>> ofGateway() {
    List<Supplier<Fault>> all = new ArrayList<>();
    all.add(() -> killed(List.of(any("gateway"))));
    all.add(() -> suspended(List.of(any("gateway"))));
    NetworkCluster net = network;
    if (net != null) {
      all.add(() -> isolated(net, List.of(any("gateway"))));
      all.add(() -> cutOff(net, any("gateway"), List.of(nodes.leader(), any("metadata"))));
      if (net.canClocksJump()) {
        all.add(() -> otherTime(net, any("gateway"), JUMP_OF_GATEWAY));
      }
    }
    return all.stream();
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

  Fault killed(List<NodeProcess> some) {
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

  /** It runs on when its clock jumps, and when that jumps back. */
  private Fault otherTime(NetworkCluster net, NodeProcess node, Duration jump) {
    Duration ahead = random.nextBoolean() ? jump : jump.negated();
    return new Fault(
        "a clock of " + node + " that jumps by " + ahead,
        0,
        () -> net.setClock(node, ahead),
        () -> net.setClock(node, Duration.ZERO));
  }

  private void startAgain(NodeProcess node) {
    node.start();
    node.awaitHealth(page -> !page.contains("\"takesPart\":false"));
  }
}
