package dev.ashlar.server.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.LoggingEvent;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.ashlar.protocol.trace.CurrentSpan;
import dev.ashlar.protocol.trace.TraceContext;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class JsonEncoderTest {
  private static LoggingEvent event(String thread, String message, @Nullable Throwable thrown) {
    LoggingEvent event =
        new LoggingEvent(
            "",
            new LoggerContext().getLogger("dev.ashlar.Some"),
            Level.WARN,
            message,
            thrown,
            null);
    event.setThreadName(thread);
    event.setInstant(Instant.parse("2026-11-01T00:00:00.123456Z"));
    return event;
  }

  private static JsonNode parsed(LoggingEvent event) throws Exception {
    String line = new String(new JsonEncoder().encode(event), StandardCharsets.UTF_8);
    assertEquals(1, line.lines().count(), line);
    assertTrue(line.endsWith("}\n"), line);
    return new ObjectMapper().readTree(line);
  }

  @Test
  void aLineHasItsFieldsAndTheRequest() throws Exception {
    JsonNode line = parsed(event("request 7155DA5C5D5FD143", "Something\nhappened \"{}\"", null));
    assertEquals("2026-11-01T00:00:00.123456Z", line.get("time").asText());
    assertEquals("WARN", line.get("level").asText());
    assertEquals("dev.ashlar.Some", line.get("logger").asText());
    assertEquals("7155DA5C5D5FD143", line.get("requestId").asText());
    assertEquals("Something\nhappened \"{}\"", line.get("message").asText());
    assertFalse(line.has("exception"));
  }

  @Test
  void aLineOfATracedRequestHasItsTrace() throws Exception {
    CurrentSpan.set(() -> new TraceContext(0x4bf9, 2, 3, TraceContext.SAMPLED));
    try {
      JsonNode line = parsed(event("request 7155DA5C5D5FD143", "happened", null));
      assertEquals("0000000000004bf90000000000000002", line.get("trace_id").asText());
      assertEquals("7155DA5C5D5FD143", line.get("requestId").asText());
    } finally {
      CurrentSpan.set(null);
    }
    assertFalse(parsed(event("request 7155DA5C5D5FD143", "happened", null)).has("trace_id"));
  }

  @Test
  void aStackTraceStaysInItsLine() throws Exception {
    JsonNode line = parsed(event("drive-1", "failed", new IllegalStateException("why\n{}")));
    assertFalse(line.has("requestId"));
    assertTrue(line.get("exception").asText().startsWith("java.lang.IllegalStateException: why"));
    assertTrue(line.get("exception").asText().contains("JsonEncoderTest"));
  }

  @Test
  void linesOfTextNameTheRequestOnce() {
    RequestIdConverter converter = new RequestIdConverter();
    assertEquals("", converter.convert(event("drive-1", "happened", null)));
    assertEquals(" [71FF]", converter.convert(event("request 71FF", "happened", null)));
    assertEquals("", converter.convert(event("request 71FF", "Request 71FF failed.", null)));
  }
}
