package dev.ashlar.it.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A cluster whose processes have a network namespace each, and a clock where gcc is here, and whose
 * drives are small file systems of their own. Needs root. Closing it ends them and deletes all that
 * they had.
 */
public final class NetworkCluster implements AutoCloseable {
  private static final int S3_PORT = 9000;
  private static final int MANAGEMENT_PORT = 9001;
  private static final int CLUSTER_PORT = 9002;

  private final Shape shape;
  private final Path folder;
  private final Namespaces namespaces;
  private final List<String> names = new ArrayList<>();
  private final Map<String, SmallDisk> disks = new LinkedHashMap<>();
  private final Map<String, ProcessClock> clocks = new LinkedHashMap<>();
  private final boolean canDisksHang = SmallDisk.refusal().isEmpty();
  private final ClusterNodes nodes;
  private final Thread cleanUp = new Thread(this::delete);

  /** How many of each kind; three metadata nodes, and a drive per storage node. */
  public record Shape(int storageNodes, int gateways, String profile) {
    private static final int METADATA_NODES = 3;

    List<String> names() {
      List<String> names = new ArrayList<>();
      IntStream.rangeClosed(1, gateways).forEach(i -> names.add("gateway-" + i));
      IntStream.rangeClosed(1, METADATA_NODES).forEach(i -> names.add("metadata-" + i));
      IntStream.rangeClosed(1, storageNodes).forEach(i -> names.add("storage-" + i));
      return names;
    }
  }

  /** Starts it and returns when all of it is ready. */
  public NetworkCluster(String name, Shape shape) {
    this.shape = shape;
    folder = Path.of("target").toAbsolutePath().resolve("it").resolve(name);
    ServerProcess.deleteRecursively(folder);
    names.addAll(shape.names());
    namespaces = new Namespaces(names.size());
    Runtime.getRuntime().addShutdownHook(cleanUp);
    nodes =
        new ClusterNodes(
            folder,
            IntStream.rangeClosed(1, shape.gateways())
                .mapToObj(i -> new InetSocketAddress(address("gateway-" + i), S3_PORT))
                .toList());
    try {
      prepare();
      nodes.byName().values().forEach(NodeProcess::start);
      for (NodeProcess gateway : nodes.of("gateway")) {
        gateway.awaitHealth(page -> page.contains("\"status\":\"UP\""));
      }
    } catch (AssertionError | RuntimeException e) {
      close();
      throw e;
    }
  }

  private String address(String node) {
    return namespaces.address(indexOf(node));
  }

  private int indexOf(String node) {
    return names.indexOf(node);
  }

