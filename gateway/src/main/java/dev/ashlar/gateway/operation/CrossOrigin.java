package dev.ashlar.gateway.operation;

import dev.ashlar.gateway.cors.CorsConfiguration;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpAnswer.ReplacementAnswerException;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.exchange.HttpExchange.RequestHandler;
import dev.ashlar.gateway.operation.shared.Answers;
import dev.ashlar.gateway.operation.shared.BucketDocumentKind;
import dev.ashlar.gateway.operation.shared.KnownDocuments;
import dev.ashlar.gateway.s3.RequestTarget;
import dev.ashlar.gateway.s3.S3Config;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Tells browsers which pages of other origins a bucket answers, as its CORS configuration says. */
final class CrossOrigin {
  /** More are not allowed: each is compared with each header of each rule. */
  private static final int REQUESTED_HEADERS_MAX = 100;

  private static final String NOT_ALLOWED =
      "CORSResponse: This CORS request is not allowed. This is usually because the evalution of"
          + " Origin, request method / Access-Control-Request-Method or"
          + " Access-Control-Request-Headers are not whitelisted by the resource's CORS spec.";

  private final S3Config config;
  private final KnownDocuments<CorsConfiguration> configurations;

  CrossOrigin(MetadataClient metadata, S3Config config) {
    this.config = config;
    this.configurations =
        new KnownDocuments<>(metadata, BucketDocumentKind.CORS, CorsConfiguration::of);
  }

  /**
   * Answers a preflight request. It has no signature, so it is not told whether there is such a
   * bucket.
   *
   * @throws S3Exception AccessForbidden, BadRequest
   */
  HttpAnswer preflight(HttpExchange exchange) throws S3Exception {
    HttpHeaders headers = exchange.headers();
    String origin = headers.get(HttpHeaderNames.ORIGIN);
    if (origin == null) {
      throw new S3Exception(
          S3Error.BAD_REQUEST, "Insufficient information. Origin request header needed.");
    }
    String method = headers.get(HttpHeaderNames.ACCESS_CONTROL_REQUEST_METHOD);
    if (method == null || !CorsConfiguration.METHODS.contains(method)) {
      throw new S3Exception(
          S3Error.BAD_REQUEST, "Invalid Access-Control-Request-Method: " + method);
    }
    RequestTarget target = RequestTarget.of(exchange, config);
    CorsConfiguration configuration = configuration(target.bucket());
    if (configuration == null) {
      throw forbidden(S3Error.ACCESS_FORBIDDEN.message(), method, target);
    }
    List<String> requested = requestedHeaders(headers);
    Map<String, String> answer =
        requested.size() > REQUESTED_HEADERS_MAX
            ? Map.of()
            : configuration.answer(origin, method, requested);
    if (answer.isEmpty()) {
      throw forbidden(NOT_ALLOWED, method, target);
    }
    HttpHeaders answered = Answers.headers();
    answer.forEach(answered::set);
    return Answers.empty(200, answered);
  }

  private static S3Exception forbidden(String message, String method, RequestTarget target) {
    return new S3Exception(S3Error.ACCESS_FORBIDDEN, message)
        .with("Method", method)
        .with("ResourceType", target.scope().name());
  }

  private static List<String> requestedHeaders(HttpHeaders headers) {
    return headers.getAll(HttpHeaderNames.ACCESS_CONTROL_REQUEST_HEADERS).stream()
        .flatMap(list -> Stream.of(list.split(",", -1)))
        .map(String::strip)
        .filter(name -> !name.isEmpty())
        .toList();
  }

  /** Null without one. */
  private @Nullable CorsConfiguration configuration(@Nullable String bucket) throws S3Exception {
    if (bucket == null) {
      return null;
    }
    try {
      KnownDocuments.Known<CorsConfiguration> known = configurations.of(bucket);
      return known == null ? null : known.content();
    } catch (MetadataUnavailableException e) {
      throw new S3Exception(S3Error.SERVICE_UNAVAILABLE, e);
    }
  }

  /** Serves a request that a page may have sent: also an error is for the page to read. */
  HttpAnswer serve(HttpExchange exchange, RequestHandler handler)
      throws S3Exception, InterruptedException {
    Map<String, String> headers = headers(exchange);
    if (headers.isEmpty()) {
      return handler.handle(exchange);
    }
    try {
      return readable(handler.handle(exchange), headers);
    } catch (S3Exception e) {
      throw readable(e, headers);
    }
  }

  /**
   * What the answer to a request tells the browser; nothing if the page may not read it. A client
   * may send Access-Control-Request-Method, which browsers send in preflight requests only. The
   * answer is then about that method instead of the method of the request.
   */
  private Map<String, String> headers(HttpExchange exchange) {
    String origin = exchange.headers().get(HttpHeaderNames.ORIGIN);
    if (origin == null) {
      return Map.of();
    }
    try {
      CorsConfiguration configuration = configuration(RequestTarget.of(exchange, config).bucket());
      return configuration == null
          ? Map.of()
          : configuration.answer(origin, method(exchange), List.of());
    } catch (S3Exception e) {
      return Map.of(); // the request itself is going to tell
    }
  }

  private static String method(HttpExchange exchange) {
    return exchange.headers().get(HttpHeaderNames.ACCESS_CONTROL_REQUEST_METHOD, exchange.method());
  }

  private static HttpAnswer readable(HttpAnswer answer, Map<String, String> headers) {
    headers.forEach(answer.headers()::set);
    if (!(answer.body() instanceof HttpAnswer.Streamed streamed)) {
      return answer;
    }
    HttpAnswer.Writer writer =
        out -> {
          try {
            streamed.writer().writeTo(out);
          } catch (ReplacementAnswerException instead) {
            throw new ReplacementAnswerException(readable(instead.answer(), headers), instead);
          } catch (S3Exception e) {
            throw readable(e, headers);
          }
        };
    return new HttpAnswer(
        answer.status(), answer.headers(), new HttpAnswer.Streamed(streamed.length(), writer));
  }

  private static S3Exception readable(S3Exception error, Map<String, String> headers) {
    headers.forEach(error::withHeader);
    return error;
  }
}
