package dev.ashlar.gateway.trace;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.exchange.HttpExchange.RequestHandler;
import dev.ashlar.protocol.trace.CurrentSpan;
import dev.ashlar.protocol.trace.Span;
import dev.ashlar.protocol.trace.TraceContext;
import dev.ashlar.protocol.trace.Tracer;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Gives each request a span, with the attributes that the semantic conventions of OpenTelemetry
 * have for HTTP servers, and continues the trace of the client. What a client sends is not among
 * the attributes, besides the method and the name of the bucket.
 */
public final class TracedRequests implements RequestHandler {
  private static final String TRACEPARENT = "traceparent";
  private static final int SERVER_ERROR = 500;
  private static final Set<String> METHODS =
      Set.of("GET", "HEAD", "PUT", "POST", "PATCH", "DELETE", "OPTIONS");

  private final RequestHandler handler;
  private final Tracer tracer;

  public TracedRequests(RequestHandler handler, Tracer tracer) {
    this.handler = handler;
    this.tracer = tracer;
  }

  /** As {@code handler} does, in a span if there is a tracer. */
  public static RequestHandler of(RequestHandler handler, @Nullable Tracer tracer) {
    return tracer == null ? handler : new TracedRequests(handler, tracer);
  }

  @Override
  public HttpAnswer handle(HttpExchange exchange) throws S3Exception, InterruptedException {
    Span span = tracer.begin(method(exchange), Tracer.Kind.SERVER, parent(exchange));
    Served served = new Served(span);
    Span before = CurrentSpan.set(span);
    exchange.onEnd(
        () -> {
          CurrentSpan.set(before);
          served.end();
        });
    if (!span.isKept()) {
      return handler.handle(exchange);
    }
    describe(span, exchange);
    try {
      return served.watched(handler.handle(exchange), exchange.method().equals("HEAD"));
    } catch (S3Exception e) {
      served.refused(e.error());
      throw e;
    } catch (RuntimeException | Error e) {
      served.refused(S3Error.INTERNAL_ERROR);
      throw e;
    }
  }

  /** The span of the client; null: it names none, or more than one. */
  private static @Nullable TraceContext parent(HttpExchange exchange) {
    List<String> named = exchange.headers().getAll(TRACEPARENT);
    return named.size() == 1 ? TraceContext.parse(named.getFirst()) : null;
  }

  /** As the conventions demand: any other text could be of any length. */
  private static String method(HttpExchange exchange) {
    return METHODS.contains(exchange.method()) ? exchange.method() : "_OTHER";
  }

  private static void describe(Span span, HttpExchange exchange) {
    span.add("http.request.method", method(exchange));
    span.add("url.scheme", exchange.client().encrypted() ? "https" : "http");
    span.add("aws.request_id", exchange.requestId());
    long length = exchange.body().length();
    if (length > 0) {
      span.add("http.request.body.size", length);
    }
  }

  /** A request, and what is known of its answer. */
  private static final class Served {
    private final Span span;
    private boolean isAnswered;

    Served(Span span) {
      this.span = span;
    }

    /** What it is answered with is not certain before a streamed answer was sent. */
    HttpAnswer watched(HttpAnswer answer, boolean isHead) {
      if (isHead || !(answer.body() instanceof HttpAnswer.Streamed streamed)) {
        answered(answer);
        return answer;
      }
      HttpAnswer.Writer writer =
          out -> {
            try {
              streamed.writer().writeTo(out);
              answered(answer);
            } catch (HttpAnswer.ReplacementAnswerException instead) {
              answered(instead.answer());
              throw instead;
            } catch (S3Exception e) {
              refused(e.error());
              throw e;
            }
          };
      return new HttpAnswer(
          answer.status(), answer.headers(), new HttpAnswer.Streamed(streamed.length(), writer));
    }

    private void answered(HttpAnswer answer) {
      isAnswered = true;
      span.add("http.response.status_code", answer.status());
      switch (answer.body()) {
        case HttpAnswer.Bytes bytes -> span.add("http.response.body.size", bytes.content().length);
        case HttpAnswer.Streamed streamed -> span.add("http.response.body.size", streamed.length());
        case HttpAnswer.Empty empty -> {}
      }
      if (answer.status() >= SERVER_ERROR) {
        span.failed(Integer.toString(answer.status()));
      }
    }

    /** That a client is refused is no failure of this server. */
    void refused(S3Error error) {
      isAnswered = true;
      span.add("http.response.status_code", error.status());
      if (error.status() >= SERVER_ERROR) {
        span.failed(error.code());
      } else {
        span.add("error.type", error.code());
      }
    }

    void end() {
      if (!isAnswered) {
        span.failed("aborted");
      }
      span.end();
    }
  }
}
