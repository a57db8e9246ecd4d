package dev.ashlar.server.cli;

import dev.ashlar.metadata.consensus.file.DurableFiles;
import dev.ashlar.server.admin.ConfigPage;
import dev.ashlar.server.config.ClusterOptions;
import dev.ashlar.server.config.RootCredential;
import dev.ashlar.server.config.ServerOptions;
import dev.ashlar.server.node.Node;
import io.micronaut.context.ApplicationContext;
import io.micronaut.runtime.server.EmbeddedServer;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code ashlar rehearse}: a store in one process and one of several nodes, on folders of their
 * own, some seconds of requests to each, and the end. The launcher runs it after a build to record
 * which classes and profiles the processes of both need.
 */
@Command(
    name = "rehearse",
    description = "Runs servers on temporary folders for some seconds; the launcher records them.",
    mixinStandardHelpOptions = true)
public final class RehearseCommand implements Callable<Integer> {
  private static final String REGION = "us-east-1";
  private static final String HOST = "127.0.0.1";

  /** With metadata and storage; each has two drives. */
  private static final int NODES = 3;

  private static final int HEALTH_TRIES = 50;
  private static final Duration HEALTH_PAUSE = Duration.ofMillis(200);

  @Option(
      names = "--folder",
      required = true,
      description = "Where a temporary folder is made and, at the end, deleted.")
  private Path folder = Path.of("");

  @Option(names = "--seconds", defaultValue = "6", description = "Of requests to each store.")
  private int seconds;

  @Override
  public Integer call() throws Exception {
    Files.createDirectories(folder);
    Path root = Files.createTempDirectory(folder.toAbsolutePath(), "rehearsal-");
    try {
      rehearseCluster(Files.createDirectory(root.resolve("cluster")));
      rehearseOneProcess(root);
    } finally {
      DurableFiles.deleteTree(root);
    }
    return 0;
  }

  private void rehearseOneProcess(Path root) throws Exception {
    ServerOptions options =
        options(
            Map.of(),
            List.of(
                "--data=" + root.resolve("d{1...6}"),
                "--metadata=" + root.resolve("metadata"),
                "--listen=" + HOST + ":0"));
    try (ApplicationContext context = start(options)) {
      ask(context);
      Node node = context.getBean(Node.class);
      load(node.s3Address(), node.root());
    }
  }

  /** The nodes are in one process here, but meet only over connections as those of others. */
  private void rehearseCluster(Path root) throws Exception {
    List<Integer> ports = freePorts(NODES + 1);
    Path credentials = root.resolve("credentials");
    RootCredential credential = RootCredential.kept(credentials);
    List<ServerOptions> nodes = new ArrayList<>();
    Map<String, String> secret =
        Map.of(ClusterOptions.SECRET_VARIABLE, RootCredential.randomText(43));
    String peers =
        ports.stream().limit(NODES).map(port -> HOST + ":" + port).collect(Collectors.joining(","));
    for (int number = 0; number <= NODES; number++) {
      String name = "node-" + number;
      List<String> arguments = new ArrayList<>();
      arguments.addAll(List.of("--cluster=rehearsal", "--node=" + name, "--host=" + HOST));
      arguments.add("--metadata-nodes=" + peers);
      arguments.addAll(
          number == NODES
              ? List.of(
                  "--roles=gateway",
                  "--listen=" + HOST + ":" + ports.getLast(),
                  "--credentials=" + credentials)
              : List.of(
                  "--roles=metadata,storage",
                  "--cluster-listen=" + HOST + ":" + ports.get(number),
                  "--metadata=" + root.resolve(name).resolve("metadata"),
                  "--data=" + root.resolve(name).resolve("d{1...2}"),
                  "--expect-drives=" + 2 * NODES));
      nodes.add(options(secret, arguments));
    }
    List<ApplicationContext> started =
        startAll(
            nodes.stream().<Callable<ApplicationContext>>map(node -> () -> start(node)).toList());
    try {
      for (ApplicationContext each : started) {
        ask(each);
      }
      load(InetSocketAddress.createUnresolved(HOST, ports.getLast()), credential);
    } finally {
      closeAll(started);
    }
  }

  /** Starts all at once, as they wait for each other. If one fails, all others are ended. */
  static <T extends AutoCloseable> List<T> startAll(List<Callable<T>> starts) throws Exception {
    List<Future<T>> running = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(starts.size())) {
      CompletionService<T> ended = new ExecutorCompletionService<>(threads);
      starts.forEach(start -> running.add(ended.submit(start)));
      try {
        for (int i = 0; i < starts.size(); i++) {
          ended.take().get();
        }
      } catch (InterruptedException | ExecutionException e) {
        threads.shutdownNow();
        throw e;
      }
    } catch (Exception e) {
      closeAll(started(running));
      throw e;
    }
    return started(running);
  }

  private static <T> List<T> started(List<Future<T>> ended) {
    return ended.stream()
        .filter(one -> one.state() == Future.State.SUCCESS)
        .map(Future::resultNow)
        .toList();
  }

  private static void closeAll(List<? extends AutoCloseable> all) throws Exception {
    List<Future<?>> closing = new ArrayList<>();
    try (ExecutorService threads = Executors.newCachedThreadPool()) {
      for (AutoCloseable each : all) {
        closing.add(
            threads.submit(
                () -> {
                  each.close();
                  return null;
                }));
      }
    }
    for (Future<?> one : closing) {
      one.get();
    }
  }

  private static List<Integer> freePorts(int count) throws IOException {
    List<ServerSocket> sockets = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        sockets.add(new ServerSocket(0));
      }
      return sockets.stream().map(ServerSocket::getLocalPort).toList();
    } finally {
      for (ServerSocket socket : sockets) {
        socket.close();
      }
    }
  }

  /** The environment is meant for the user's own server. */
  private static ServerOptions options(Map<String, String> environment, List<String> own) {
    List<String> arguments = new ArrayList<>(own);
    arguments.addAll(
        List.of(
            "--region=" + REGION,
            "--management-listen=" + HOST + ":0",
            "--repair-rate=0",
            "--rebalance-rate=0",
            "--scrub-period=0",
            "--scrub-rate=0",
            "--light-scrub-period=0"));
    return ServerOptions.parse(environment, arguments.toArray(String[]::new));
  }

  private static ApplicationContext start(ServerOptions options) {
    return ServerCommand.start(options, new ConfigPage(List.of()));
  }

  /** Asks for pages of the management port: the health until there is no trouble. */
  private static void ask(ApplicationContext context) throws IOException, InterruptedException {
    URI management = context.getBean(EmbeddedServer.class).getURI();
    int code = HttpURLConnection.HTTP_UNAVAILABLE;
    for (int tries = 0; code != HttpURLConnection.HTTP_OK && tries < HEALTH_TRIES; tries++) {
      Thread.sleep(tries == 0 ? Duration.ZERO : HEALTH_PAUSE);
      code = code(management.resolve("/health"));
    }
    code(management.resolve("/prometheus"));
  }

  private static int code(URI page) throws IOException {
    HttpURLConnection connection = (HttpURLConnection) page.toURL().openConnection();
    return connection.getResponseCode();
  }

  private void load(InetSocketAddress s3, RootCredential credential) throws Exception {
    RehearsalLoad.run(new RehearsalClient(s3, credential, REGION), Duration.ofSeconds(seconds));
  }
}
