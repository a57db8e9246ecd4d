package dev.ashlar.server.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ashlar.server.config.PortAddress;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** {@code ashlar admin scrub}: the drives of several processes, each of which knows its own. */
final class ScrubAdmin implements Watch.View {
  private static final String PATH = "/scrub";

  private final Sender sender;
  private final List<PortAddress> processes;
  private final WatchScreen screen;
  private final boolean isJson;
  private final Duration pause;
  private final ObjectMapper json = new ObjectMapper();
  private final List<Watched> watched = new ArrayList<>();

  /** The start of the latest pass of each drive when passes were requested, in milliseconds. */
  private final Map<String, Long> startedBefore = new HashMap<>();

  /** Sends a request to a management port and returns the body of the answer. */
  interface Sender {
    String send(PortAddress management, String method, String path)
        throws IOException, InterruptedException;
  }

  /**
   * @param pause between polls
   */
  ScrubAdmin(
      Sender sender,
      List<PortAddress> processes,
      WatchScreen screen,
      boolean isJson,
      Duration pause) {
    this.sender = sender;
    this.processes = List.copyOf(processes);
    this.screen = screen;
    this.isJson = isJson;
    this.pause = pause;
  }

  /** A process with its latest answer. */
  private final class Watched {
    final PortAddress process;
    final RetryingPoller poller;
    JsonNode page;

    Watched(PortAddress process, JsonNode page) {
      this.process = process;
      this.page = page;
      poller =
          new RetryingPoller(() -> send(process, "GET"), pause, RetryingPoller.FAILED_MAX, true);
    }

    void poll() throws IOException, InterruptedException {
      String body = poller.poll();
      page = body == null ? page : json.readTree(body);
    }

    boolean isCurrent() {
      return poller.failure().isEmpty();
    }
  }

  /**
   * Shows the progress of the drives.
   *
   * @param isStarting whether all drives begin a pass first
   * @param isWatching whether to return only when no pass is running
   * @throws IOException if a process does not answer, or has not for long while it is watched; the
   *     message names it
   */
  void run(boolean isStarting, boolean isWatching) throws IOException, InterruptedException {
    if (isStarting) {
      for (PortAddress process : processes) {
        noteStarts(json.readTree(send(process, "GET")));
      }
    }
    for (PortAddress process : processes) {
      String answer = send(process, isStarting ? "POST" : "GET");
      watched.add(new Watched(process, json.readTree(answer)));
    }
    if (isWatching) {
      RetryingPoller poller = new RetryingPoller(new Polls(), pause, 1, true);
      new Watch(poller, screen, System.err, isJson).run(this);
    } else if (isJson) {
      screen.print(page());
    } else {
      screen.show(lines(""));
    }
  }

  /** The answers of all processes as one page. The first answers are there already. */
  private final class Polls implements RetryingPoller.Look {
    private boolean isFirst = true;

    @Override
    public String make() throws IOException, InterruptedException {
      for (Watched each : isFirst ? List.<Watched>of() : watched) {
        each.poll();
      }
      isFirst = false;
      return page();
    }
  }

  private String send(PortAddress process, String method) throws IOException, InterruptedException {
    try {
      return sender.send(process, method, PATH);
    } catch (IOException e) {
      String why = String.valueOf(e.getMessage());
      String name = process.toString();
      throw why.startsWith(name) ? e : new IOException(name + ": " + why, e);
    }
  }

  /** A pass that runs when it is requested counts as the requested one. */
  private void noteStarts(JsonNode page) {
    for (JsonNode drive : page.path("drives")) {
      boolean isRunning = drive.path("deep").path("running").asBoolean();
      startedBefore.put(drive.path("drive").asText(), startedMs(drive) - (isRunning ? 1 : 0));
    }
  }

  private static long startedMs(JsonNode drive) {
    return drive.path("deep").path("startedMs").asLong();
  }

  @Override
  public boolean update(JsonNode page) {
    return true; // the processes have been updated
  }

  @Override
  public boolean isDone() {
    return watched.stream().allMatch(each -> each.isCurrent() && isDone(each.page));
  }

  private boolean isDone(JsonNode page) {
    for (JsonNode drive : page.path("drives")) {
      JsonNode deep = drive.path("deep");
      long before = startedBefore.getOrDefault(drive.path("drive").asText(), -1L);
      boolean hasEnded = !deep.path("running").asBoolean() && startedMs(drive) > before;
      if (deep.isObject() && !hasEnded) {
        return false;
      }
    }
    return true;
  }

  @Override
  public List<String> lines(String failure) {
    List<String> lines = new ArrayList<>();
    for (Watched each : watched) {
      if (watched.size() > 1) {
        lines.add(each.process + ":");
      }
      lines.addAll(PageText.of("scrub", new Rates()).apply(each.page));
      if (!each.isCurrent()) {
        lines.add("  no answer since: " + each.poller.failure());
      }
    }
    return lines;
  }

  private String page() {
    ObjectNode page = json.createObjectNode();
    ArrayNode drives = page.putArray("drives");
    ObjectNode silent = json.createObjectNode();
    for (Watched each : watched) {
      for (JsonNode drive : each.page.path("drives")) {
        ObjectNode row = drive.deepCopy();
        drives.add(row.put("process", each.process.toString()));
      }
      if (!each.isCurrent()) {
        silent.put(each.process.toString(), each.poller.failure());
      }
    }
    page.set("silent", silent);
    return page.toString();
  }
}
