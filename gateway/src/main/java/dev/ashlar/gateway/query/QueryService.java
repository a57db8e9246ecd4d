package dev.ashlar.gateway.query;

import dev.ashlar.gateway.audit.AuditEvent;
import dev.ashlar.gateway.auth.FormAuthenticator;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import dev.ashlar.gateway.exchange.HttpExchange.RequestHandler;
import dev.ashlar.gateway.principal.ConnectionFacts;
import dev.ashlar.gateway.principal.Principal;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.process.RateLimitedLog;
import dev.ashlar.protocol.trace.CurrentSpan;
import dev.ashlar.protocol.trace.Span;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import java.io.ByteArrayOutputStream;
import java.time.Clock;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Serves requests of the query protocol, and leaves all others to S3. A request is one of these if
 * it posts a form to / and its signature is for another service than S3, or it has none.
 */
public final class QueryService implements RequestHandler {
  private static final Logger LOG = LoggerFactory.getLogger(QueryService.class);
  private static final RateLimitedLog FAILED = new RateLimitedLog(LOG, Level.WARN);
  private static final int BODY_BYTES_MAX = 128 << 10;
  private static final Pattern ACTION = Pattern.compile("[A-Za-z]{1,64}");
  private static final Pattern UNREADABLE =
      Pattern.compile("[\\x00-\\x1F\\uD800-\\uDFFF\\uFFFE\\uFFFF&&[^\\t\\n\\r]]");

  private final RequestHandler s3;
  private final FormAuthenticator authenticator;
  private final Map<QueryApi, QueryHandler> handlers;
  private final QueryMetrics metrics;
  private final Clock clock;

  public QueryService(
      RequestHandler s3,
      FormAuthenticator authenticator,
      Map<QueryApi, QueryHandler> handlers,
      QueryMetrics metrics,
      Clock clock) {
    this.s3 = s3;
    this.authenticator = authenticator;
    this.handlers = Map.copyOf(handlers);
    this.metrics = metrics;
    this.clock = clock;
  }

  @Override
  public HttpAnswer handle(HttpExchange exchange) throws S3Exception, InterruptedException {
    Optional<QueryApi> api = recognise(exchange);
    return api.isEmpty() ? s3.handle(exchange) : serve(exchange, api.get());
  }

  /** The service that a request is for; empty: S3. */
  private static Optional<QueryApi> recognise(HttpExchange exchange) {
    if (!exchange.method().equals("POST")
        || !exchange.rawPath().equals("/")
        || !isForm(exchange.headers().get(HttpHeaderNames.CONTENT_TYPE, ""))) {
      return Optional.empty();
    }
    String authorization = exchange.headers().get(HttpHeaderNames.AUTHORIZATION);
    if (authorization == null) {
      // Only STS has actions that need no signature. A presigned request of S3 has no form.
      return exchange.rawQuery().isEmpty() ? Optional.of(QueryApi.STS) : Optional.empty();
    }
    for (QueryApi api : QueryApi.values()) {
      if (authorization.contains("/" + api.service() + "/aws4_request")) {
        return Optional.of(api);
      }
    }
    return Optional.empty();
  }

  private static boolean isForm(String contentType) {
    int semicolon = contentType.indexOf(';');
    String type = semicolon < 0 ? contentType : contentType.substring(0, semicolon);
    return type.strip().toLowerCase(Locale.ROOT).equals("application/x-www-form-urlencoded");
  }

  private HttpAnswer serve(HttpExchange exchange, QueryApi api)
      throws S3Exception, InterruptedException {
    long begin = System.nanoTime();
    String operation = "Invalid";
    HttpAnswer answer;
    AuditEvent audit = exchange.audit();
    try {
      Request request = read(exchange, api);
      operation = request.action();
      answer = answer(exchange, api, request);
      if (audit != null) {
        audit.allowed();
      }
    } catch (QueryException e) {
      if (audit != null) {
        CallAudit.failed(audit, e);
      }
      answer = error(api, exchange, e);
    }
    metrics.record(operation, answer.status(), System.nanoTime() - begin);
    return answer;
  }

  private record Request(String action, QueryParameters parameters, @Nullable Principal caller) {}

