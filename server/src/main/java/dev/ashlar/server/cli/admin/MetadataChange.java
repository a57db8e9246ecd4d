package dev.ashlar.server.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;

/** Requests a change of the metadata peers, and waits until it is done. */
final class MetadataChange {
  private static final String PAGE = "metadata";
  private static final Duration PAUSE = Duration.ofMillis(500);

  private final Sender sender;
  private final PrintStream out;
  private final boolean isJson;
  private final ObjectMapper json = new ObjectMapper();

  /** Sends a request to a path below {@code /admin/} and returns the body of the answer. */
  interface Sender {
    String send(String method, String path) throws IOException, InterruptedException;
  }

  MetadataChange(Sender sender, PrintStream out, boolean isJson) {
    this.sender = sender;
    this.out = out;
    this.isJson = isJson;
  }

  /**
   * Returns when the change is done. It may cost a leader, so answers may be missing for a while.
   *
   * @param path of the request for the change
   * @throws IOException if it fails
   */
  void run(String path) throws IOException, InterruptedException {
    JsonNode begun = json.readTree(sender.send("POST", path));
    if (!isJson) {
      out.println(begun.path("what").asText());
    }
    RetryingPoller poller =
        new RetryingPoller(() -> sender.send("GET", PAGE), PAUSE, RetryingPoller.FAILED_MAX, true);
    while (true) {
      String body = poller.poll();
      JsonNode change = body == null ? begun : json.readTree(body).path("change");
      boolean isSame =
          change.path("number").equals(begun.path("number"))
              && change.path("what").equals(begun.path("what"));
      if (body != null && !(isSame && change.path("state").asText().equals("running"))) {
        print(body);
        check(isSame, change);
        return;
      }
      poller.pause();
    }
  }

  private static void check(boolean isSame, JsonNode change) throws IOException {
    if (!isSame) {
      throw new IOException(
          "the leader has changed, and the new one does not know the result: see the peers above,"
              + " and repeat the command if they are not as requested");
    }
    if (change.path("state").asText().equals("failed")) {
      throw new IOException(change.path("why").asText());
    }
  }

  private void print(String body) throws IOException {
    if (isJson) {
      out.println(body);
    } else {
      PageText.of(PAGE, new Rates()).apply(json.readTree(body)).forEach(out::println);
    }
    out.flush();
  }
}
