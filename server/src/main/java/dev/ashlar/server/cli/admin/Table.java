package dev.ashlar.server.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Rows of JSON as an aligned table. Columns without any content are left out. */
final class Table {
  private static final int WIDTH = 100;

  private final List<Column> columns;

  /** A column with the text of its cells. */
  record Column(String title, boolean isRight, Function<JsonNode, String> cell) {
    static Column left(String title, Function<JsonNode, String> cell) {
      return new Column(title, false, cell);
    }

    static Column right(String title, Function<JsonNode, String> cell) {
      return new Column(title, true, cell);
    }
  }

  Table(Column... columns) {
    this.columns = List.of(columns);
  }

  List<String> lines(JsonNode rows) {
    if (rows.isEmpty()) {
      return List.of("none");
    }
    List<StringBuilder> lines = new ArrayList<>();
    for (int i = 0; i <= rows.size(); i++) {
      lines.add(new StringBuilder());
    }
    for (Column column : columns) {
      List<String> cells = new ArrayList<>();
      rows.forEach(row -> cells.add(column.cell().apply(row)));
      if (cells.stream().anyMatch(cell -> !cell.isEmpty())) {
        cells.addFirst(column.title());
        append(lines, cells, column.isRight());
      }
    }
    return lines.stream().map(line -> cut(line.toString().stripTrailing())).toList();
  }

  private static void append(List<StringBuilder> lines, List<String> cells, boolean isRight) {
    int width = cells.stream().mapToInt(String::length).max().orElse(0);
    for (int i = 0; i < cells.size(); i++) {
      String padding = " ".repeat(width - cells.get(i).length());
      StringBuilder line = lines.get(i);
      line.append(line.isEmpty() ? "" : "  ");
      line.append(isRight ? padding + cells.get(i) : cells.get(i) + padding);
    }
  }

  /** A title and words behind it, in as many lines as they need. */
  static List<String> wrapped(String title, String text) {
    List<String> lines = new ArrayList<>();
    StringBuilder line = new StringBuilder(title);
    for (String word : text.split(" ", -1)) {
      boolean isFirst = line.length() == title.length();
      if (!isFirst && line.length() + 1 + word.length() > WIDTH) {
        lines.add(line.toString());
        line = new StringBuilder(" ".repeat(title.length())).append(word);
      } else {
        line.append(isFirst ? "" : " ").append(word);
      }
    }
    lines.add(line.toString());
    return lines;
  }

  private static String cut(String line) {
    return line.length() <= WIDTH ? line : line.substring(0, WIDTH - 1) + "…";
  }
}