  /** Reads and authenticates: until then, only the form of the body has been looked at. */
  private Request read(HttpExchange exchange, QueryApi api)
      throws QueryException, InterruptedException {
    AuditEvent audit = exchange.audit();
    if (audit != null) {
      audit.operation(api.service() + ":Invalid");
    }
    byte[] body = body(exchange.body());
    boolean isSigned = exchange.headers().contains(HttpHeaderNames.AUTHORIZATION);
    @Nullable Principal caller = isSigned ? authenticate(exchange, body, api) : null;
    if (audit != null) {
      CallAudit.sender(audit, caller);
    }
    QueryParameters parameters = QueryParameters.parse(body);
    String action =
        parameters
            .optional("Action")
            .filter(name -> ACTION.matcher(name).matches())
            .orElseThrow(
                () ->
                    new QueryException(
                        QueryError.MISSING_ACTION,
                        "The request must contain a valid parameter Action."));
    String version = parameters.optional("Version").orElse(api.version());
    if (!version.equals(api.version())) {
      throw new QueryException(
          QueryError.INVALID_ACTION,
          "Could not find operation " + action + " for version " + version);
    }
    if (audit != null) {
      CallAudit.describe(audit, api, action, parameters);
    }
    describe(CurrentSpan.get(), api, caller == null ? null : action);
    return new Request(action, parameters, caller);
  }

  /**
   * @param action null for a caller without credentials, who may name any
   */
  private static void describe(@Nullable Span span, QueryApi api, @Nullable String action) {
    if (span == null) {
      return;
    }
    span.name(api.name());
    if (action != null) {
      span.add("rpc.method", api.name() + "/" + action);
    }
  }

  private static byte[] body(RequestBody body) throws QueryException, InterruptedException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      for (ByteBuf piece = body.read(); piece != null; piece = body.read()) {
        try {
          if (bytes.size() + piece.readableBytes() > BODY_BYTES_MAX) {
            throw new QueryException(
                QueryError.REQUEST_ENTITY_TOO_LARGE,
                "The request body is longer than " + BODY_BYTES_MAX + " bytes.");
          }
          byte[] copy = new byte[piece.readableBytes()];
          piece.readBytes(copy);
          bytes.writeBytes(copy);
        } finally {
          piece.release();
        }
      }
    } catch (S3Exception e) {
      throw AuthenticationErrors.of(e);
    }
    return bytes.toByteArray();
  }

  private Principal authenticate(HttpExchange exchange, byte[] body, QueryApi api)
      throws QueryException {
    try {
      return authenticator.authenticate(exchange, body, api.service());
    } catch (S3Exception e) {
      throw AuthenticationErrors.of(e);
    }
  }

  private HttpAnswer answer(HttpExchange exchange, QueryApi api, Request request)
      throws QueryException {
    QueryHandler handler = handlers.get(api);
    if (handler == null) {
      throw new QueryException(QueryError.NOT_IMPLEMENTED, api.service() + " is not served.");
    }
    XmlWriter xml =
        new XmlWriter()
            .openRoot(request.action() + "Response", api.namespace())
            .open(request.action() + "Result");
    try {
      if (handler.isUnsigned(request.action())) {
        ConnectionFacts connection = ConnectionFacts.of(exchange, clock.instant());
        handler.handleUnsigned(
            new UnsignedCall(request.action(), request.parameters(), connection), xml);
      } else if (request.caller() != null) {
        handler.handle(call(exchange, api, request, request.caller()), xml);
      } else {
        throw AuthenticationErrors.of(new S3Exception(S3Error.ACCESS_DENIED));
      }
    } catch (MetadataUnavailableException e) {
      throw new QueryException(
          QueryError.SERVICE_UNAVAILABLE, "The service cannot be reached. Please try again.", e);
    }
    xml.close().open("ResponseMetadata").element("RequestId", exchange.requestId()).close().close();
    return xml(200, xml, exchange.requestId());
  }

  private QueryCall call(HttpExchange exchange, QueryApi api, Request request, Principal caller) {
    return new QueryCall(
        api,
        request.action(),
        request.parameters(),
        caller,
        ConnectionFacts.of(exchange, clock.instant()));
  }

  private static HttpAnswer error(QueryApi api, HttpExchange exchange, QueryException e) {
    if (e.getCause() != null && e.error().status() >= 500) {
      FAILED.log("Request " + exchange.requestId() + " of " + api.service() + " failed.", e);
    }
    String message = UNREADABLE.matcher(String.valueOf(e.getMessage())).replaceAll("?");
    XmlWriter xml =
        new XmlWriter()
            .openRoot("ErrorResponse", api.namespace())
            .open("Error")
            .element("Type", e.error().type())
            .element("Code", e.error().code())
            .element("Message", message)
            .close()
            .element("RequestId", exchange.requestId())
            .close();
    return xml(e.error().status(), xml, exchange.requestId());
  }

  private static HttpAnswer xml(int status, XmlWriter document, String requestId) {
    return new HttpAnswer(
        status,
        new DefaultHttpHeaders()
            .set("Content-Type", "text/xml")
            .set("x-amzn-RequestId", requestId)
            .set("Cache-Control", "no-store"),
        new HttpAnswer.Bytes(document.toBytes()));
  }
}
