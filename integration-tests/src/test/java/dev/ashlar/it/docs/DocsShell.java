package dev.ashlar.it.docs;

import dev.ashlar.it.harness.Await;
import dev.ashlar.it.harness.Launch;
import dev.ashlar.it.harness.Python;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A reader's shell in a folder of its own, and the server that the reader has started there. */
final class DocsShell implements AutoCloseable {
  private static final long RUN_SECONDS = 180;
  private static final String VARIABLES = "[ ! -e .variables ] || . ./.variables\n";

  /** Those that a shell sets for itself cannot be set. */
  private static final String KEEP_VARIABLES =
      "declare -p | grep -v '^declare -[A-Za-z]*r' > .variables\n";

  private final Path folder;
  private final Map<String, String> environment;
  private final int port = freePort();
  private final int management = freePort();
  private @Nullable Process server;
  private int number;

  DocsShell(Path folder) throws IOException, InterruptedException {
    this.folder = folder;
    environment =
        Map.of(
            "PATH",
            Python.withClients().programs() + ":" + System.getenv("PATH"),
            "AWS_CONFIG_FILE",
            "/dev/null",
            "AWS_SHARED_CREDENTIALS_FILE",
            "/dev/null",
            "AWS_EC2_METADATA_DISABLED",
            "true",
            "ASHLAR_LISTEN",
            "127.0.0.1:" + port,
            "ASHLAR_MANAGEMENT_LISTEN",
            "127.0.0.1:" + management);
    String script = "#!/bin/sh\nexec " + Launch.launcher() + " \"$@\"\n";
    Path launcher = Files.writeString(folder.resolve("ashlar"), script);
    Files.setPosixFilePermissions(launcher, PosixFilePermissions.fromString("rwx------"));
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** Ends the server that there is, and waits until the one that these commands start is ready. */
  void start(String commands) throws Exception {
    stop();
    Path log = folder.resolve("log-" + ++number);
    Process started = bash(commands, log);
    server = started;
    Await.until(
        "ready: " + commands,
        () -> {
          if (!started.isAlive()) {
            throw new AssertionError(commands + Files.readString(log));
          }
          return isReady();
        });
  }

  /** Runs the commands to their end; later ones see their variables, as in one terminal. */
  void run(String commands) throws Exception {
    if (server == null && commands.contains("./ashlar")) {
      start("./ashlar server");
    }
    Path log = folder.resolve("log-" + ++number);
    Process process = bash(commands + "\n" + KEEP_VARIABLES, log);
    if (!process.waitFor(RUN_SECONDS, TimeUnit.SECONDS)) {
      end(process);
      throw new AssertionError("does not end: " + commands + Files.readString(log));
    }
    if (process.exitValue() != 0) {
      throw new AssertionError(commands + Files.readString(log));
    }
  }

  private Process bash(String commands, Path log) throws IOException {
    String here =
        commands
            .replace("127.0.0.1:9000", "127.0.0.1:" + port)
            .replace("0.0.0.0:9000", "127.0.0.1:" + port)
            .replace("127.0.0.1:9001", "127.0.0.1:" + management)
            .replace("/mnt/", folder + "/mnt/");
    ProcessBuilder builder =
        new ProcessBuilder("bash", "-e", "-o", "pipefail", "-c", VARIABLES + here)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    builder.environment().putAll(Launch.ENVIRONMENT);
    builder.environment().putAll(environment);
    return builder.start();
  }

  private boolean isReady() {
    try {
      URI health = URI.create("http://127.0.0.1:" + management + "/health/readiness");
      return ((HttpURLConnection) health.toURL().openConnection()).getResponseCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  private void stop() throws InterruptedException {
    Process running = server;
    if (running != null) {
      end(running);
      server = null;
    }
  }

  private static void end(Process process) throws InterruptedException {
    process.descendants().forEach(ProcessHandle::destroy);
    process.destroy();
    process.waitFor();
  }

  @Override
  public void close() {
    try {
      stop();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
