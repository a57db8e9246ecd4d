package dev.ashlar.server.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** {@code ashlar admin metadata}: who the metadata peers are, and changing that. */
public final class MetadataAdminCommand {
  private static final String VIEW = "metadata";
  private static final Duration LOOK = Duration.ofMillis(500);

  private final Sender sender;
  private final PrintStream out;
  private final boolean isJson;
  private final ObjectMapper json = new ObjectMapper();

  /** Asks a management port below {@code /admin/}, and returns the body of the answer. */
  public interface Sender {
    String send(String path) throws IOException, InterruptedException;
  }

  public MetadataAdminCommand(Sender sender, PrintStream out, boolean isJson) {
    this.sender = sender;
    this.out = out;
    this.isJson = isJson;
  }

  /** What is wrong with what was asked for; null: nothing. */
  public static @Nullable String usage(
      @Nullable String change, @Nullable String first, @Nullable String second) {
    if (change == null) {
      return null;
    }
    return switch (change) {
      case "add", "remove" ->
          first != null && second == null ? null : "metadata " + change + " takes one peer";
      case "replace" ->
          first != null && second != null ? null : "metadata replace takes two peers, OLD and NEW";
      default -> "there is no metadata " + change + " but add, remove and replace";
    };
  }

  /**
   * Shows the peers, or changes them and returns when that is done.
   *
   * @param change null: only shows
   * @return the exit code
   */
  public int run(@Nullable String change, @Nullable String first, @Nullable String second)
      throws IOException, InterruptedException {
    if (change == null) {
      show(sender.send(VIEW));
      return 0;
    }
    JsonNode begun = json.readTree(sender.send(path(change, first, second)));
    if (!isJson) {
      out.println(begun.path("what").asText());
    }
    return await(begun.path("number").asLong(), begun.path("what").asText());
  }

  private static String path(String change, @Nullable String first, @Nullable String second) {
    String path = "metadata-" + change + "?target=" + encoded(first);
    return second == null ? path : path + "&by=" + encoded(second);
  }

  private static String encoded(@Nullable String text) {
    return text == null ? "" : URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  /** A change may cost a leader, so for a while nobody may answer. */
  private int await(long number, String what) throws IOException, InterruptedException {
    RetryingPoller looks =
        new RetryingPoller(() -> sender.send(VIEW), LOOK, RetryingPoller.FAILED_MAX, true);
    while (true) {
      String body = looks.next();
      JsonNode change = json.readTree(body).path("change");
      boolean isIt =
          change.path("number").asLong() == number && change.path("what").asText().equals(what);
      if (!isIt || !change.path("state").asText().equals("running")) {
        show(body);
        return end(isIt, change);
      }
      Thread.sleep(LOOK);
    }
  }

  private static int end(boolean isIt, JsonNode change) throws IOException {
    if (!isIt) {
      throw new IOException(
          "the leader has changed meanwhile, and the new one does not know how it went: the peers"
              + " are those above; where that is not what you asked for, ask again");
    }
    if (change.path("state").asText().equals("failed")) {
      throw new IOException(change.path("why").asText());
    }
    return 0;
  }

  private void show(String body) throws IOException {
    if (isJson) {
      out.println(body);
      return;
    }
    JsonNode page = json.readTree(body);
    AdminText.print(VIEW, page.path("peers"), out);
    out.println("Peers that may be lost: " + page.path("tolerates").asText());
    out.println("Version of metadata: " + page.path("version").asText());
    JsonNode change = page.path("change");
    if (change.isObject()) {
      out.println(
          "Last change: "
              + change.path("what").asText()
              + ", "
              + change.path("state").asText()
              + (change.path("why").asText().isEmpty() ? "" : ": " + change.path("why").asText()));
    }
    out.flush();
  }
}
