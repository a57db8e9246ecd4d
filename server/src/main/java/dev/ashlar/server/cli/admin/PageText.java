package dev.ashlar.server.cli.admin;

import static dev.ashlar.server.cli.admin.Table.Column.left;
import static dev.ashlar.server.cli.admin.Table.Column.right;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongFunction;
import java.util.stream.Collectors;

/** The pages of {@code /admin} as text for people. Ids are shortened as far as they are unique. */
final class PageText {
  private static final int ID_CHARS = 8;
  private static final int ID_CHARS_ALL = 36;
  private static final int SCRUB_BAR = 20;

  /** Fields that change by repair and moves. */
  private static final Set<String> RATED = Set.of("debtBytes", "movingBytes", "bytes");

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
      case "profiles" -> PageText::profiles;
      case "profile-moves", "profile-move", "profile-move-stop" -> PageText::moves;
      case "lifecycle" -> PageText::lifecycles;
      case "events" -> PageText::events;
      case "accounts" -> PageText::accounts;
      case "locate" -> LocateReport::lines;
      case "scrub" -> PageText::scrub;
      case "config" -> PageText::config;
      case "buckets" -> rows -> usage(rows, left("BUCKET", row -> text(row, "name")));
      case "account-usage" -> rows -> usage(rows, left("ACCOUNT", row -> text(row, "account")));
      default -> json -> fields(json, rates);
    };
  }

  private static List<String> accounts(JsonNode rows) {
    return new Table(
            left("ACCOUNT", row -> text(row, "id")),
            left("NAME", row -> text(row, "name")),
            left("E-MAIL", row -> text(row, "email")),
            left("CANONICAL ID", row -> text(row, "canonicalId")),
            left("ACCESS KEYS", row -> ids(row.path("accessKeys"), Integer.MAX_VALUE)))
        .lines(rows);
  }

  static List<String> profiles(JsonNode rows) {
    return new Table(
            left("PROFILE", row -> text(row, "name")),
            left("SHARDS", row -> text(row, "profile")),
            right("STRIPE UNIT", row -> Units.bytes((double) number(row, "stripeUnit"))),
            left("DEFAULT", row -> row.path("standard").asBoolean() ? "yes" : ""),
            right("GROUPS", row -> text(row, "placementGroups")),
            left("FAILURE DOMAIN", row -> text(row, "failureDomain")))
        .lines(rows);
  }

  static List<String> moves(JsonNode rows) {
    return new Table(
            right("ID", row -> text(row, "id")),
            left("TO", row -> text(row, "to")),
            left("STATE", PageText::moveState),
            right("MOVED", row -> Units.bytes((double) number(row, "movedBytes"))),
            right("VERSIONS", row -> text(row, "movedVersions")),
            right("FAILED", row -> count(number(row, "failedVersions"))),
            right(
                "PACE",
                row -> ifNumber(row, "bytesPerSecond", rate -> Units.pace((double) rate, null))),
            right("LEFT", row -> ifNumber(row, "secondsLeft", PageText::seconds)),
            left("OF", row -> text(row, "source")))
        .lines(rows);
  }

  private static List<String> lifecycles(JsonNode rows) {
    return new Table(
            left("SCAN", row -> text(row, "state")),
            left("SINCE", PageText::scanTime),
            right("VERSIONS", row -> text(row, "versions")),
            right("EXPIRED", row -> count(number(row, "expired"))),
            right("OLDER", row -> count(number(row, "noncurrent") + number(row, "markers"))),
            right("UPLOADS", row -> count(number(row, "uploads"))),
            right("MOVED", row -> count(number(row, "moved"))),
            right("LOCKED", row -> count(number(row, "locked"))),
            right("FAILED", row -> count(number(row, "failed"))),
            left("BUCKET", row -> text(row, "bucket")))
        .lines(rows);
  }

  private static List<String> events(JsonNode page) {
    List<String> lines = new ArrayList<>();
    long oldestMs = number(page, "oldestMs");
    String oldest =
        oldestMs == 0 ? "" : ", the oldest from " + Instant.ofEpochSecond(oldestMs / 1000);
    lines.add("waiting: " + text(page, "waiting") + oldest);
    lines.add("lost: " + text(page, "lost"));
    if (number(page, "unknown") > 0) {
      lines.add(
          "of targets that are not configured: "
              + text(page, "unknown")
              + ", such as "
              + page.path("unknownTargets").path(0).asText());
    }
    if (!page.path("delivering").asBoolean()) {
      lines.add("another gateway delivers, and knows how the targets are");
      return lines;
    }
    lines.addAll(
        new Table(
                left("TARGET", row -> text(row, "arn")),
                left("STATE", row -> text(row, "state")),
                right("PENDING", row -> count(number(row, "pending"))),
                right("SENT", row -> text(row, "sent")),
                right("FAILED", row -> count(number(row, "failed"))),
                right("LAST", row -> ifNumber(row, "secondsSinceError", PageText::ago)),
                left("LAST ERROR", row -> text(row, "lastError")))
            .lines(page.path("targets")));
    return lines;
  }

  private static String ago(long seconds) {
    return seconds == 0 ? "" : seconds(seconds);
  }

  /** When a scan ended, or else when it began. */
  private static String scanTime(JsonNode row) {
    long timeMs = Math.max(number(row, "beganMs"), number(row, "endedMs"));
    return timeMs == 0 ? "" : Instant.ofEpochSecond(timeMs / 1000).toString();
  }

  private static String moveState(JsonNode row) {
    String reason = text(row, "reason");
    String state = text(row, "state");
    long found = number(row, "foundBytes");
    if (!reason.isEmpty()) {
      return state + ": " + reason;
    }
    return state.equals("running") && found > 0
        ? state + ", " + 100 * number(row, "passedBytes") / found + " %"
        : state;
  }

  private static String ifNumber(JsonNode row, String field, LongFunction<String> text) {
    JsonNode value = row.path(field);
    return value.isNumber() ? text.apply(value.asLong()) : "";
  }

  private static String seconds(long seconds) {
    return Units.time(Duration.ofSeconds(seconds));
  }

  private static String count(long count) {
    return count == 0 ? "" : Long.toString(count);
  }

  private static List<String> config(JsonNode rows) {
    return new Table(
            left("SETTING", row -> text(row, "name")),
            left("VALUE", row -> text(row, "value")),
            left("FROM", row -> text(row, "from")))
        .lines(rows);
  }

  private static List<String> nodes(JsonNode rows) {
    int chars = idChars(rows, "drives");
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
    int chars = idChars(rows, "drives");
    return new Table(
            right("GROUP", row -> text(row, "group")),
            right("UP", row -> text(row, "up")),
            right("MOVED", row -> text(row, "moved")),
            right("DEBTS", row -> text(row, "debtShards")),
            right("BLOBS", row -> text(row, "debtBlobs")),
            right("BYTES", row -> Units.bytes((double) number(row, "debtBytes"))),
            right("SINCE", PageText::since),
            left("DRIVES", row -> ids(row.path("drives"), chars)))
        .lines(rows);
  }

  private static String since(JsonNode row) {
    JsonNode seconds = row.path("debtSeconds");
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

  private static List<String> usage(JsonNode rows, Table.Column name) {
    return new Table(
            name,
            left("CLASS", row -> text(row, "storageClass")),
            right("OBJECTS", row -> text(row, "objects")),
            right("LIMIT", row -> text(row, "quotaObjects")),
            right("SIZE", row -> Units.bytes((double) number(row, "bytes"))),
            right("LIMIT", row -> limit(row.path("quotaBytes"))),
            right("UPLOADS", row -> Units.bytes((double) number(row, "uploadBytes"))),
            left("STATE", row -> row.path("counted").asBoolean(true) ? "" : "being counted"),
            left("OWNER", row -> text(row, "owner")))
        .lines(rows);
  }

  private static String limit(JsonNode bytes) {
    return bytes.isNumber() ? Units.bytes(bytes.asDouble()) : "";
  }

  private static List<String> scrub(JsonNode page) {
    JsonNode rows = page.path("drives");
    int chars = idChars(rows, "drive");
    return rows.isEmpty()
        ? List.of("This process has no drives: ask those that have.")
        : new Table(
                left("DRIVE", row -> id(text(row, "drive"), chars)),
                left("PROGRESS", PageText::scrubBar),
                left("STATE", PageText::scrubState),
                right("VERIFIED", row -> Units.bytes((double) deep(row, "verifiedBytes"))),
                right("DAMAGED", row -> damagedBlocks(deep(row, "damagedBlocks"))))
            .lines(rows);
  }

  private static String scrubBar(JsonNode row) {
    int percent = row.path("percent").asInt();
    return Progress.bar(percent / 100.0, SCRUB_BAR) + "%4d %%".formatted(percent);
  }

  private static String scrubState(JsonNode row) {
    JsonNode left = row.path("secondsLeft");
    if (row.path("deep").path("running").asBoolean()) {
      return Units.pace(
          row.path("bytesPerSecond").asDouble(),
          left.isNumber() ? Duration.ofSeconds(left.asLong()) : null);
    }
    long finishedMs = deep(row, "finishedMs");
    return finishedMs == 0
        ? "not scrubbed yet"
        : "finished " + Instant.ofEpochSecond(Duration.ofMillis(finishedMs).toSeconds());
  }

  private static String damagedBlocks(long count) {
    return count == 0 ? "" : count + (count == 1 ? " block" : " blocks");
  }

  private static long deep(JsonNode row, String field) {
    return number(row.path("deep"), field);
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

  /** How many characters tell the ids apart that are in a field of the rows. */
  private static int idChars(JsonNode rows, String field) {
    Set<String> ids = new HashSet<>();
    for (JsonNode row : rows) {
      JsonNode value = row.path(field);
      (value.isArray() ? value : List.of(value)).forEach(id -> ids.add(id.asText()));
    }
    int chars = ID_CHARS;
    while (chars < ID_CHARS_ALL && beginnings(ids, chars) < ids.size()) {
      chars++;
    }
    return chars;
  }

  private static long beginnings(Set<String> ids, int chars) {
    return ids.stream().map(each -> id(each, chars)).distinct().count();
  }

  /** Any other page: a line for each field, and for each of its rows. */
  private static List<String> fields(JsonNode page, Rates rates) {
    List<String> lines = new ArrayList<>();
    for (Map.Entry<String, JsonNode> field : page.properties()) {
      String name = field.getKey();
      JsonNode value = field.getValue();
      if (value.isArray() && value.path(0).isObject()) {
        lines.add(name);
        value.forEach(row -> lines.add("  " + line(row)));
      } else {
        String rate = RATED.contains(name) ? rates.seen(name, value.asLong()) : "";
        lines.addAll(Table.wrapped("%-16s ".formatted(name), value(name, value) + rate));
      }
    }
    return lines;
  }

  private static String line(JsonNode row) {
    return row.properties().stream()
        .map(field -> field.getKey() + " " + value(field.getKey(), field.getValue()))
        .collect(Collectors.joining(", "));
  }

  private static String value(String name, JsonNode value) {
    if (value.isArray()) {
      return value.isEmpty() ? "-" : ids(value, ID_CHARS_ALL);
    }
    boolean isBytes = name.equals("bytes") || name.endsWith("Bytes");
    return isBytes ? Units.bytes(value.asDouble()) : value.asText();
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
