package dev.ashlar.it.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * A cluster as {@code ashlar cluster} runs it. Its nodes can be killed and started again one by
 * one; closing it ends all of them and deletes the folders.
 */
public final class ClusterProcess implements AutoCloseable {
  /** Ports from here to 32,000 are for clusters, others' are below. */
  static final int PORTS_FROM = 24_000;

  private static final int PORTS_EACH = 300;
  private static final int CLUSTERS_MAX = 26;
  private static final int ADDED_PORT = 290;
  private static final AtomicInteger NEXT =
      new AtomicInteger(ThreadLocalRandom.current().nextInt(CLUSTERS_MAX));

  private static final Duration DEADLINE = Duration.ofMinutes(5);
  private static final Duration PAUSE = Duration.ofMillis(50);
  private static final Pattern NODE =
      Pattern.compile("^ {2}(\\S+) +pid (\\d+), (http://\\S+/health)", Pattern.MULTILINE);

  private final Path folder;
  private final Path log;
  private final int port =
      PORTS_FROM + PORTS_EACH * Math.floorMod(NEXT.getAndIncrement(), CLUSTERS_MAX);
  private final List<String> shape;
  private final Path launcher;
  private final ClusterNodes nodes;
  private Process process;

  private ClusterProcess(String name, List<String> shape, Path launcher) throws IOException {
    this.shape = shape;
    this.launcher = launcher;
    Path target = Path.of("target").toAbsolutePath();
    folder = target.resolve("it").resolve(name);
    log = Files.createDirectories(target.resolve("server-logs")).resolve(name + ".log");
    ServerProcess.deleteRecursively(folder);
    Files.createDirectories(folder);
    int gateways = Integer.parseInt(shape.get(shape.indexOf("--gateways") + 1));
    nodes =
        new ClusterNodes(
            folder,
            IntStream.range(port, port + gateways).mapToObj(RawConnection::loopback).toList());
    Files.writeString(
        folder.resolve("credentials"),
        "ASHLAR_ACCESS_KEY=%s\nASHLAR_SECRET_KEY=%s\n"
            .formatted(ServerProcess.ACCESS_KEY, ServerProcess.SECRET_KEY));
    process = launch();
  }

  /**
   * Starts it on an empty folder and returns when all of it is ready.
   *
   * @param shape options of the command but for the folder and the ports; --gateways among them
   */
  public static ClusterProcess start(String name, List<String> shape) {
    return start(name, shape, Launch.launcher());
  }

  /**
   * Starts it with another build; nodes that are started again later are of this one.
   *
   * @param launcher the script at the root of that build's sources
   */
  public static ClusterProcess start(String name, List<String> shape, Path launcher) {
    try {
      ClusterProcess cluster = new ClusterProcess(name, shape, launcher);
      try {
        cluster.awaitReady();
      } catch (AssertionError e) {
        cluster.close();
        throw e;
      }
      return cluster;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Process launch() throws IOException {
    Files.deleteIfExists(log);
    List<String> arguments = new ArrayList<>(List.of("cluster", "--folder", folder.toString()));
    arguments.addAll(List.of("--port", "" + port));
    arguments.addAll(shape);
    return Launch.startOf(launcher, arguments, log);
  }

  private void awaitReady() {
    long deadline = System.nanoTime() + DEADLINE.toNanos();
    while (!said().contains("Ctrl-C")) {
      if (!process.isAlive() || System.nanoTime() > deadline) {
        throw failed("the cluster did not start");
      }
      ServerProcess.pause(PAUSE);
    }
    Matcher node = NODE.matcher(said());
    while (node.find()) {
      String name = node.group(1);
      URI health = URI.create(node.group(3));
      nodes
          .byName()
          .computeIfAbsent(
              name, any -> new NodeProcess(name, folder.resolve(name), health, List.of(), Map.of()))
          .found(ProcessHandle.of(Long.parseLong(node.group(2))).orElseThrow());
    }
  }

  public ClusterNodes nodes() {
    return nodes;
  }

  /** What the command has printed. */
  public String said() {
    try {
      return Files.readString(log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The first of its ports. */
  public int port() {
    return port;
  }

  /** Where the node that {@link #add} starts is reached by the others. */
  public String addedAddress() {
    return "127.0.0.1:" + (port + ADDED_PORT);
  }

  /**
   * Starts one more node, which is not this one's to end.
   *
   * @param like whose configuration it has, but for its name, its ports and what is given
   * @param options further ones, as where its data is
   */
  public Process add(
      NodeProcess like, String name, Map<String, String> variables, List<String> options)
      throws IOException {
    List<String> arguments =
        new ArrayList<>(List.of("server", "--config", like.config().toString(), "--node", name));
    arguments.addAll(List.of("--cluster-listen", addedAddress()));
    arguments.addAll(List.of("--management-listen", "127.0.0.1:0"));
    arguments.addAll(options);
    return Launch.start(arguments, variables, folder.resolve("added.log"));
  }

  /** Ends the command with SIGTERM and returns when all that it started has ended. */
  public void stop() {
    process.destroy();
    nodes.byName().values().forEach(NodeProcess::end);
    awaitEnd();
    for (NodeProcess node : nodes.byName().values()) {
      if (node.isAlive()) {
        throw failed(node + " was left behind");
      }
    }
  }

  /**
   * Ends the command, and nothing else, with SIGKILL, and returns when its processes have ended.
   */
  public void killCommand() {
    process.destroyForcibly();
    awaitEnd();
    nodes.byName().values().forEach(NodeProcess::awaitEnd);
  }

  private void awaitEnd() {
    try {
      if (!process.waitFor(DEADLINE.toSeconds(), TimeUnit.SECONDS)) {
        throw failed("still running");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Starts all of it again after a stop. */
  public void start() {
    try {
      process = launch();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    awaitReady();
  }

  private AssertionError failed(String what) {
    return nodes.failed(what + "\n" + said());
  }

  @Override
  public void close() {
    nodes.byName().values().stream().filter(NodeProcess::isAlive).forEach(NodeProcess::kill);
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    process.onExit().join();
    ServerProcess.deleteRecursively(folder);
  }
}
