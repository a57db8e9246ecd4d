package dev.ashlar.server.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The answers of {@code /admin} as people read them: tables of what is in the JSON. */
final class AdminText {
  /** Times are shown with their units, so these have none in their names. */
  private static final Map<String, String> NAMES =
      Map.of("silentMs", "silent", "owingSeconds", "owingFor");

  /** Of what changes by itself, or by repair and moves. */
  private static final Set<String> RATED =
      Set.of("liveBytes", "bytesToMove", "owingBytes", "movingBytes", "bytes");

  private final Rates rates;

  /**
   * @param rates are shown where numbers were seen before
   */
  AdminText(Rates rates) {
    this.rates = rates;
  }

  List<String> lines(JsonNode page) {
    if (page.isArray()) {
      return table(page);
    }
    List<String> lines = new ArrayList<>();
    fields("", "", page, lines);
    return lines;
  }

  private void fields(String indent, String path, JsonNode page, List<String> lines) {
    page.properties()
        .forEach(
            field -> {
              String name = field.getKey();
              JsonNode value = field.getValue();
              if (value.isObject()) {
                lines.add(indent + name);
                fields(indent + "  ", path + name + ".", value, lines);
              } else if (value.isArray() && !value.isEmpty() && value.get(0).isObject()) {
                lines.add(indent + name);
                value.forEach(each -> lines.add(indent + "  " + line(each)));
              } else {
                lines.add(
                    String.format("%s%-16s %s", indent, shown(name), rated(path, name, value)));
              }
            });
  }

  private static String line(JsonNode row) {
    List<String> parts = new ArrayList<>();
    row.properties()
        .forEach(field -> parts.add(field.getKey() + " " + text(field.getKey(), field.getValue())));
    return String.join(", ", parts);
  }

  private static String shown(String name) {
    return NAMES.getOrDefault(name, name);
  }

  private String rated(String path, String name, JsonNode value) {
    String text = text(name, value);
    return RATED.contains(name) && value.isNumber()
        ? text + rates.seen(path + name, value.asLong())
        : text;
  }

  private static String text(String name, JsonNode value) {
    if (value.isArray()) {
      List<String> texts = new ArrayList<>();
      value.forEach(each -> texts.add(each.asText()));
      return texts.isEmpty() ? "-" : String.join(" ", texts);
    }
    if (value.isNull() || (value.isTextual() && value.asText().isEmpty())) {
      return "-";
    }
    if (name.endsWith("Ms")) {
      return Units.time(Duration.ofMillis(value.asLong()));
    }
    if (name.endsWith("Seconds")) {
      return Units.time(Duration.ofSeconds(value.asLong()));
    }
    boolean isBytes = name.endsWith("ytes") || name.endsWith("bytesToMove");
    return isBytes
        ? Units.bytes(value.asDouble())
        : name.endsWith("Percent") ? value.asText() + " %" : value.asText();
  }

  private List<String> table(JsonNode rows) {
    if (rows.isEmpty()) {
      return List.of("none");
    }
    List<String> names = names(rows.get(0));
    List<List<String>> cells = new ArrayList<>();
    cells.add(names.stream().map(AdminText::shown).toList());
    for (JsonNode row : rows) {
      String path = row.path(names.getFirst()).asText() + ".";
      cells.add(names.stream().map(name -> rated(path, name, row.path(name))).toList());
    }
    int[] widths = new int[names.size()];
    for (List<String> line : cells) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], line.get(i).length());
      }
    }
    return cells.stream().map(line -> joined(line, widths)).toList();
  }

  /** Lists are long: what is behind them would be seen by nobody. */
  private static List<String> names(JsonNode row) {
    List<String> names = new ArrayList<>();
    List<String> lists = new ArrayList<>();
    row.properties()
        .forEach(field -> (field.getValue().isArray() ? lists : names).add(field.getKey()));
    names.addAll(lists);
    return names;
  }

  private static String joined(List<String> cells, int[] widths) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < widths.length; i++) {
      String cell = cells.get(i);
      line.append(cell).append(" ".repeat(widths[i] - cell.length() + 2));
    }
    return line.toString().stripTrailing();
  }
}
