package dev.ashlar.bench.process;

import dev.ashlar.protocol.model.Profile;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** An Ashlar of our own in a process of its own, on folders that are all its own. */
public final class AshlarServer implements AutoCloseable {
  public static final String ACCESS_KEY = "benchmark";
  public static final String SECRET_KEY = "benchmark-secret";

  /** The launcher may have to build Ashlar first. */
  private static final Duration READY_MAX = Duration.ofMinutes(10);

  private static final Duration STOP_MAX = Duration.ofSeconds(30);
  private static final int LOG_LINES_SHOWN = 15;
  private static final String HOST = "127.0.0.1";

  private final Process process;
  private final int port;
  private final int managementPort;
  private final Thread killer;

  private AshlarServer(Process process, int port, int managementPort) {
    this.process = process;
    this.port = port;
    this.managementPort = managementPort;
    killer = new Thread(() -> destroy(process));
    Runtime.getRuntime().addShutdownHook(killer);
  }

  /** It did not start; the message says why. */
  public static final class NotStartedException extends IOException {
    private static final long serialVersionUID = 1;

    NotStartedException(String message) {
      super(message);
    }
  }

  /**
   * Returns when it is ready.
   *
   * @param launcher the script {@code ashlar}
   * @param folder for as many drive folders as the profile needs, and one for metadata
   */
  public static AshlarServer start(Path launcher, String profile, Path folder)
      throws IOException, InterruptedException {
    if (!Files.isExecutable(launcher)) {
      throw new NotStartedException(
          "There is no launcher at " + launcher + "; name it by --ashlar.");
    }
    int drives = Profile.parse(profile, 0).shards();
    int port = freePort();
    int managementPort = freePort();
    Path log = Files.createDirectories(folder).resolve("server.log");
    ProcessBuilder builder =
        new ProcessBuilder(
                launcher.toAbsolutePath().toString(),
                "server",
                "--data",
                folder + "/d{1..." + drives + "}",
                "--metadata",
                folder + "/m1",
                "--profile",
                profile,
                "--listen",
                HOST + ":" + port,
                "--management-listen",
                HOST + ":" + managementPort)
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    builder
        .environment()
        .putAll(Map.of("ASHLAR_ACCESS_KEY", ACCESS_KEY, "ASHLAR_SECRET_KEY", SECRET_KEY));
    AshlarServer server = new AshlarServer(builder.start(), port, managementPort);
    server.awaitReady(log);
    return server;
  }

  public ProcessHandle handle() {
    return process.toHandle();
  }

  public URI endpoint() {
    return URI.create("http://" + HOST + ":" + port);
  }

  public URI management() {
    return URI.create("http://" + HOST + ":" + managementPort);
  }

  private void awaitReady(Path log) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + READY_MAX.toNanos();
    ManagementPage page = new ManagementPage(management());
    while (!page.isHealthy()) {
      if (!process.isAlive() || System.nanoTime() > deadline) {
        close();
        throw new NotStartedException("Ashlar did not start; its last lines were:\n" + tail(log));
      }
      Thread.sleep(50);
    }
  }

  private static String tail(Path log) throws IOException {
    List<String> all = Files.readAllLines(log);
    return String.join("\n", all.subList(Math.max(0, all.size() - LOG_LINES_SHOWN), all.size()));
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
