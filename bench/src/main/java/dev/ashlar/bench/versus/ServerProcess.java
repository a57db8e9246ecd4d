package dev.ashlar.bench.versus;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A running contender. */
final class ServerProcess implements AutoCloseable {
  /** The launcher may have to build Ashlar first. */
  private static final Duration READY_MAX = Duration.ofMinutes(10);

  private static final Duration STOP_MAX = Duration.ofSeconds(30);
  private static final int LOG_LINES_SHOWN = 15;

  private final Process process;
  private final int port;
  private final Thread killer;

  private ServerProcess(Process process, int port) {
    this.process = process;
    this.port = port;
    killer = new Thread(() -> destroy(process));
    Runtime.getRuntime().addShutdownHook(killer);
  }

  static ServerProcess start(Contender.Started contender, Path folder)
      throws IOException, InterruptedException {
    int port = freePort();
    Contender.Launch launch = contender.launch(folder, port, freePort());
    Path log = folder.resolve("server.log");
    ProcessBuilder builder =
        new ProcessBuilder(launch.command()).redirectErrorStream(true).redirectOutput(log.toFile());
    builder.environment().putAll(launch.environment());
    ServerProcess server = new ServerProcess(builder.start(), port);
    server.awaitReady(contender, launch, log);
    return server;
  }

  S3Target target() {
    return new S3Target(
        URI.create("http://" + Contender.Started.HOST + ":" + port),
        Contender.Started.ACCESS_KEY,
        Contender.Started.SECRET_KEY,
        null,
        process.toHandle());
  }

  private void awaitReady(Contender.Started contender, Contender.Launch launch, Path log)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + READY_MAX.toNanos();
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpRequest request =
          HttpRequest.newBuilder(launch.health()).timeout(Duration.ofSeconds(2)).build();
      while (!isReady(client, request)) {
        if (!process.isAlive() || System.nanoTime() > deadline) {
          close();
          throw new VersusException(
              contender.title() + " did not start; its last lines were:\n" + tail(log));
        }
        Thread.sleep(50);
      }
    }
  }

  private static boolean isReady(HttpClient client, HttpRequest request)
      throws InterruptedException {
    try {
      return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() == 200;
    } catch (IOException e) {
      return false; // not listening yet
    }
  }

  private static String tail(Path log) throws IOException {
    try (Stream<String> lines = Files.lines(log)) {
      List<String> all = lines.toList();
      return String.join("\n", all.subList(Math.max(0, all.size() - LOG_LINES_SHOWN), all.size()));
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  @Override
  public void close() {
    process.destroy();
    process.onExit().completeOnTimeout(process, STOP_MAX.toSeconds(), TimeUnit.SECONDS).join();
    destroy(process);
    process.onExit().join();
    Runtime.getRuntime().removeShutdownHook(killer);
  }

  private static void destroy(Process process) {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }
}
