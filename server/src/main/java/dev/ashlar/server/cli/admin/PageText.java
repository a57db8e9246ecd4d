package dev.ashlar.server.cli.admin;

import static dev.ashlar.server.cli.admin.Table.Column.left;
import static dev.ashlar.server.cli.admin.Table.Column.right;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** The pages of {@code /admin} as text for people. Ids are shortened as far as they are unique. */
final class PageText {
  private static final int ID_CHARS = 8;
  private static final int ID_CHARS_ALL = 36;

  private PageText() {}

  /**
   * The text of a page.
   *
   * @param rates are shown behind numbers of bytes that have changed since they were seen before
   */
  static Function<JsonNode, List<String>> of(String page, Rates rates) {
    return switch (page) {
      case "status" -> json -> StatusReport.lines(json, rates);
      case "nodes" -> PageText::nodes;
      case "drives" -> json -> drives(json, rates);
      case "pgs" -> PageText::groups;
      case "metadata" -> PageText::metadata;
      default -> new AdminText(rates)::lines;
    };
  }

  private static List<String> nodes(JsonNode rows) {
    Set<String> ids = new HashSet<>();
    rows.forEach(row -> row.path("drives").forEach(id -> ids.add(id.asText())));
    int chars = idChars(ids);
    return new Table(
            left("NODE", row -> text(row, "name")),
            left("STATE", row -> row.path("up").asBoolean() ? "up" : "down"),
            right("LAST SEEN", row -> Units.time(Duration.ofMillis(number(row, "silentMs")))),
            left("ROLE", PageText::role),
            left("ADDRESS", row -> text(row, "address")),
            left("RACK", row -> text(row, "rack")),
            left("ZONE", row -> text(row, "zone")),
            left("DRIVES", row -> ids(row.path("drives"), chars)))
        .lines(rows);
  }

  private static String role(JsonNode row) {
    boolean hasDrives = !row.path("drives").isEmpty();
    boolean isGateway = row.path("gateway").asBoolean();
    return isGateway && hasDrives ? "gateway, storage" : isGateway ? "gateway" : "storage";
  }

  private static List<String> drives(JsonNode rows, Rates rates) {
    int chars = idChars(rows, "id");
    return new Table(
            left("DRIVE", row -> id(text(row, "id"), chars)),
            left("NODE", row -> text(row, "node")),
            left("STATE", PageText::state),
            right("USED", row -> bytes(row, "usedBytes", rates)),
            right("FREE", row -> bytes(row, "freeBytes", rates)),
            right("FULL", row -> row.path("usedPercent").isNull() ? "" : percent(row)),
            right("SLOTS", row -> text(row, "slots")),
            right("TO MOVE", row -> toMove(row, rates)),
            left("FOLDER", row -> text(row, "folder")))
        .lines(rows);
  }

  private static String state(JsonNode row) {
    List<String> words = new ArrayList<>(List.of(text(row, "standing")));
    if (row.path("absent").asBoolean()) {
      words.add("absent");
    } else if (!row.path("up").asBoolean()) {
      words.add("down");
    }
    if (row.path("failed").asBoolean()) {
      words.add("failed");
    }
    if (row.path("empty").asBoolean()) {
      words.add("empty");
    }
    return String.join(", ", words);
  }

  private static String percent(JsonNode row) {
    return row.path("usedPercent").asInt() + " %";
  }

  private static String toMove(JsonNode row, Rates rates) {
    String known = row.path("counted").asBoolean() ? "" : "> ";
    return number(row, "shardsToMove") == 0 && known.isEmpty()
        ? "-"
        : known + bytes(row, "bytesToMove", rates);
  }

  private static List<String> groups(JsonNode rows) {
    Set<String> ids = new HashSet<>();
    rows.forEach(row -> row.path("drives").forEach(id -> ids.add(id.asText())));
    int chars = idChars(ids);
    return new Table(
            right("GROUP", row -> text(row, "group")),
            right("UP", row -> text(row, "up")),
            right("MOVED", row -> text(row, "moved")),
            right("DEBTS", row -> text(row, "owingShards")),
            right("BLOBS", row -> text(row, "owingBlobs")),
            right("BYTES", row -> Units.bytes((double) number(row, "owingBytes"))),
            right("SINCE", PageText::since),
            left("DRIVES", row -> ids(row.path("drives"), chars)))
        .lines(rows);
  }

  private static String since(JsonNode row) {
    JsonNode seconds = row.path("owingSeconds");
    return seconds.isNumber() ? Units.time(Duration.ofSeconds(seconds.asLong())) : "?";
  }

  private static List<String> metadata(JsonNode page) {
    List<String> lines =
        new ArrayList<>(
            new Table(
                    left("PEER", row -> text(row, "id")),
                    left("ADDRESS", row -> text(row, "address")),
                    left("STATE", PageText::peerState),
                    left("TABLES", row -> text(row, "condition")),
                    right("APPLIED", row -> text(row, "applied")),
                    right("LAG", row -> text(row, "lag")),
                    right("KNOWS", row -> text(row, "knows")))
                .lines(page.path("peers")));
    lines.add("Peers that may be lost: " + text(page, "tolerates"));
    lines.add("Version of metadata: " + text(page, "version"));
    JsonNode change = page.path("change");
    if (change.isObject()) {
      String why = text(change, "why");
      lines.add(
          "Last change: "
              + text(change, "what")
              + ", "
              + text(change, "state")
              + (why.isEmpty() ? "" : ": " + why));
    }
    return lines;
  }

  private static String peerState(JsonNode row) {
    String standing = row.path("answers").asBoolean() ? text(row, "standing") : "no answer";
    String change = text(row, "change");
    return (row.path("leads").asBoolean() ? "leader" : standing)
        + (change.isEmpty() ? "" : ", " + change);
  }

  private static String ids(JsonNode ids, int chars) {
    List<String> texts = new ArrayList<>();
    ids.forEach(each -> texts.add(id(each.asText(), chars)));
    return String.join(" ", texts);
  }

  private static String id(String id, int chars) {
    return id.length() <= chars ? id : id.substring(0, chars);
  }

  private static int idChars(JsonNode rows, String field) {
    Set<String> ids = new HashSet<>();
    rows.forEach(row -> ids.add(text(row, field)));
    return idChars(ids);
  }

  /** How many characters tell the ids apart. */
  private static int idChars(Set<String> ids) {
    int chars = ID_CHARS;
    while (chars < ID_CHARS_ALL) {
      int length = chars;
      if (ids.stream().map(each -> id(each, length)).distinct().count() == ids.size()) {
        break;
      }
      chars++;
    }
    return chars;
  }

  private static String bytes(JsonNode row, String field, Rates rates) {
    JsonNode value = row.path(field);
    return value.isNumber()
        ? Units.bytes(value.asDouble()) + rates.seen(text(row, "id") + "." + field, value.asLong())
        : "";
  }

  private static String text(JsonNode row, String field) {
    JsonNode value = row.path(field);
    return value.isNull() ? "" : value.asText();
  }

  private static long number(JsonNode row, String field) {
    return row.path(field).asLong();
  }
}
