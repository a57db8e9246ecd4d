package dev.ashlar.gateway.accesslog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.regex.Pattern;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class LogLineTest {
  private static final Pattern FIELDS = Pattern.compile("[^ \"]+ \"[^\"]*\" [^ \"]+ \"[^\"]*\"\n");

  private static String end(LogLine line) {
    return new String(line.end(), StandardCharsets.UTF_8);
  }

  @Test
  void fieldsStandBesideEachOther() {
    LogLine line =
        new LogLine()
            .text("a")
            .time(Instant.parse("2026-02-06T00:00:38.999Z"))
            .number(12)
            .number(-1)
            .text(null)
            .text("")
            .quoted("GET /b/k HTTP/1.1")
            .quoted(null);
    assertEquals(
        "a [06/Feb/2026:00:00:38 +0000] 12 - - - \"GET /b/k HTTP/1.1\" \"-\"\n", end(line));
  }

  @Test
  void nothingEndsAFieldOrTheLine() {
    LogLine line =
        new LogLine().text("a b\r\nc\"").quoted("x \"y\"\n\u00e4").text("\u007f\t").quoted("\\");
    assertEquals("a%20b%0D%0Ac%22 \"x %22y%22%0A%E4\" %7F%09 \"\\\"\n", end(line));
  }

  @Property
  void everyTextLeavesTheFieldsAsTheyAre(@ForAll String one, @ForAll String other) {
    String line = end(new LogLine().text(one).quoted(other).text(other).quoted(one));
    assertTrue(FIELDS.matcher(line).matches(), line);
  }

  @Test
  void longTextsAreCut() {
    assertEquals(4096 + 1, new LogLine().text("x".repeat(100_000)).end().length);
    // With two quotes and the end of the line; a quote becomes three bytes.
    assertEquals(3 * 1024 + 3, new LogLine().quoted("\"".repeat(100_000)).end().length);
  }
}
