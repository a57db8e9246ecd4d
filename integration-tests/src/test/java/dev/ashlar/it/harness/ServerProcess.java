package dev.ashlar.it.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
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
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The real server in a process of its own, on free loopback ports and on folders of its own. It can
 * be killed, stopped and started again on the same folders and ports; closing it deletes the
 * folders and leaves the log.
 */
public final class ServerProcess implements AutoCloseable {
  public static final String ACCESS_KEY = "integration";
  public static final String SECRET_KEY = "integration-secret/+=";
  public static final String REGION = "us-east-1";

  private static final Duration DEADLINE = Duration.ofSeconds(90);

  private static final int LOG_TAIL_BYTES = 6_000;
  private static final Set<ServerProcess> OPEN = ConcurrentHashMap.newKeySet();
  private static final AtomicInteger COUNTER = new AtomicInteger();

  /** Of all servers, also of those that are down. */
  private static final Set<Integer> PORTS = ConcurrentHashMap.newKeySet();

  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  static {
    // A test run that is interrupted leaves no server behind.
    Runtime.getRuntime().addShutdownHook(new Thread(() -> OPEN.forEach(ServerProcess::destroy)));
  }

  private ServerSpec spec;
  private final Path root;
  private final boolean isOwnRoot;
  private final Path log;
  private final int port = freePort();
  private final int managementPort = freePort();
  private final AtomicInteger starts = new AtomicInteger();
  private Map<String, String> environment = Map.of();
  private Process process;

  private ServerProcess(ServerSpec spec, @Nullable Path given) throws IOException {
    this.spec = spec;
    String label = spec.name() + "-" + COUNTER.incrementAndGet();
    Path target = Path.of("target").toAbsolutePath();
    log = Files.createDirectories(target.resolve("server-logs")).resolve(label + ".log");
    isOwnRoot = given == null;
    root = given != null ? given : target.resolve("it").resolve(label);
    if (isOwnRoot) {
      deleteRecursively(root);
      Files.createDirectories(root);
    }
    Files.deleteIfExists(log);
    process = launch();
  }

  /** Starts a server on empty folders and returns when it is ready. */
  public static ServerProcess start(ServerSpec spec) {
    return begin(spec, null);
  }

  /** The same, with its folders below one that stays when it is closed. */
  public static ServerProcess startIn(Path root, ServerSpec spec) {
    return begin(spec, root);
  }

