package dev.ashlar.server.cli;

import dev.ashlar.metadata.consensus.file.DurableFiles;
import dev.ashlar.server.admin.ConfigPage;
import dev.ashlar.server.config.ServerOptions;
import dev.ashlar.server.node.Node;
import io.micronaut.context.ApplicationContext;
import io.micronaut.runtime.server.EmbeddedServer;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code ashlar rehearse}: a server on folders of its own, some seconds of requests, and the end.
 * The launcher runs it after a build to record which classes and profiles a server needs.
 */
@Command(
    name = "rehearse",
    description = "Runs a server on temporary folders for some seconds; the launcher records it.",
    mixinStandardHelpOptions = true)
public final class RehearseCommand implements Callable<Integer> {
  private static final int CLIENTS = 8;
  private static final String REGION = "us-east-1";

  @Option(
      names = "--folder",
      required = true,
      description = "Where a temporary folder is made and, at the end, deleted.")
  private Path folder = Path.of("");

  @Option(names = "--seconds", defaultValue = "5", description = "Of requests.")
  private int seconds;

  @Override
  public Integer call() throws Exception {
    Files.createDirectories(folder);
    Path root = Files.createTempDirectory(folder.toAbsolutePath(), "rehearsal-");
    try {
      ApplicationContext context = ServerCommand.start(options(root), new ConfigPage(List.of()));
      try {
        exercise(context);
      } finally {
        context.close();
      }
    } finally {
      DurableFiles.deleteTree(root);
    }
    return 0;
  }

  /** The environment is meant for the user's own server. */
  private static ServerOptions options(Path root) {
    return ServerOptions.parse(
        Map.of(),
        "--data=" + root.resolve("d{1...6}"),
        "--metadata=" + root.resolve("metadata"),
        "--region=" + REGION,
        "--listen=127.0.0.1:0",
        "--management-listen=127.0.0.1:0",
        "--repair-rate=0",
        "--rebalance-rate=0",
        "--scrub-period=0",
        "--scrub-rate=0",
        "--light-scrub-period=0");
  }

  private void exercise(ApplicationContext context) throws Exception {
    ask(context.getBean(EmbeddedServer.class).getURI().resolve("/health"));
    ask(context.getBean(EmbeddedServer.class).getURI().resolve("/prometheus"));
    Node node = context.getBean(Node.class);
    RehearsalClient client = new RehearsalClient(node.s3Address(), node.root(), REGION);
    client.send("PUT", "/rehearsal", "", new byte[0]);
    long end = System.nanoTime() + Duration.ofSeconds(seconds).toNanos();
    List<Future<@Nullable Void>> running = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(CLIENTS)) {
      for (int number = 0; number < CLIENTS; number++) {
        String prefix = "/rehearsal/client-" + number + "/";
        running.add(threads.submit(() -> work(client, prefix, end)));
      }
    }
    for (Future<?> one : running) {
      one.get();
    }
  }

  private static void ask(URI uri) throws IOException {
    HttpURLConnection connection = (HttpURLConnection) uri.toURL().openConnection();
    connection.getInputStream().readAllBytes();
  }

  /** Mostly small objects, as their cost is the server's own code; each round leaves one behind. */
  private static @Nullable Void work(RehearsalClient client, String prefix, long end)
      throws IOException {
    byte[] small = new byte[4 << 10];
    byte[] middle = new byte[100_000];
    byte[] large = new byte[1 << 20];
    for (int round = 0; System.nanoTime() < end; round++) {
      String kept = prefix + round;
      String removed = prefix + "removed";
      for (int i = 0; i < 8; i++) {
        client.send("PUT", kept + "-" + i, "", small);
        client.send("GET", kept + "-" + i, "", new byte[0]);
      }
      client.send("PUT", removed, "", round % 4 == 0 ? large : middle);
      client.send("HEAD", removed, "", new byte[0]);
      client.send("GET", removed, "", new byte[0]);
      client.send("GET", "/rehearsal", "list-type=2&max-keys=20", new byte[0]);
      client.send("DELETE", removed, "", new byte[0]);
    }
    return null;
  }
}