  private void prepare() {
    try {
      Files.createDirectories(folder);
      Files.writeString(folder.resolve("secret"), "the secret of a test cluster\n");
      Files.writeString(
          folder.resolve("credentials"),
          "ASHLAR_ACCESS_KEY=%s\nASHLAR_SECRET_KEY=%s\n"
              .formatted(ServerProcess.ACCESS_KEY, ServerProcess.SECRET_KEY));
      for (String name : names) {
        prepare(name);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void prepare(String name) throws IOException {
    URI health = URI.create("http://%s:%d/health".formatted(address(name), MANAGEMENT_PORT));
    Path own = Files.createDirectories(folder.resolve(name));
    Map<String, String> environment = Map.of();
    if (canClocksJump()) {
      ProcessClock clock = new ProcessClock(own.resolve("clock"));
      clocks.put(name, clock);
      environment = clock.environment();
    }
    NodeProcess node =
        new NodeProcess(name, own, health, namespaces.enter(indexOf(name)), environment);
    nodes.byName().put(name, node);
    StringBuilder config = new StringBuilder();
    properties(name, own).forEach((key, value) -> config.append(key + "=" + value + "\n"));
    Files.writeString(node.config(), config);
    if (name.startsWith("storage")) {
      Path disk = own.resolve("disk");
      disks.put(name, canDisksHang ? SmallDisk.thatCanHang(disk) : SmallDisk.inMemory(disk));
    }
  }

  private Map<String, String> properties(String name, Path own) {
    String role = name.substring(0, name.indexOf('-'));
    Map<String, String> all = new LinkedHashMap<>();
    all.put("cluster", "networks");
    all.put("cluster-secret-file", folder.resolve("secret").toString());
    all.put("roles", role);
    all.put("node", name);
    all.put("host", address(name));
    all.put(
        "metadata-nodes",
        names.stream()
            .filter(each -> each.startsWith("metadata"))
            .map(each -> address(each) + ":" + CLUSTER_PORT)
            .collect(Collectors.joining(",")));
    all.put("cluster-listen", address(name) + ":" + CLUSTER_PORT);
    all.put("management-listen", address(name) + ":" + MANAGEMENT_PORT);
    switch (role) {
      case "gateway" -> {
        all.put("listen", address(name) + ":" + S3_PORT);
        all.put("credentials", folder.resolve("credentials").toString());
      }
      case "metadata" -> all.put("metadata", own.resolve("metadata").toString());
      default -> {
        all.put("data", own.resolve("disk").resolve("drive").toString());
        all.put("profile", shape.profile());
        all.put("expect-drives", "" + shape.storageNodes());
      }
    }
    return all;
  }

  public ClusterNodes nodes() {
    return nodes;
  }

  /** Nothing gets from one to the other any more, nor back. */
  public void cut(NodeProcess one, NodeProcess other) {
    namespaces.cut(indexOf(one.name()), indexOf(other.name()));
  }

  public void mend(NodeProcess one, NodeProcess other) {
    namespaces.mend(indexOf(one.name()), indexOf(other.name()));
  }

  /** Nothing gets in or out any more. */
  public void isolate(NodeProcess node) {
    namespaces.isolate(indexOf(node.name()));
  }

  public void reconnect(NodeProcess node) {
    namespaces.reconnect(indexOf(node.name()));
  }

  /** What comes out of it is slow. */
  public void slow(NodeProcess node) {
    namespaces.slow(indexOf(node.name()));
  }

  public void fast(NodeProcess node) {
    namespaces.fast(indexOf(node.name()));
  }

  /** Whether {@link #setClock} can be. */
  public boolean canClocksJump() {
    return ProcessClock.refusal().isEmpty();
  }

  /**
   * Its time of day jumps.
   *
   * @param ahead of the machine's from now on; negative: behind
   */
  public void setClock(NodeProcess node, Duration ahead) {
    ProcessClock clock = clocks.get(node.name());
    if (clock == null) {
      throw new IllegalArgumentException(node + " goes by the machine's clock");
    }
    clock.set(ahead);
  }

  /** Whether those of {@link #disk} can. */
  public boolean canDisksHang() {
    return canDisksHang;
  }

  /** Of this storage node. */
  public SmallDisk disk(NodeProcess node) {
    SmallDisk disk = disks.get(node.name());
    if (disk == null) {
      throw new IllegalArgumentException(node + " has no disk");
    }
    return disk;
  }

  /** Nothing more can be stored on the disk of this storage node. */
  public void fill(NodeProcess node) {
    try {
      Path ballast = ballast(node);
      long free = Files.getFileStore(ballast.getParent()).getUsableSpace();
      Commands.run("fallocate", "-l", "" + free, ballast.toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public void empty(NodeProcess node) {
    try {
      Files.delete(ballast(node));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path ballast(NodeProcess node) {
    return node.folder().resolve("disk").resolve("ballast");
  }

  @Override
  public void close() {
    Runtime.getRuntime().removeShutdownHook(cleanUp);
    delete();
    namespaces.close();
  }

  private void delete() {
    disks.values().forEach(SmallDisk::calm); // nobody can be killed in the midst of a write
    nodes.byName().values().stream().filter(NodeProcess::isAlive).forEach(NodeProcess::kill);
    disks.values().forEach(SmallDisk::close);
    ServerProcess.deleteRecursively(folder);
  }
}
