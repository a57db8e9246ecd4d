package dev.ashlar.server.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.ashlar.transport.Endpoint;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** {@code ashlar admin scrub}: the drives of some processes, each of which knows its own. */
final class ScrubAdmin {
  /** From one look to the next. */
  static final Duration LOOK = Duration.ofSeconds(1);

  private static final String PATH = "/scrub";

  private final Sender sender;
  private final List<Endpoint> processes;
  private final WatchScreen screen;
  private final boolean isJson;
  private final Duration pause;
  private final ObjectMapper json = new ObjectMapper();

  /** Asks a management port, and returns the body of the answer. */
  interface Sender {
    String send(Endpoint management, String method, String path)
        throws IOException, InterruptedException;
  }

  /**
   * @param pause from one look to the next
   */
  ScrubAdmin(
      Sender sender, List<Endpoint> processes, WatchScreen screen, boolean isJson, Duration pause) {
    this.sender = sender;
    this.processes = List.copyOf(processes);
    this.screen = screen;
    this.isJson = isJson;
    this.pause = pause;
  }

  /** A process that is watched, with what it has told last. */
  private final class Watched {
    final Endpoint process;
    final RetryingPoller looks;
    JsonNode drives;

    Watched(Endpoint process, JsonNode drives) {
      this.process = process;
      this.drives = drives;
      looks = new RetryingPoller(() -> ask(process, "GET"), pause, RetryingPoller.FAILED_MAX, true);
    }

    void look() throws IOException, InterruptedException {
      String body = looks.once();
      if (body != null) {
        drives = drives(body);
      }
    }

    /** Whether what it has told last is known to be so now. */
    boolean answers() {
      return looks.failure().isEmpty();
    }
  }

  /**
   * Shows how far the drives are.
   *
   * @param isStarting whether all are to begin first
   * @param isWatching whether to go on until none is at it any more
   * @throws IOException when a process does not answer, or, of one that is watched, not for long;
   *     the message names it
   */
  void run(boolean isStarting, boolean isWatching) throws IOException, InterruptedException {
    Map<String, Long> before = new HashMap<>();
    if (isStarting) {
      for (Endpoint process : processes) {
        putStarted(before, drives(ask(process, "GET")));
      }
    }
    List<Watched> watched = new ArrayList<>();
    for (Endpoint process : processes) {
      watched.add(new Watched(process, drives(ask(process, isStarting ? "POST" : "GET"))));
    }
    show(watched);
    while (isWatching && !isDone(watched, before) && !screen.isClosed()) {
      Thread.sleep(pause);
      for (Watched each : watched) {
        each.look();
      }
      show(watched);
    }
  }

  private String ask(Endpoint process, String method) throws IOException, InterruptedException {
    try {
      return sender.send(process, method, PATH);
    } catch (IOException e) {
      String why = String.valueOf(e.getMessage());
      String name = process.toString();
      throw why.startsWith(name) ? e : new IOException(name + ": " + why, e);
    }
  }

  private JsonNode drives(String body) throws IOException {
    return json.readTree(body).path("drives");
  }

  /** For each drive a time behind which the pass begins that is waited for. */
  private static void putStarted(Map<String, Long> before, JsonNode drives) {
    for (JsonNode drive : drives) {
      boolean goesOn = drive.path("deep").path("running").asBoolean();
      before.put(drive.path("drive").asText(), startedMs(drive) - (goesOn ? 1 : 0));
    }
  }

  private static long startedMs(JsonNode drive) {
    return drive.path("deep").path("startedMs").asLong();
  }

  private static boolean isDone(List<Watched> watched, Map<String, Long> before) {
    return watched.stream().allMatch(each -> each.answers() && isDone(each.drives, before));
  }

  private static boolean isDone(JsonNode drives, Map<String, Long> before) {
    for (JsonNode drive : drives) {
      JsonNode deep = drive.path("deep");
      long behind = before.getOrDefault(drive.path("drive").asText(), -1L);
      boolean hasEnded = !deep.path("running").asBoolean() && startedMs(drive) > behind;
      if (deep.isObject() && !hasEnded) {
        return false;
      }
    }
    return true;
  }

  private void show(List<Watched> watched) {
    if (isJson) {
      screen.print(page(watched).toString());
      return;
    }
    List<String> lines = new ArrayList<>();
    for (Watched each : watched) {
      if (watched.size() > 1) {
        lines.add(each.process + ":");
      }
      lines.addAll(ScrubProgressText.lines(each.drives));
      if (!each.answers()) {
        lines.add("  not since then: " + each.looks.failure());
      }
    }
    screen.show(lines);
  }

  /** Of all processes together. */
  private JsonNode page(List<Watched> watched) {
    ObjectNode page = json.createObjectNode();
    ArrayNode drives = page.putArray("drives");
    ObjectNode silent = json.createObjectNode();
    for (Watched each : watched) {
      each.drives.forEach(
          drive -> {
            ObjectNode row = drive.deepCopy();
            drives.add(row.put("process", each.process.toString()));
          });
      if (!each.answers()) {
        silent.put(each.process.toString(), each.looks.failure());
      }
    }
    page.set("silent", silent);
    return page;
  }
}
