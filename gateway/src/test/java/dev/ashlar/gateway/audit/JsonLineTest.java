package dev.ashlar.gateway.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonLineTest {
  @Test
  void fieldsWithoutValuesAreLeftOut() throws Exception {
    String line =
        new JsonLine(2048)
            .text("a", "x")
            .text("b", null)
            .flag("c", null)
            .flag("d", true)
            .texts("e", Map.of())
            .texts("f", Map.of("g", "y"))
            .number("h", -1)
            .millis("i", 1_002_003_999L)
            .end();
    assertEquals("{\"a\":\"x\",\"d\":true,\"f\":{\"g\":\"y\"},\"h\":-1,\"i\":1002.003}\n", line);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\",\"decision\":\"allowed\",\"x\":\"",
        "k\"}\n{\"operation\":\"Forged\"}",
        "k\r\n{\"operation\":\"Forged\"}\r\n",
        "k\u0085next", // a line end to some readers, as are the next two
        "k\u2028next",
        "k\u2029next",
        "k\u000bnext\fnext",
        "\\",
        "\\\"",
        "\\u0022",
        "\u0000\u0001\u001b[2Kerased",
        "\u202egnihtemos", // shown from right to left
        "\u200b\ufeff",
        "\ud800", // half of a character
        "\udc00\ud800",
        "Grüße 日本 😀",
        "\u007f\u009b31m"
      })
  void noKeyEndsItsLineOrItsField(String key) throws Exception {
    String line = new JsonLine(2048).text("key", key).text("decision", "denied").end();
    assertTrue(line.endsWith("}\n"), line);
    String inside = line.substring(0, line.length() - 1);
    assertTrue(
        inside.codePoints().noneMatch(c -> Character.isISOControl(c) || isLineEnd(c)), inside);
    assertEquals(Map.of("key", key, "decision", "denied"), AuditLines.parse(inside));
  }

  private static boolean isLineEnd(int c) {
    return c == '\u2028' || c == '\u2029' || Character.getType(c) == Character.FORMAT;
  }

  @Test
  void anyTextIsReadBackAsItWas() throws Exception {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int i = 0; i < 2000; i++) {
      StringBuilder text = new StringBuilder();
      for (int c = random.nextInt(20); c > 0; c--) {
        boolean isRare = random.nextInt(3) == 0;
        text.append((char) random.nextInt(isRare ? 0x10000 : 0x80));
      }
      String line = new JsonLine(2048).text("key", text.toString()).end();
      assertEquals(1, line.lines().count(), "seed " + seed);
      assertEquals(text.toString(), AuditLines.parse(line.strip()).get("key"), "seed " + seed);
    }
  }

  @Test
  void longTextsAreCut() throws Exception {
    String line = new JsonLine(2048).text("path", "\u0001".repeat(20_000)).end();
    String read = AuditLines.parse(line.strip()).get("path");
    assertEquals("\u0001".repeat(2048) + "…", read);
    assertFalse(line.length() > 6 * 2048 + 20);
  }
}
