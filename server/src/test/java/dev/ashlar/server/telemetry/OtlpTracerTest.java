package dev.ashlar.server.telemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.trace.CurrentSpan;
import dev.ashlar.protocol.trace.Span;
import dev.ashlar.protocol.trace.TraceContext;
import dev.ashlar.protocol.trace.Tracer;
import io.opentelemetry.proto.trace.v1.Status.StatusCode;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class OtlpTracerTest {
  private static final TraceContext SAMPLED = new TraceContext(1, 2, 3, TraceContext.SAMPLED);
  private static final TraceContext UNSAMPLED = new TraceContext(1, 2, 3, (byte) 0);

  private final List<io.opentelemetry.proto.trace.v1.Span> ended = new ArrayList<>();

  private Span begin(double ratio, @Nullable TraceContext parent) {
    return new OtlpTracer(ratio, ended::add).begin("some", Tracer.Kind.SERVER, parent);
  }

  private int sampledOf1000(double ratio) {
    int sampled = 0;
    for (int i = 0; i < 1000; i++) {
      sampled += begin(ratio, null).context().isSampled() ? 1 : 0;
    }
    return sampled;
  }

  @Test
  void theRatioDecidesWhereATraceBegins() {
    assertEquals(0, sampledOf1000(0));
    assertEquals(1000, sampledOf1000(1));
    int half = sampledOf1000(0.5);
    assertTrue(half > 350 && half < 650, () -> "half of 1000 is not " + half);
  }

  @Test
  void theParentDecidesOtherwise() {
    assertTrue(begin(0, SAMPLED).isKept());
    Span dropped = begin(1, UNSAMPLED);
    assertFalse(dropped.isKept());
    assertEquals(UNSAMPLED.traceId(), dropped.context().traceId());
    dropped.add("some", 1);
    dropped.end();
    assertEquals(List.of(), ended);
  }

  @Test
  void aSpanHasABoundedNumberOfChildren() {
    Span span = begin(1, null);
    Span before = CurrentSpan.set(span);
    try {
      for (int i = 0; i < OtlpTracer.CHILDREN_MAX; i++) {
        assertEquals(span.context(), CurrentSpan.parent());
      }
      assertNull(CurrentSpan.parent());
      assertNull(CurrentSpan.parent());
    } finally {
      CurrentSpan.set(before);
    }
    span.end();
    assertEquals(
        "2", Collector.attribute(ended.getFirst().getAttributesList(), "ashlar.untraced_children"));
  }

  @Test
  void aSpanIsAsOtlpHasIt() {
    Span span = begin(0, SAMPLED);
    span.name("other");
    span.add("text", "value");
    span.add("number", 7);
    span.failed("SlowDown");
    span.end();
    io.opentelemetry.proto.trace.v1.Span told = ended.getFirst();
    HexFormat hex = HexFormat.of();
    assertEquals("other", told.getName());
    assertEquals(SAMPLED.traceId(), hex.formatHex(told.getTraceId().toByteArray()));
    assertEquals("0000000000000003", hex.formatHex(told.getParentSpanId().toByteArray()));
    assertEquals(8, told.getSpanId().size());
    assertNotEquals(told.getParentSpanId(), told.getSpanId());
    assertEquals("value", Collector.attribute(told.getAttributesList(), "text"));
    assertEquals("7", Collector.attribute(told.getAttributesList(), "number"));
    assertEquals("SlowDown", Collector.attribute(told.getAttributesList(), "error.type"));
    assertEquals(StatusCode.STATUS_CODE_ERROR, told.getStatus().getCode());
    assertTrue(told.getEndTimeUnixNano() >= told.getStartTimeUnixNano());
    assertEquals(
        hex.toHexDigits(span.context().span()), hex.formatHex(told.getSpanId().toByteArray()));
  }
}
