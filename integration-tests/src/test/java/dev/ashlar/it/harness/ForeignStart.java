package dev.ashlar.it.harness;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A server that was started by a command of a test's own, on ports of its own. */
public final class ForeignStart implements AutoCloseable {
  private static final Duration DEADLINE = Duration.ofSeconds(90);
  private static final Duration PAUSE = Duration.ofMillis(50);

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final Process process;
  private final Path log;
  private final URI s3;

  /**
   * Returns when it serves.
   *
   * @param before the command that is to run it; empty: none
   * @param s3 where it is to serve
   */
  public ForeignStart(
      List<String> before,
      List<String> arguments,
      Map<String, String> environment,
      URI s3,
      Path log)
      throws IOException, InterruptedException {
    this.s3 = s3;
    this.log = log;
    process = Launch.start(before, arguments, environment, log);
    long deadline = System.nanoTime() + DEADLINE.toNanos();
    while (!isReady()) {
      if (!process.isAlive() || System.nanoTime() > deadline) {
        close();
        throw new AssertionError("not ready: " + said());
      }
      Thread.sleep(PAUSE);
    }
  }

  /** Waits until it has written this. */
  public void awaitSaid(String text) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + DEADLINE.toNanos();
    while (!said().contains(text)) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("does not say " + text + ": " + said());
      }
      Thread.sleep(PAUSE);
    }
  }

  private boolean isReady() throws InterruptedException {
    try {
      return status("GET", s3.resolve("/minio/health/ready")) == 200;
    } catch (IOException e) {
      return false; // not listening yet
    }
  }

  /** The status of the answer to a request without a body. */
  public int status(String method, URI uri) throws IOException, InterruptedException {
    return send(method, uri).statusCode();
  }

  public HttpResponse<String> send(String method, URI uri)
      throws IOException, InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(uri)
            .timeout(DEADLINE)
            .method(method, HttpRequest.BodyPublishers.noBody())
            .build();
    return http.send(request, BodyHandlers.ofString());
  }

  /** All that it has written. */
  public String said() throws IOException {
    return Files.readString(log);
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** A port that is free now. */
  public static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** Ends it with SIGTERM. */
  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(DEADLINE.toSeconds(), TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
