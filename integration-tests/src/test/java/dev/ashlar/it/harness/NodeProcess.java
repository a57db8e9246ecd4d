package dev.ashlar.it.harness;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** One process of a cluster, which can be killed, suspended and started again. */
public final class NodeProcess {
  private static final Duration DEADLINE = Duration.ofMinutes(5);
  private static final Duration HEALTH_TIMEOUT = Duration.ofSeconds(10);
  private static final Duration PAUSE = Duration.ofMillis(50);
  private static final int LOG_LINES = 15;

  /** Needed where a management port is not bound to loopback. */
  private static final String AUTHORIZATION =
      "Basic "
          + Base64.getEncoder()
              .encodeToString(
                  (ServerProcess.ACCESS_KEY + ":" + ServerProcess.SECRET_KEY)
                      .getBytes(StandardCharsets.UTF_8));

  private static final HttpClient HTTP =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final String name;
  private final Path folder;
  private final URI health;
  private final List<String> before;
  private final Map<String, String> environment;
  private @Nullable ProcessHandle handle;
  private boolean isOurs;

  /**
   * @param folder with its configuration and its log
   * @param before of the command that starts it again: what has to be entered first
   * @param environment that it has then beyond that of the tests
   */
  NodeProcess(
      String name, Path folder, URI health, List<String> before, Map<String, String> environment) {
    this.name = name;
    this.folder = folder;
    this.health = health;
    this.before = List.copyOf(before);
    Map<String, String> all = new HashMap<>(environment);
    all.put("ASHLAR_HEAP", "128m");
    this.environment = Map.copyOf(all);
  }

  /** This process, which somebody else has started, is it. */
  void found(ProcessHandle process) {
    handle = process;
    isOurs = false;
  }

  public String name() {
    return name;
  }

  public Path folder() {
    return folder;
  }

  public Path config() {
    return folder.resolve("ashlar.properties");
  }

  private ProcessHandle handle() {
    if (handle == null) {
      throw new IllegalStateException(name + " was never started");
    }
    return handle;
  }

  public boolean isAlive() {
    return handle != null && handle.isAlive();
  }

  /** Ends it with SIGKILL. */
  public void kill() {
    handle().destroyForcibly();
    handle().onExit().join();
  }

  /** Tells it to end, with SIGTERM. */
  public void terminate() {
    handle().destroy();
  }

  /** Ends it with SIGTERM. */
  public void stop() {
    terminate();
    awaitEnd();
  }

  /** Ends it with SIGTERM if it was started again here; else that is for others to do. */
  void end() {
    if (isOurs) {
      stop();
    }
  }

  /** Waits until it has ended without more being done to it. */
  public void awaitEnd() {
    try {
      handle().onExit().get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    } catch (ExecutionException | TimeoutException e) {
      throw new AssertionError(name + " was left behind" + logTail(), e);
    }
  }

  /** It does nothing until it is resumed, and nobody is told. */
  public void suspend() {
    signal("STOP");
  }

  public void resume() {
    signal("CONT");
  }

  private void signal(String signal) {
    Commands.run("kill", "-" + signal, "" + handle().pid());
  }

  /** Starts it, as its user would who knows its configuration. */
  public void start() {
    try {
      handle =
          Launch.start(
                  before, List.of("server", "--config", config().toString()), environment, log())
              .toHandle();
      isOurs = true;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Ends it with SIGKILL and starts it again.
   *
   * @param lines of its configuration from then on, beside, or in the place of, those it has
   */
  public void restartWith(String lines) {
    kill();
    try {
      Files.writeString(config(), "\n" + lines + "\n", StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    start();
  }

  private Path log() {
    return folder.resolve("log");
  }

  /** Waits until its health page is like this. */
  public String awaitHealth(Predicate<String> expected) {
    long deadline = System.nanoTime() + DEADLINE.toNanos();
    while (true) {
      Optional<String> page = health();
      if (page.filter(expected).isPresent()) {
        return page.get();
      }
      if (System.nanoTime() > deadline || !isAlive()) {
        throw new AssertionError(name + " has other health than expected: " + page + logTail());
      }
      ServerProcess.pause(PAUSE);
    }
  }

  /** Where that is. */
  public URI healthPage() {
    return health;
  }

  /** Its health page; nothing while it serves none. */
  public Optional<String> health() {
    return page(health);
  }

  /** What a gateway tells administrators, as JSON; nothing while it does not. */
  public Optional<String> admin(String page) {
    return page(health.resolve("/admin/" + page));
  }

  /** A page of its management port. */
  public String page(String path) {
    return page(health.resolve(path))
        .orElseThrow(() -> new AssertionError(name + " has no page " + path + logTail()));
  }

  /**
   * Posts nothing to a page of its management port.
   *
   * @param adminHeader value of the header that such requests need; empty for none
   */
  HttpResponse<String> post(String path, String adminHeader) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(health.resolve(path))
            .timeout(HEALTH_TIMEOUT)
            .header("Authorization", AUTHORIZATION)
            .POST(HttpRequest.BodyPublishers.noBody());
    if (!adminHeader.isEmpty()) {
      request.header("X-Ashlar-Admin", adminHeader);
    }
    return send(request.build())
        .orElseThrow(() -> new AssertionError(name + " does not answer" + logTail()));
  }

  private static Optional<String> page(URI address) {
    HttpRequest request =
        HttpRequest.newBuilder(address)
            .timeout(HEALTH_TIMEOUT)
            .header("Authorization", AUTHORIZATION)
            .build();
    return send(request).map(HttpResponse::body);
  }

  /** Nothing if it does not answer. */
  private static Optional<HttpResponse<String>> send(HttpRequest request) {
    try {
      return Optional.of(HTTP.send(request, BodyHandlers.ofString()));
    } catch (IOException e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** What it said last. */
  String logTail() {
    StringBuilder text = new StringBuilder("\n--- ").append(log()).append('\n');
    List<String> lines = said();
    lines.stream()
        .skip(Math.max(0, lines.size() - LOG_LINES))
        .forEach(line -> text.append(line).append('\n'));
    return text.toString();
  }

  /** The lines of its log. */
  public List<String> said() {
    try {
      return Files.exists(log()) ? Files.readAllLines(log()) : List.of();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
