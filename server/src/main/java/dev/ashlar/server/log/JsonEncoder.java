package dev.ashlar.server.log;

import static java.nio.charset.StandardCharsets.UTF_8;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.encoder.EncoderBase;
import dev.ashlar.gateway.audit.JsonLine;
import dev.ashlar.gateway.http.RequestThread;
import dev.ashlar.protocol.trace.CurrentSpan;
import dev.ashlar.protocol.trace.Span;
import org.jspecify.annotations.Nullable;

/** One JSON object in each line, with the field names of the audit log where both have a field. */
final class JsonEncoder extends EncoderBase<ILoggingEvent> {
  private static final int CHARACTERS_MAX = 64 << 10;

  @Override
  public byte[] headerBytes() {
    return new byte[0];
  }

  @Override
  public byte[] footerBytes() {
    return new byte[0];
  }

  @Override
  public byte[] encode(ILoggingEvent event) {
    return new JsonLine(CHARACTERS_MAX)
        .text("time", event.getInstant().toString())
        .text("level", event.getLevel().toString())
        .text("logger", event.getLoggerName())
        .text("thread", event.getThreadName())
        .text("requestId", RequestThread.requestId(event.getThreadName()))
        .text("trace_id", traceId())
        .text("message", event.getFormattedMessage())
        .text("exception", trace(event.getThrowableProxy()))
        .end()
        .getBytes(UTF_8);
  }

  /** Of the request; the encoder runs on the thread that logs. */
  private static @Nullable String traceId() {
    Span span = CurrentSpan.get();
    return span == null ? null : span.context().traceId();
  }

  private static @Nullable String trace(@Nullable IThrowableProxy thrown) {
    return thrown == null ? null : ThrowableProxyUtil.asString(thrown);
  }
}
