package dev.ashlar.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** {@code ashlar admin scrub}: the drives of some processes, each of which knows its own. */
final class ScrubAdmin {
  private static final String PATH = "/scrub";
  private static final Duration LOOK = Duration.ofSeconds(1);

  private final Sender sender;
  private final List<Address> processes;
  private final PrintStream out;
  private final boolean isJson;
  private final ObjectMapper json = new ObjectMapper();

  /** Asks a management port, and returns the body of the answer. */
  interface Sender {
    String send(Address management, String method, String path)
        throws IOException, InterruptedException;
  }

  ScrubAdmin(Sender sender, List<Address> processes, PrintStream out, boolean isJson) {
    this.sender = sender;
    this.processes = processes;
    this.out = out;
    this.isJson = isJson;
  }

  /**
   * Shows how far the drives are.
   *
   * @param isStarting whether all are to begin first
   * @param isWatching whether to go on until none is at it any more
   */
  void run(boolean isStarting, boolean isWatching) throws IOException, InterruptedException {
    Map<String, Long> before = isStarting ? started(page("GET")) : Map.of();
    JsonNode page = page(isStarting ? "POST" : "GET");
    int lines = show(page, 0, isWatching);
    while (isWatching && !isDone(page, before)) {
      Thread.sleep(LOOK);
      page = page("GET");
      lines = show(page, lines, true);
    }
  }

  /** Of all processes together. */
  private JsonNode page(String method) throws IOException, InterruptedException {
    ObjectNode page = json.createObjectNode();
    ArrayNode drives = page.putArray("drives");
    for (Address process : processes) {
      json.readTree(sender.send(process, method, PATH)).path("drives").forEach(drives::add);
    }
    return page;
  }

  /** For each drive a time behind which the pass begins that is waited for. */
  private static Map<String, Long> started(JsonNode page) {
    Map<String, Long> started = new HashMap<>();
    for (JsonNode drive : page.path("drives")) {
      boolean goesOn = drive.path("deep").path("running").asBoolean();
      started.put(drive.path("drive").asText(), startedMs(drive) - (goesOn ? 1 : 0));
    }
    return started;
  }

  private static long startedMs(JsonNode drive) {
    return drive.path("deep").path("startedMs").asLong();
  }

  private static boolean isDone(JsonNode page, Map<String, Long> before) {
    for (JsonNode drive : page.path("drives")) {
      JsonNode deep = drive.path("deep");
      long behind = before.getOrDefault(drive.path("drive").asText(), -1L);
      boolean hasEnded = !deep.path("running").asBoolean() && startedMs(drive) > behind;
      if (deep.isObject() && !hasEnded) {
        return false;
      }
    }
    return true;
  }

  /**
   * @param above lines that were shown before, in the place of which these come
   */
  private int show(JsonNode page, int above, boolean isWatching) {
    if (isJson) {
      out.println(page);
      return 0;
    }
    List<String> lines = ScrubProgressText.lines(page);
    if (above > 0) {
      out.print("\u001b[" + above + "A");
    }
    lines.forEach(line -> out.println(isWatching ? line + "\u001b[K" : line));
    out.flush();
    return lines.size();
  }
}
