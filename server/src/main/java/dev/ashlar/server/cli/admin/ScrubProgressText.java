package dev.ashlar.server.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The drives of {@code /scrub} as people read them: a line for each. */
final class ScrubProgressText {
  private ScrubProgressText() {}

  static List<String> lines(JsonNode drives) {
    List<String> lines = new ArrayList<>();
    drives.forEach(drive -> lines.add(line(drive)));
    if (lines.isEmpty()) {
      lines.add("This process has no drives: ask those that have.");
    }
    return lines;
  }

  private static String line(JsonNode drive) {
    JsonNode deep = drive.path("deep");
    int percent = drive.path("percent").asInt();
    long damaged = deep.path("damagedBlocks").asLong();
    return String.format(
        Locale.ROOT,
        "%s  %s %3d %%  %s%s",
        drive.path("drive").asText(),
        Progress.bar(percent / 100.0),
        percent,
        deep.path("running").asBoolean() ? pace(drive) : rest(deep),
        damaged == 0 ? "" : ", " + damaged + " damaged blocks");
  }

  private static String pace(JsonNode drive) {
    String rate = Units.bytes(drive.path("bytesPerSecond").asDouble()) + "/s";
    JsonNode left = drive.path("secondsLeft");
    return left.isNumber() ? rate + ", " + Units.timeLeft(Duration.ofSeconds(left.asLong())) : rate;
  }

  private static String rest(JsonNode deep) {
    long finishedMs = deep.path("finishedMs").asLong();
    return finishedMs == 0
        ? "not scrubbed yet"
        : "last pass finished "
            + Instant.ofEpochSecond(Duration.ofMillis(finishedMs).toSeconds())
            + ", "
            + Units.bytes(deep.path("verifiedBytes").asDouble());
  }
}
