package dev.ashlar.protocol.trace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TraceContextTest {
  /** The example of W3C's recommendation. */
  private static final String EXAMPLE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  private static TraceContext parsed(String text) {
    return Objects.requireNonNull(TraceContext.parse(text), text);
  }

  @Test
  void theHeaderOfAClientIsRead() {
    TraceContext context = parsed(EXAMPLE);
    assertEquals("4bf92f3577b34da6a3ce929d0e0e4736", context.traceId());
    assertEquals(0x00f067aa0ba902b7L, context.span());
    assertTrue(context.isSampled());
    assertEquals(EXAMPLE, context.toString());
    assertFalse(parsed(EXAMPLE.replace("-01", "-00")).isSampled());
    assertTrue(parsed(EXAMPLE.replace("-01", "-ff")).isSampled(), "other flags may be set, too");
  }

  @Test
  void laterVersionsMayAppend() {
    assertNotNull(TraceContext.parse("01" + EXAMPLE.substring(2)));
    assertNotNull(TraceContext.parse("cc" + EXAMPLE.substring(2) + "-what.the.future.is"));
    assertNull(TraceContext.parse("cc" + EXAMPLE.substring(2) + ".what"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "00",
        "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00F067AA0BA902B7-01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473-600f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g",
        "00_4bf92f3577b34da6a3ce929d0e0e4736_00f067aa0ba902b7_01",
        " 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      })
  void whatIsMalformedIsIgnored(String text) {
    assertNull(TraceContext.parse(text));
  }

  @Test
  void whatIsTooLongIsIgnored() {
    assertNull(TraceContext.parse("01" + EXAMPLE.substring(2) + "-" + "x".repeat(1000)));
  }

  /** Whatever a client sends is a context or none; nothing is thrown. */
  @Property(tries = 2000)
  void garbageIsIgnored(@ForAll long seed) {
    Random random = new Random(seed);
    StringBuilder text = new StringBuilder(EXAMPLE);
    for (int i = random.nextInt(4); i > 0; i--) {
      text.setCharAt(random.nextInt(text.length()), (char) random.nextInt(300));
    }
    text.setLength(random.nextInt(4) == 0 ? random.nextInt(70) : text.length());
    TraceContext context = TraceContext.parse(text.toString());
    if (context != null) {
      assertEquals(text.substring(2), context.toString().substring(2));
    }
  }

  @Property
  void contextsSurviveFrames(@ForAll long high, @ForAll long low, @ForAll byte flags) {
    TraceContext context = new TraceContext(high, low | 1, 77, flags);
    ByteBuffer body = ByteBuffer.allocate(5 + TraceContext.BYTES).putInt(4711).put((byte) 3);
    context.put(body);
    body.flip();
    assertEquals(context, TraceContext.takeFromEnd(body));
    assertEquals(5, body.remaining());
    assertEquals(context, TraceContext.parse(context.toString()));
  }

  @Test
  void aBodyWithoutAContextIsRefused() {
    assertThrows(
        IllegalArgumentException.class,
        () -> TraceContext.takeFromEnd(ByteBuffer.allocate(TraceContext.BYTES - 1)));
    assertThrows(
        IllegalArgumentException.class,
        () -> TraceContext.takeFromEnd(ByteBuffer.allocate(TraceContext.BYTES)),
        "without ids");
  }

  @Test
  void aThreadWorksForTheSpanItWasTold() {
    TraceContext context = parsed(EXAMPLE);
    assertNull(CurrentSpan.parent());
    CurrentSpan.run(context, () -> assertEquals(context, CurrentSpan.parent()));
    assertNull(CurrentSpan.parent());
    TraceContext unsampled = parsed(EXAMPLE.replace("-01", "-00"));
    CurrentSpan.run(
        unsampled,
        () -> {
          assertNull(CurrentSpan.parent());
          assertEquals(unsampled, Objects.requireNonNull(CurrentSpan.get()).context());
          CurrentSpan.run(null, () -> assertNotNull(CurrentSpan.get()));
        });
    assertNull(CurrentSpan.get());
  }
}
