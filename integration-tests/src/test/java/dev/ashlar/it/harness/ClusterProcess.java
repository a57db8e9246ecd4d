package dev.ashlar.it.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A cluster as {@code ashlar cluster} runs it. Its nodes can be killed and started again one by
 * one; closing it ends all of them and deletes the folders.
 */
public final class ClusterProcess implements AutoCloseable {
  private static final Duration DEADLINE = Duration.ofMinutes(5);
  private static final Duration PAUSE = Duration.ofMillis(50);
  private static final Pattern NODE =
      Pattern.compile("^ {2}(\\S+) +pid (\\d+), (http://\\S+/health)", Pattern.MULTILINE);
  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final Path folder;
  private final Path log;
  private final int port = 15_000 + 300 * ThreadLocalRandom.current().nextInt(50);
  private final List<String> shape;
  private final Map<String, Node> nodes = new ConcurrentHashMap<>();
  private final List<Process> startedAgain = new ArrayList<>();
  private Process process;

  private record Node(ProcessHandle process, URI health) {}

  private ClusterProcess(String name, List<String> shape) throws IOException {
    this.shape = shape;
    Path target = Path.of("target").toAbsolutePath();
    folder = target.resolve("it").resolve(name);
    log = Files.createDirectories(target.resolve("server-logs")).resolve(name + ".log");
    ServerProcess.deleteRecursively(folder);
    Files.createDirectories(folder);
    Files.writeString(
        folder.resolve("credentials"),
        "ASHLAR_ACCESS_KEY=%s\nASHLAR_SECRET_KEY=%s\n"
            .formatted(ServerProcess.ACCESS_KEY, ServerProcess.SECRET_KEY));
    process = launch();
  }

  /**
   * Starts it on an empty folder and returns when all of it is ready.
   *
   * @param shape options of the command but for the folder and the ports
   */
  public static ClusterProcess start(String name, List<String> shape) {
    try {
      ClusterProcess cluster = new ClusterProcess(name, shape);
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
    // A short life: what is compiled only once starts sooner.
    return Launch.start(arguments, Map.of("ASHLAR_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1"), log);
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
      ProcessHandle handle = ProcessHandle.of(Long.parseLong(node.group(2))).orElseThrow();
      nodes.put(node.group(1), new Node(handle, URI.create(node.group(3))));
    }
  }

  /** What the command has printed. */
  public String said() {
    try {
      return Files.readString(log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Where the gateway of this number, from 1, serves S3. */
  public int port(int gateway) {
    return port + gateway - 1;
  }

  public Path folder() {
    return folder;
  }

  public Path config(String node) {
    return folder.resolve(node).resolve("ashlar.properties");
  }

  /** Ends a node with SIGKILL. */
  public void kill(String name) {
    ProcessHandle handle = node(name).process();
    handle.destroyForcibly();
    handle.onExit().join();
  }

  /** Starts a node that was killed, as its user would. */
  public void startAgain(String name) {
    try {
      Process again =
          Launch.start(
              List.of("server", "--config", config(name).toString()),
              Map.of("ASHLAR_HEAP", "128m", "ASHLAR_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1"),
              folder.resolve(name).resolve("log"));
      startedAgain.add(again);
      nodes.put(name, new Node(again.toHandle(), node(name).health()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    awaitHealth(name, page -> true);
  }

  private Node node(String name) {
    Node node = nodes.get(name);
    if (node == null) {
      throw new IllegalArgumentException("no node " + name + " but " + nodes.keySet());
    }
    return node;
  }

  /** Waits until the node's health page is like this. */
  public String awaitHealth(String name, Predicate<String> expected) {
    long deadline = System.nanoTime() + DEADLINE.toNanos();
    while (true) {
      Optional<String> page = health(name);
      if (page.filter(expected).isPresent()) {
        return page.get();
      }
      if (System.nanoTime() > deadline) {
        throw failed(name + " has other health than expected: " + page);
      }
      ServerProcess.pause(PAUSE);
    }
  }

  /** The node's health page; nothing while it serves none. */
  public Optional<String> health(String name) {
    return page(node(name).health());
  }

  /** Waits until one of the gateways has looked for shards that are owed and found none. */
  public void awaitNothingOwed(List<String> gateways) {
    long deadline = System.nanoTime() + DEADLINE.toNanos();
    while (gateways.stream().noneMatch(this::owesNothing)) {
      if (System.nanoTime() > deadline) {
        throw failed("shards are still owed");
      }
      ServerProcess.pause(PAUSE);
    }
  }

  private boolean owesNothing(String gateway) {
    return page(node(gateway).health().resolve("/prometheus"))
        .filter(page -> page.contains("\nashlar_repair_owing_blobs 0.0"))
        .isPresent();
  }

  private static Optional<String> page(URI address) {
    HttpRequest request = HttpRequest.newBuilder(address).timeout(Duration.ofSeconds(10)).build();
    try {
      return Optional.of(HTTP.send(request, BodyHandlers.ofString()).body());
    } catch (IOException e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Ends the command with SIGTERM and returns when all that it started has ended. */
  public void stop() {
    process.destroy();
    startedAgain.forEach(Process::destroy);
    try {
      if (!process.waitFor(DEADLINE.toSeconds(), TimeUnit.SECONDS)) {
        throw failed("still running");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
    for (Map.Entry<String, Node> node : nodes.entrySet()) {
      ProcessHandle handle = node.getValue().process();
      boolean isOurs = startedAgain.stream().anyMatch(again -> again.pid() == handle.pid());
      if (isOurs) {
        handle.onExit().join();
      } else if (handle.isAlive()) {
        throw failed(node.getKey() + " was left behind");
      }
    }
  }

  /** Starts all of it again after a stop. */
  public void start() {
    try {
      startedAgain.clear();
      nodes.clear();
      process = launch();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    awaitReady();
  }

  /** With what every process said last. */
  public AssertionError failed(String what) {
    StringBuilder text = new StringBuilder(what).append("\n").append(said());
    try (var tree = Files.list(folder)) {
      for (Path each : tree.map(path -> path.resolve("log")).filter(Files::exists).toList()) {
        List<String> lines = Files.readAllLines(each);
        text.append("\n--- ").append(each).append('\n');
        lines.stream()
            .skip(Math.max(0, lines.size() - 15))
            .forEach(line -> text.append(line).append('\n'));
      }
    } catch (IOException e) {
      text.append(e);
    }
    return new AssertionError(text.toString());
  }

  @Override
  public void close() {
    nodes.values().forEach(node -> node.process().destroyForcibly());
    nodes.values().forEach(node -> node.process().onExit().join());
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    process.onExit().join();
    ServerProcess.deleteRecursively(folder);
  }
}
