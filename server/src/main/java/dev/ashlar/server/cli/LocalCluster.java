package dev.ashlar.server.cli;

import dev.ashlar.server.config.PortAddress;
import dev.ashlar.server.config.PortAddress.Scheme;
import dev.ashlar.server.config.ServerRole;
import dev.ashlar.server.config.Sizes;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.tls.Authorities;
import dev.ashlar.transport.tls.CertificateFiles;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLSocketFactory;
import org.jspecify.annotations.Nullable;

/**
 * The processes of a cluster on this machine. They end with this one, however it ends: the standard
 * input of each is a pipe from here, whose end tells them.
 */
final class LocalCluster implements AutoCloseable {
  private static final Duration START = Duration.ofMinutes(5);
  private static final Duration END = Duration.ofSeconds(20);
  private static final Duration LOOK = Duration.ofMillis(100);
  private static final int HTTP_TIMEOUT_MS = 2_000;

  /** Set for processes that are to end when their standard input does. */
  private static final String END_WITH_INPUT = "ashlar.end-with-input";

  private static final List<String> SIZES =
      List.of("-Xms", "-Xmx", "-XX:MaxDirectMemorySize=", "-D" + Sizes.DERIVED_PROPERTY + "=");

  private final ClusterPlan plan;
  private final @Nullable SSLSocketFactory tls;
  private final Map<ClusterPlan.Member, Process> running = new LinkedHashMap<>();
  private volatile boolean isClosing;

  /** Of one process. */
  private record Memory(String heap, String direct) {
    static Memory of(ServerRole role) {
      return switch (role) {
        case GATEWAY -> new Memory("160m", "320m");
        case METADATA -> new Memory("128m", "64m");
        case STORAGE -> new Memory("96m", "128m");
      };
    }
  }

  /**
   * Starts all processes. Those that have been started are ended if one cannot be.
   *
   * @param certificates of their ports; none: they have no TLS
   * @param mainClass the entry point of each
   */
  LocalCluster(ClusterPlan plan, List<CertificateFiles> certificates, Class<?> mainClass)
      throws IOException {
    this.plan = plan;
    tls = certificates.isEmpty() ? null : trusting(certificates.getFirst());
    try {
      for (ClusterPlan.Member process : plan.processes()) {
        running.put(process, start(process, mainClass));
      }
    } catch (IOException e) {
      close();
      throw e;
    }
  }

  private static SSLSocketFactory trusting(CertificateFiles files) throws IOException {
    return Authorities.read(files.certificates()).clientContext().getSocketFactory();
  }

  /** With the flags of this process, but with memory of its own size. */
  private static Process start(ClusterPlan.Member process, Class<?> mainClass) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (String flag : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (SIZES.stream().noneMatch(flag::startsWith)) {
        command.add(flag);
      }
    }
    Memory memory = Memory.of(process.role());
    command.addAll(List.of("-Xms24m", "-Xmx" + memory.heap()));
    command.add("-XX:MaxDirectMemorySize=" + memory.direct());
    command.add("-D" + END_WITH_INPUT + "=true");
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), mainClass.getName()));
    command.addAll(List.of("server", "--config", process.config().toString()));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.redirectOutput(ProcessBuilder.Redirect.appendTo(process.log().toFile()));
    // What is set for a server of its own is not meant for these.
    builder
        .environment()
        .keySet()
        .removeIf(
            name ->
                name.startsWith("MINIO_")
                    || (name.startsWith("ASHLAR_") && !name.equals("ASHLAR_LOG_LEVEL")));
    return builder.start();
  }

  /**
   * In a process that was started so: ends it when its standard input does, and so with the one
   * that started it, also if that was killed and could tell nobody.
   */
  static void watchInput() {
    if (Boolean.getBoolean(END_WITH_INPUT)) {
      Thread.ofPlatform().daemon().name("end-of-input").start(() -> endWith(System.in));
    }
  }

  private static void endWith(InputStream in) {
    try {
      in.transferTo(OutputStream.nullOutputStream());
    } catch (IOException e) {
      // A broken pipe is an end too.
    }
    System.exit(0);
  }

  /** The URL of an S3 port or a management port. */
  PortAddress url(Endpoint port) {
    return new PortAddress(tls == null ? Scheme.HTTP : Scheme.HTTPS, port);
  }

  long pid(ClusterPlan.Member process) {
    Process started = running.get(process);
    if (started == null) {
      throw new IllegalArgumentException(process.name() + " was not started");
    }
    return started.pid();
  }

  /**
   * Waits until all of them serve.
   *
   * @throws IOException when one has ended, with what it said last, or it takes too long
   */
  void awaitReady() throws IOException, InterruptedException {
    long deadline = System.nanoTime() + START.toNanos();
    for (ClusterPlan.Member process : plan.processes()) {
      while (!isServing(process)) {
        checkAlive();
        if (System.nanoTime() > deadline) {
          throw new IOException(process.name() + " is not ready; see " + process.log());
        }
        Thread.sleep(LOOK);
      }
    }
  }

  private void checkAlive() throws IOException {
    for (Map.Entry<ClusterPlan.Member, Process> entry : running.entrySet()) {
      if (!entry.getValue().isAlive()) {
        Path log = entry.getKey().log();
        List<String> lines = Files.readAllLines(log);
        String last = lines.isEmpty() ? "" : ": " + lines.getLast();
        throw new IOException(entry.getKey().name() + " has ended, see " + log + last);
      }
    }
  }

  private boolean isServing(ClusterPlan.Member process) {
    try {
      URI page = URI.create(url(process.management()) + "/health");
      HttpURLConnection connection = (HttpURLConnection) page.toURL().openConnection();
      if (connection instanceof HttpsURLConnection secured) {
        secured.setSSLSocketFactory(tls);
        // It shows our own certificate, whose names are those that others use.
        secured.setHostnameVerifier((host, session) -> true);
      }
      connection.setConnectTimeout(HTTP_TIMEOUT_MS);
      connection.setReadTimeout(HTTP_TIMEOUT_MS);
      return connection.getResponseCode() == HttpURLConnection.HTTP_OK;
    } catch (IOException e) {
      return false; // not listening yet
    }
  }

  /**
   * Waits until one of them ends, and returns which and how; it is not looked at any more. Nothing
   * when all of them are being ended.
   */
  Optional<Ended> awaitEnd() throws InterruptedException {
    while (!isClosing) {
      Optional<Map.Entry<ClusterPlan.Member, Process>> ended =
          running.entrySet().stream().filter(entry -> !entry.getValue().isAlive()).findFirst();
      // A Ctrl-C ends it and this process at once: here that may be known a little later.
      Thread.sleep(LOOK);
      if (ended.isPresent() && !isClosing) {
        ClusterPlan.Member process = ended.get().getKey();
        int code = ended.get().getValue().exitValue();
        running.remove(process);
        return Optional.of(new Ended(process, code));
      }
    }
    return Optional.empty();
  }

  record Ended(ClusterPlan.Member process, int code) {}

  /** Ends all, by force what does not end by itself. */
  @Override
  public void close() {
    isClosing = true;
    List<Process> all = List.copyOf(running.values());
    all.forEach(Process::destroy);
    long deadline = System.nanoTime() + END.toNanos();
    for (Process process : all) {
      try {
        if (!process.waitFor(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
          process.destroyForcibly();
        }
      } catch (InterruptedException e) {
        process.destroyForcibly();
        Thread.currentThread().interrupt();
      }
    }
  }
}
