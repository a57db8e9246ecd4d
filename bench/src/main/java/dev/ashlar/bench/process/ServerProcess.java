package dev.ashlar.bench.process;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A server in a process of its own, which ends with this one at the latest. */
public final class ServerProcess implements AutoCloseable {
  /** The launcher may have to build Ashlar first. */
  private static final Duration READY_MAX = Duration.ofMinutes(10);

  private static final Duration STOP_MAX = Duration.ofSeconds(30);
  private static final int LOG_LINES_SHOWN = 15;
  private static final int OK = 200;
  private static final int PORT_MIN = 20_000;
  private static final int PORTS = 32_768 - PORT_MIN;
  private static final AtomicInteger NEXT_PORT = new AtomicInteger(new Random().nextInt());

  private final Process process;
  private final AtExit killer;

  private ServerProcess(Process process) {
    this.process = process;
    try {
      killer = new AtExit("end-server", () -> destroy(process));
    } catch (CancellationException e) {
      destroy(process);
      throw e;
    }
  }

  /**
   * Returns when it is ready.
   *
   * @param log where its output goes
   * @throws BenchException when it ends or takes too long; the message has its last lines
   */
  public static ServerProcess start(Launch launch, Path log)
      throws IOException, InterruptedException {
    ProcessBuilder builder =
        new ProcessBuilder(launch.command()).redirectErrorStream(true).redirectOutput(log.toFile());
    builder.environment().putAll(launch.environment());
    ServerProcess server = new ServerProcess(builder.start());
    server.awaitReady(launch, log);
    return server;
  }

  /**
   * One that nothing listens on now, each time another. Not of those that Linux gives to outgoing
   * connections: one of them might get it in the seconds until the server listens.
   */
  public static int freePort() throws IOException {
    for (int attempt = 1; ; attempt++) {
      int port = PORT_MIN + Math.floorMod(NEXT_PORT.getAndIncrement(), PORTS);
      try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        return socket.getLocalPort();
      } catch (BindException e) {
        if (attempt == PORTS) {
          throw e;
        }
      }
    }
  }

  public ProcessHandle handle() {
    return process.toHandle();
  }

  private void awaitReady(Launch launch, Path log) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + READY_MAX.toNanos();
    try (HttpClient client = HttpClient.newHttpClient()) {
      HttpRequest request =
          HttpRequest.newBuilder(launch.health()).timeout(Duration.ofSeconds(2)).build();
      while (!isReady(client, request)) {
        if (!process.isAlive() || System.nanoTime() > deadline) {
          close();
          throw new BenchException(
              launch.title() + " did not start; its last lines were:\n" + tail(log));
        }
        Thread.sleep(50);
      }
    }
  }

  private static boolean isReady(HttpClient client, HttpRequest request)
      throws InterruptedException {
    try {
      return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() == OK;
    } catch (IOException e) {
      return false; // not listening yet
    }
  }

  private static String tail(Path log) throws IOException {
    List<String> all = Files.readAllLines(log);
    return String.join("\n", all.subList(Math.max(0, all.size() - LOG_LINES_SHOWN), all.size()));
  }

  @Override
  public void close() {
    process.destroy();
    process.onExit().completeOnTimeout(process, STOP_MAX.toSeconds(), TimeUnit.SECONDS).join();
    destroy(process);
    process.onExit().join();
    killer.close();
  }

  private static void destroy(Process process) {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }
}
