package dev.ashlar.server.telemetry;

import com.google.protobuf.ByteString;
import dev.ashlar.protocol.trace.Span;
import dev.ashlar.protocol.trace.TraceContext;
import dev.ashlar.protocol.trace.Tracer;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.trace.v1.Span.SpanKind;
import io.opentelemetry.proto.trace.v1.Status;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Makes spans as OTLP has them. The sampler is the one that OpenTelemetry calls
 * parentbased_traceidratio: the ratio decides where a trace begins, and the rest of it follows.
 */
final class OtlpTracer implements Tracer {
  /** The spans that one span may have as its children; a read of 40 MiB has about as many. */
  static final int CHILDREN_MAX = 256;

  /** The ids of traces that begin here are random. */
  private static final byte RANDOM = 2;

  private final double ratio;
  private final Consumer<io.opentelemetry.proto.trace.v1.Span> ended;

  /**
   * @param ratio of traces that begin here: how many are sampled, 0 to 1
   * @param ended takes each span that has ended; must not block
   */
  OtlpTracer(double ratio, Consumer<io.opentelemetry.proto.trace.v1.Span> ended) {
    this.ratio = ratio;
    this.ended = ended;
  }

  @Override
  public Span begin(String name, Kind kind, @Nullable TraceContext parent) {
    TraceContext context = parent == null ? newTrace() : child(parent);
    return context.isSampled() ? new Kept(name, kind, context, parent) : () -> context;
  }

  private TraceContext newTrace() {
    long high = newId();
    long low = newId();
    boolean isSampled = ratio >= 1 || (low & Long.MAX_VALUE) < (long) (ratio * Long.MAX_VALUE);
    int flags = isSampled ? RANDOM | TraceContext.SAMPLED : RANDOM;
    return new TraceContext(high, low, newId(), (byte) flags);
  }

  private static TraceContext child(TraceContext parent) {
    int flags = parent.flags() & (RANDOM | TraceContext.SAMPLED);
    return new TraceContext(parent.traceHigh(), parent.traceLow(), newId(), (byte) flags);
  }

  private static long newId() {
    long id = 0;
    while (id == 0) {
      id = ThreadLocalRandom.current().nextLong();
    }
    return id;
  }

  /** A span that the collector is told of. */
  private final class Kept implements Span {
    private final TraceContext context;
    private final io.opentelemetry.proto.trace.v1.Span.Builder span;
    private final long beginNanos = System.nanoTime();
    private final AtomicInteger children = new AtomicInteger();

    Kept(String name, Kind kind, TraceContext context, @Nullable TraceContext parent) {
      this.context = context;
      span =
          io.opentelemetry.proto.trace.v1.Span.newBuilder()
              .setName(name)
              .setKind(kindOf(kind))
              .setTraceId(bytes(context.traceHigh(), context.traceLow()))
              .setSpanId(bytes(context.span()))
              .setFlags(context.flags())
              .setStartTimeUnixNano(epochNanos(Instant.now()));
      if (parent != null) {
        span.setParentSpanId(bytes(parent.span()));
      }
    }

    @Override
    public TraceContext context() {
      return context;
    }

    @Override
    public boolean isKept() {
      return true;
    }

    @Override
    public boolean takesChild() {
      return children.incrementAndGet() <= CHILDREN_MAX;
    }

    @Override
    public void name(String name) {
      span.setName(name);
    }

    @Override
    public void add(String name, String value) {
      span.addAttributes(attribute(name, value));
    }

    @Override
    public void add(String name, long value) {
      span.addAttributes(
          KeyValue.newBuilder().setKey(name).setValue(AnyValue.newBuilder().setIntValue(value)));
    }

    @Override
    public void failed(String type) {
      add("error.type", type);
      span.setStatus(Status.newBuilder().setCode(Status.StatusCode.STATUS_CODE_ERROR));
    }

    @Override
    public void end() {
      int left = children.get() - CHILDREN_MAX;
      if (left > 0) {
        add("ashlar.untraced_children", left);
      }
      span.setEndTimeUnixNano(span.getStartTimeUnixNano() + System.nanoTime() - beginNanos);
      ended.accept(span.build());
    }
  }

  static KeyValue attribute(String name, String value) {
    return KeyValue.newBuilder()
        .setKey(name)
        .setValue(AnyValue.newBuilder().setStringValue(value))
        .build();
  }

  private static SpanKind kindOf(Kind kind) {
    return switch (kind) {
      case SERVER -> SpanKind.SPAN_KIND_SERVER;
      case CLIENT -> SpanKind.SPAN_KIND_CLIENT;
      case INTERNAL -> SpanKind.SPAN_KIND_INTERNAL;
    };
  }

  private static ByteString bytes(long... values) {
    ByteBuffer bytes = ByteBuffer.allocate(values.length * Long.BYTES);
    for (long value : values) {
      bytes.putLong(value);
    }
    return ByteString.copyFrom(bytes.flip());
  }

  private static long epochNanos(Instant time) {
    return TimeUnit.SECONDS.toNanos(time.getEpochSecond()) + time.getNano();
  }
}
