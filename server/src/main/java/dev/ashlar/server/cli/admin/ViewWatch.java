package dev.ashlar.server.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * {@code --watch} of a view: shows it anew until somebody ends it. Scripts get the page of each
 * look as a line of JSON.
 */
final class ViewWatch {
  /** Fields in which time goes by, also where nothing happens. */
  private static final Set<String> CLOCKS = Set.of("silentMs", "owingSeconds");

  private final String title;
  private final RetryingPoller looks;
  private final WatchScreen screen;
  private final Outage outage;
  private final InstantSource clock;
  private final ObjectMapper json = new ObjectMapper();
  private final Rates rates = new Rates();
  private final AdminText text = new AdminText(rates);
  private List<String> lines = List.of();
  private String answered = "";
  private @Nullable JsonNode shown;

  /**
   * @param title what is looked at, and where
   */
  ViewWatch(
      String title, RetryingPoller looks, WatchScreen screen, Outage outage, InstantSource clock) {
    this.title = title;
    this.looks = looks;
    this.screen = screen;
    this.outage = outage;
    this.clock = clock;
  }

  /**
   * Until it is interrupted, or nobody reads it any more.
   *
   * @param isJson whether a script reads it
   * @throws IOException when the first look fails, or they do for longer than is to be waited
   */
  void run(boolean isJson) throws IOException, InterruptedException {
    while (!screen.isClosed()) {
      String body = looks.once();
      if (body == null) {
        unanswered(isJson);
      } else {
        outage.answered();
        if (isJson) {
          screen.print(body);
        } else {
          show(json.readTree(body));
        }
      }
      looks.pause();
    }
  }

  /** What was seen last stays, with the time when it was. */
  private void unanswered(boolean isJson) {
    if (isJson || !screen.isTerminal()) {
      outage.failed(looks.failure());
    } else {
      show(answered + ", not since: " + looks.failure());
    }
  }

  private void show(JsonNode page) {
    rates.look(clock.millis());
    lines = text.lines(page);
    answered = title + " at " + clock.instant().truncatedTo(ChronoUnit.SECONDS);
    JsonNode settled = withoutClocks(page);
    if (screen.isTerminal() || !settled.equals(shown)) {
      shown = settled;
      show(answered);
    }
  }

  private void show(String heading) {
    List<String> all = new ArrayList<>(List.of(heading));
    all.addAll(lines);
    screen.show(all);
  }

  private static JsonNode withoutClocks(JsonNode page) {
    JsonNode settled = page.deepCopy();
    settled.forEach(
        row -> {
          if (row instanceof ObjectNode fields) {
            fields.remove(CLOCKS);
          }
        });
    return settled;
  }
}
