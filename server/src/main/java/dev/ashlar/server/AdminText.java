package dev.ashlar.server;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;

/** The answers of {@code /admin} as people read them: tables of what is in the JSON. */
final class AdminText {
  private AdminText() {}

  static void print(String what, JsonNode page, PrintStream out) {
    if (page.isArray()) {
      table(page, out);
    } else {
      fields("", page, out);
    }
    if (what.equals("drain") || what.equals("replace")) {
      out.println("See with: ashlar admin rebalance --watch");
    }
    out.flush();
  }

  private static void fields(String indent, JsonNode page, PrintStream out) {
    page.properties()
        .forEach(
            field -> {
              JsonNode value = field.getValue();
              if (value.isObject()) {
                out.println(indent + field.getKey());
                fields(indent + "  ", value, out);
              } else if (value.isArray() && !value.isEmpty() && value.get(0).isObject()) {
                out.println(indent + field.getKey());
                value.forEach(each -> out.println(indent + "  " + line(each)));
              } else {
                out.printf("%s%-16s %s%n", indent, field.getKey(), text(field.getKey(), value));
              }
            });
  }

  private static String line(JsonNode row) {
    List<String> parts = new ArrayList<>();
    row.properties()
        .forEach(field -> parts.add(field.getKey() + " " + text(field.getKey(), field.getValue())));
    return String.join(", ", parts);
  }

  private static String text(String name, JsonNode value) {
    if (value.isArray()) {
      List<String> texts = new ArrayList<>();
      value.forEach(each -> texts.add(each.asText()));
      return texts.isEmpty() ? "-" : String.join(" ", texts);
    }
    if (value.isNull()) {
      return "-";
    }
    boolean isBytes = name.endsWith("ytes") || name.endsWith("BytesToMove");
    return isBytes ? Progress.text(value.asDouble()) : value.asText();
  }

  private static void table(JsonNode rows, PrintStream out) {
    if (rows.isEmpty()) {
      out.println("none");
      return;
    }
    List<String> names = new ArrayList<>();
    rows.get(0).fieldNames().forEachRemaining(names::add);
    int[] widths = names.stream().mapToInt(String::length).toArray();
    for (JsonNode row : rows) {
      for (int i = 0; i < widths.length; i++) {
        widths[i] = Math.max(widths[i], text(names.get(i), row.path(names.get(i))).length());
      }
    }
    out.println(joined(names, widths));
    for (JsonNode row : rows) {
      out.println(joined(names.stream().map(name -> text(name, row.path(name))).toList(), widths));
    }
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