  private static ServerProcess begin(ServerSpec spec, @Nullable Path root) {
    try {
      ServerProcess server = new ServerProcess(spec, root);
      OPEN.add(server);
      server.awaitReady();
      return server;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The logs' ends of all servers now open, for a failure's report. */
  public static String logTails() {
    StringBuilder tails = new StringBuilder();
    for (ServerProcess server : OPEN) {
      tails.append("\n--- ").append(server.state());
      tails.append(", end of ").append(server.log).append('\n').append(server.logTail());
    }
    return tails.toString();
  }

  public ServerSpec spec() {
    return spec;
  }

  public int port() {
    return port;
  }

  public long pid() {
    return process.pid();
  }

  /** How often it was started. */
  int starts() {
    return starts.get();
  }

  private String state() {
    return process.isAlive() ? "process " + pid() + " runs" : "ended with " + process.exitValue();
  }

  public URI endpoint() {
    return URI.create("http://127.0.0.1:" + port);
  }

  public URI management(String path) {
    return URI.create("http://127.0.0.1:" + managementPort + path);
  }

  /** Where all its folders are. */
  public Path root() {
    return root;
  }

  public List<Path> driveFolders() {
    return spec.driveFolders(root);
  }

  public List<Path> metadataFolders() {
    return spec.metadataFolders(root);
  }

  /** Ends the process with SIGKILL. */
  public void kill() {
    process.destroyForcibly();
    awaitExit();
  }

  /** Ends the process with SIGTERM; anything but a clean end is a failure. */
  public void stop() {
    process.destroy();
    int code = awaitExit();
    if (code != 0 && code != 143) {
      throw new AssertionError("exit code " + code + " after SIGTERM" + logTails());
    }
  }

  /** Starts again on the same folders and ports and returns when ready. */
  public void start() {
    if (process.isAlive()) {
      throw new IllegalStateException("still running");
    }
    try {
      process = launch();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    awaitReady();
  }

  /**
   * The same with other options.
   *
   * @param javaOptions beyond those of the launcher
   */
  public void startWith(String javaOptions) {
    spec = spec.withJavaOptions(javaOptions);
    start();
  }

  /**
   * From its next start on the process has a clock of its own, see {@link ProcessClock#refusal}.
   */
  public ProcessClock useOwnClock() {
    ProcessClock clock = new ProcessClock(root.resolve("clock"));
    environment = clock.environment();
    return clock;
  }

  /** The same, and returns as soon as the process answers, whether it can serve objects or not. */
  public void startUnready() {
    if (process.isAlive()) {
      throw new IllegalStateException("still running");
    }
    try {
      process = launch();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    await("/health/liveness");
  }

  /** The body of the metrics page. */
  public String prometheus() {
    return get("/prometheus").orElseThrow(() -> new AssertionError("no metrics page" + logTails()));
  }

  /** The body of the health page. */
  public String health() {
    return get("/health").orElseThrow(() -> new AssertionError("not healthy" + logTails()));
  }

  /** Resident memory of the process. */
  public long residentBytes() {
    try (Stream<String> lines = Files.lines(Path.of("/proc", pid() + "", "status"))) {
      String line = lines.filter(l -> l.startsWith("VmRSS:")).findFirst().orElseThrow();
      return Long.parseLong(line.replaceAll("\\D", "")) << 10;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** CPU time that the process has taken. */
  public long cpuMillis() {
    return process.info().totalCpuDuration().orElseThrow().toMillis();
  }

  @Override
  public void close() {
    destroy();
    OPEN.remove(this);
    if (isOwnRoot) {
      deleteRecursively(root);
    }
  }

  public static void deleteRecursively(Path folder) {
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> tree = Files.walk(folder)) {
      for (Path path : tree.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Process launch() throws IOException {
    starts.incrementAndGet();
    Map<String, String> all = new HashMap<>(environment);
    all.put("ASHLAR_ACCESS_KEY", ACCESS_KEY);
    all.put("ASHLAR_SECRET_KEY", SECRET_KEY);
    all.put("ASHLAR_JAVA_OPTIONS", spec.javaOptions());
    return Launch.start(spec.arguments(root, port, managementPort), all, log);
  }

  private void awaitReady() {
    await("/health");
  }

  private void await(String page) {
    long deadline = System.nanoTime() + DEADLINE.toNanos();
    while (get(page).isEmpty()) {
      if (!process.isAlive()) {
        throw new AssertionError("ended with " + process.exitValue() + logTails());
      }
      if (System.nanoTime() > deadline) {
        throw new AssertionError("not ready after " + DEADLINE + logTails());
      }
      pause(Duration.ofMillis(50));
    }
  }

  /** The body of the health page, whatever it says. */
  public String anyHealth() {
    return send(HttpRequest.newBuilder(management("/health")))
        .map(HttpResponse::body)
        .orElseThrow(() -> new AssertionError("does not answer" + logTails()));
  }

  /**
   * Has something done by the management port.
   *
   * @param what as {@code drain?target=storage-1}
   */
  public HttpResponse<String> administer(String what) {
    return post("/admin/" + what, "1");
  }

  /**
   * Posts nothing to a page of the management port.
   *
   * @param adminHeader value of the header that such requests need; empty for none
   */
  HttpResponse<String> post(String page, String adminHeader) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(management(page)).POST(HttpRequest.BodyPublishers.noBody());
    if (!adminHeader.isEmpty()) {
      request.header("X-Ashlar-Admin", adminHeader);
    }
    return send(request).orElseThrow(() -> new AssertionError("does not answer" + logTails()));
  }

  /** What the management port tells administrators. */
  public String adminPage(String name) {
    return page("/admin/" + name);
  }

  /** A page of the management port. */
  String page(String path) {
    return get(path).orElseThrow(() -> new AssertionError("no page " + path + logTails()));
  }

  /** What the process has written so far. */
  public String log() {
    try {
      return Files.readString(log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Optional<String> get(String path) {
    return send(HttpRequest.newBuilder(management(path)))
        .filter(response -> response.statusCode() == 200)
        .map(HttpResponse::body);
  }

  private static Optional<HttpResponse<String>> send(HttpRequest.Builder request) {
    try {
      return Optional.of(
          HTTP.send(request.timeout(Duration.ofSeconds(10)).build(), BodyHandlers.ofString()));
    } catch (IOException e) {
      return Optional.empty(); // not listening yet
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** Waits until the process ends, and returns its exit code. */
  public int awaitExit() {
    try {
      if (!process.waitFor(DEADLINE.toSeconds(), TimeUnit.SECONDS)) {
        throw new AssertionError("still running after " + DEADLINE + logTails());
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  private void destroy() {
    process.destroyForcibly();
    awaitExit();
  }

  private String logTail() {
    try {
      byte[] all = Files.readAllBytes(log);
      int from = Math.max(0, all.length - LOG_TAIL_BYTES);
      return new String(all, from, all.length - from, java.nio.charset.StandardCharsets.UTF_8);
    } catch (IOException e) {
      return e.toString();
    }
  }

  /** Sleeps; an interrupt ends the test. */
  public static void pause(Duration duration) {
    try {
      Thread.sleep(duration);
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  private static IllegalStateException interrupted(InterruptedException e) {
    Thread.currentThread().interrupt();
    return new IllegalStateException(e);
  }

  /**
   * Below the range of ephemeral ports and beside those of clusters, so that nobody takes it while
   * the server is down. Nobody else gets it in this run.
   */
  public static int freePort() throws IOException {
    for (int attempt = 0; attempt < 100; attempt++) {
      int candidate = ThreadLocalRandom.current().nextInt(15_000, ClusterProcess.PORTS_FROM);
      if (isFree(candidate) && PORTS.add(candidate)) {
        return candidate;
      }
    }
    throw new IOException("no free port from 15000 to " + ClusterProcess.PORTS_FROM);
  }

  private static boolean isFree(int port) {
    try (var socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
      return socket.isBound();
    } catch (IOException taken) {
      return false;
    }
  }
}
