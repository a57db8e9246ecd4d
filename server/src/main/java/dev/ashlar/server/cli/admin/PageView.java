package dev.ashlar.server.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A page under a heading with the time of the answer. It is never done. */
final class PageView implements Watch.View {
  /** Fields that change although nothing happens. */
  private static final Set<String> CLOCKS = Set.of("silentMs", "debtSeconds");

  private final String title;
  private final InstantSource clock;
  private final Rates rates;
  private final Function<JsonNode, List<String>> text;
  private List<String> lines = List.of();
  private String heading = "";
  private @Nullable JsonNode latest;

  /**
   * @param title names the page and its origin
   * @param rates used by the text
   */
  PageView(String title, InstantSource clock, Rates rates, Function<JsonNode, List<String>> text) {
    this.title = title;
    this.clock = clock;
    this.rates = rates;
    this.text = text;
  }

  @Override
  public boolean update(JsonNode page) {
    rates.look(clock.millis());
    lines = text.apply(page);
    heading = title + " at " + clock.instant().truncatedTo(ChronoUnit.SECONDS);
    JsonNode timeless = withoutClocks(page);
    boolean hasChanged = !timeless.equals(latest);
    latest = timeless;
    return hasChanged;
  }

  @Override
  public List<String> lines(String failure) {
    List<String> all = new ArrayList<>();
    all.add(failure.isEmpty() ? heading : heading + ", no answer since: " + failure);
    all.addAll(lines);
    return all;
  }

  private static JsonNode withoutClocks(JsonNode page) {
    JsonNode timeless = page.deepCopy();
    timeless.forEach(
        row -> {
          if (row instanceof ObjectNode fields) {
            fields.remove(CLOCKS);
          }
        });
    return timeless;
  }
}
