package dev.ashlar.server.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The page {@code status} as a short report: the state, the problems, then the figures. */
final class StatusReport {
  private static final int NEARLY_FULL_PERCENT = 90;

  private final JsonNode page;
  private final Rates rates;
  private final List<String> lines = new ArrayList<>();
  private final List<String> problems = new ArrayList<>();

  private StatusReport(JsonNode page, Rates rates) {
    this.page = page;
    this.rates = rates;
  }

  static List<String> lines(JsonNode page, Rates rates) {
    StatusReport report = new StatusReport(page, rates);
    report.write();
    return report.lines;
  }

  private void write() {
    boolean isCritical = findUnreadable();
    findOthers();
    line("State", isCritical ? "CRITICAL" : problems.isEmpty() ? "OK" : "DEGRADED");
    for (int i = 0; i < problems.size(); i++) {
      line(i == 0 ? "Problems" : "", problems.get(i));
    }
    line("Survives", survives());
    line("Drives", drives());
    line("Space", space());
    line("Repair", repair());
    for (JsonNode level : page.path("protection").path("levels")) {
      line("", level(level));
    }
    line("Rebalance", rebalance());
    if (page.path("profiles").size() > 1) {
      line("Placement", "epoch " + number("", "epoch"));
      lines.add("");
      lines.addAll(PageText.profiles(page.path("profiles")));
      return;
    }
    line(
        "Placement",
        "epoch %d, profile %s, %,d placement groups, failure domain: %s"
            .formatted(
                number("", "epoch"),
                page.path("profile").asText(),
                number("", "placementGroups"),
                page.path("failureDomain").asText()));
  }

  private void line(String title, String text) {
    lines.addAll(Table.wrapped(String.format("%-12s ", title), text));
  }

  private boolean findUnreadable() {
    problem(number("risk", "unreadableBlobs"), "%s cannot be read", "blob");
    problem(
        number("risk", "unreadableGroups"), "%s without enough drives to read", "placement group");
    if (problems.isEmpty() && isFalse("risk", "allReadable")) {
      problems.add("Some blobs may be unreadable");
      return true;
    }
    return !problems.isEmpty();
  }

  private void findOthers() {
    if (page.path("restored").asBoolean()) {
      problems.add(
          "Metadata was restored from a backup: nothing is deleted or moved before 'ashlar admin"
              + " metadata accept-restore'");
    }
    problem(number("drives", "down"), "%s down", "drive");
    problem(number("drives", "failed"), "%s failed: read-only", "drive");
    problem(number("risk", "atRiskBlobs"), "%s can lose no more shards", "blob");
    problem(number("risk", "atRiskGroups"), "%s can lose no more drives", "placement group");
    problem(number("protection", "debtBlobs"), "%s with debts: missing shards", "blob");
    if (isFalse("protection", "known")) {
      problems.add("Debts of replaced or lost drives are still being counted");
    } else if (isFalse("risk", "known")) {
      problems.add("The risk is not completely known yet");
    }
    long fullest = number("space", "fullestPercent");
    if (fullest >= NEARLY_FULL_PERCENT) {
      problems.add("The fullest drive is " + fullest + " % full");
    }
  }

  private void problem(long count, String text, String thing) {
    if (count > 0) {
      problems.add(text.formatted(count(count, thing)));
    }
  }

  private String survives() {
    JsonNode tolerance = page.path("failureTolerance");
    long drives = tolerance.path("drives").asLong();
    String nodes =
        tolerance.path("nodes").isNumber()
            ? " or " + count(Math.max(0, tolerance.path("nodes").asLong()), "more node")
            : "";
    return drives <= 0 && nodes.isEmpty()
        ? "no further loss"
        : "the loss of any " + count(Math.max(0, drives), "more drive") + nodes;
  }

  private String drives() {
    return String.format(
        Locale.ROOT,
        "%d: %d in, %d draining, %d out",
        number("drives", "total"),
        number("drives", "in"),
        number("drives", "draining"),
        number("drives", "out"));
  }

  private String space() {
    if (!page.path("space").path("fullestPercent").isNumber()) {
      return "not reported yet";
    }
    return "%s used, %s free, fullest drive %d %%; %s live"
        .formatted(
            bytes("space", "usedBytes"),
            bytes("space", "freeBytes"),
            number("space", "fullestPercent"),
            bytes("space", "liveBytes"));
  }

  private String repair() {
    long blobs = number("protection", "debtBlobs");
    return blobs == 0
        ? "nothing to do"
        : count(blobs, "blob") + ", " + bytes("protection", "debtBytes") + " to rebuild";
  }

  private static String level(JsonNode level) {
    long spare = level.path("spare").asLong();
    String blobs = count(level.path("blobs").asLong(), "blob");
    return spare < 0
        ? blobs + " unreadable"
        : blobs + " can lose " + (spare == 0 ? "no more shards" : count(spare, "more shard"));
  }

  private String rebalance() {
    JsonNode moving = page.path("rebalance");
    long blobs = moving.path("blobs").asLong();
    List<String> parts = new ArrayList<>();
    parts.add(
        blobs == 0
            ? "nothing to move"
            : count(blobs, "blob") + ", " + bytes("rebalance", "bytes") + " to move");
    if (moving.path("paused").asBoolean()) {
      parts.addFirst("PAUSED");
    }
    if (isFalse("rebalance", "known")) {
      parts.add("still counting");
    }
    for (String state : List.of("draining", "drained", "coming")) {
      int drives = moving.path(state).size();
      if (drives > 0) {
        parts.add(count(drives, "drive") + " " + (state.equals("coming") ? "joining" : state));
      }
    }
    return String.join(", ", parts);
  }

  private boolean isFalse(String part, String field) {
    JsonNode value = page.path(part).path(field);
    return value.isBoolean() && !value.asBoolean();
  }

  private long number(String part, String field) {
    return (part.isEmpty() ? page : page.path(part)).path(field).asLong();
  }

  private String bytes(String part, String field) {
    long bytes = number(part, field);
    return Units.bytes((double) bytes) + rates.seen(part + "." + field, bytes);
  }

  private static String count(long count, String thing) {
    return String.format(Locale.ROOT, "%,d %s%s", count, thing, count == 1 ? "" : "s");
  }
}
