package dev.ashlar.gateway.http;

import dev.ashlar.gateway.audit.AuditEvent;
import dev.ashlar.gateway.audit.AuditLog;
import dev.ashlar.gateway.error.Denial;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.Client;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange.RequestHandler;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.memory.ByteBudget;
import dev.ashlar.protocol.process.RateLimitedLog;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** The state that all connections of a server share. */
final class ServerState {
  private static final HexFormat HEX = HexFormat.of().withUpperCase();
  private static final int HOST_ID_BYTES = 48;

  final HttpConfig config;
  final RequestHandler handler;
  final ByteBudget budget;
  final HttpMetrics metrics;
  final @Nullable AuditLog audit;
  private final Clock clock;
  private final UnavailabilityLog unserved = new UnavailabilityLog(System::nanoTime);

  /** Requests that failed for a reason that is a fault of the server. */
  final RateLimitedLog failed = limited(RequestTask.class, Level.ERROR);

  /** Answers that broke off. */
  final RateLimitedLog aborted = limited(RequestTask.class, Level.WARN);

  /** Answers that could not be sent. */
  final RateLimitedLog unsent = limited(Outbound.class, Level.ERROR);

  /** Connections that there are too many of. */
  final RateLimitedLog refused = limited(S3Server.class, Level.WARN);

  /** Connections that failed. */
  final RateLimitedLog failures = limited(Connection.class, Level.WARN);

  final HeadEncoder encoder;
  private final String hostId;

  /** One permit per request being served. */
  final Semaphore admission;

  final Set<Connection> connections = ConcurrentHashMap.newKeySet();
  private final AtomicLong requests;
  private volatile boolean closing;

  ServerState(
      HttpConfig config,
      RequestHandler handler,
      ByteBudget budget,
      MeterRegistry meters,
      Clock clock,
      @Nullable AuditLog audit) {
    SecureRandom random = new SecureRandom();
    byte[] host = new byte[HOST_ID_BYTES];
    random.nextBytes(host);
    this.config = config;
    this.handler = handler;
    this.budget = budget;
    this.clock = clock;
    this.audit = audit;
    this.hostId = Base64.getEncoder().encodeToString(host);
    this.encoder = new HeadEncoder(clock, hostId);
    this.admission = new Semaphore(config.limits().requestsMax());
    this.requests = new AtomicLong(random.nextLong());
    this.metrics = new HttpMetrics(meters, budget, connections, this::activeRequests);
  }

  /**
   * Renders an error; logs the reason if the client is asked to retry, unless that is the client's
   * own: who only guesses must not take the place of faults in the log.
   *
   * @param resource the path as sent; empty when the request could not be read
   */
  HttpAnswer errorAnswer(S3Exception error, String resource, String requestId) {
    if (error.error().isUnserved() && error.denial() != Denial.ATTEMPTS) {
      unserved.unserved(error, requestId);
    }
    return ErrorDocument.render(error, resource, requestId, hostId);
  }

  /** Names this server in its answers. */
  String hostId() {
    return hostId;
  }

  /** Begins what the audit log tells about a request; null: there is no audit log. */
  @Nullable AuditEvent auditEvent(RequestHead head, Client client, String requestId) {
    if (audit == null) {
      return null;
    }
    return new AuditEvent(
        new AuditEvent.Origin(
            "s3",
            requestId,
            client.address(),
            client.encrypted(),
            head.headers().get(HttpHeaderNames.USER_AGENT)),
        clock.millis(),
        System.nanoTime());
  }

  private static RateLimitedLog limited(Class<?> from, Level level) {
    return new RateLimitedLog(LoggerFactory.getLogger(from), level);
  }

  private int activeRequests() {
    return config.limits().requestsMax() - admission.availablePermits();
  }

  boolean closing() {
    return closing;
  }

  void beginClosing() {
    closing = true;
  }

  /** Counts, but scattered (the finaliser of SplitMix64), so that ids do not look alike. */
  String nextRequestId() {
    long id = requests.getAndIncrement();
    id = (id ^ (id >>> 30)) * 0xBF58476D1CE4E5B9L;
    id = (id ^ (id >>> 27)) * 0x94D049BB133111EBL;
    id ^= id >>> 31;
    return HEX.toHexDigits(id);
  }

  /** Renders errors as S3's error documents. */
  private static final class ErrorDocument {
    private static final String RETRY_AFTER_SECONDS = "1";
    private static final Pattern UNREADABLE =
        Pattern.compile("[\\x00-\\x1F\\uFFFE\\uFFFF&&[^\\t\\n\\r]]");

    private ErrorDocument() {}

    /**
     * @param resource the path as sent; empty when the request could not be read
     */
    static HttpAnswer render(S3Exception error, String resource, String requestId, String hostId) {
      HttpHeaders headers = new DefaultHttpHeaders();
      error.headers().forEach(headers::set);
      int status = error.error().status();
      if (error.error().isUnserved()) {
        headers.set(HttpHeaderNames.RETRY_AFTER, RETRY_AFTER_SECONDS);
      }
      if (!HeadEncoder.allowsBody(status)) {
        return new HttpAnswer(status, headers, new HttpAnswer.Empty());
      }
      headers.set(HttpHeaderNames.CONTENT_TYPE, "application/xml");
      XmlWriter xml =
          new XmlWriter()
              .open("Error")
              .element("Code", error.error().code())
              .element("Message", readable(String.valueOf(error.getMessage())));
      error.details().forEach((name, value) -> xml.element(name, readable(value)));
      if (!error.details().containsKey("Resource")) {
        xml.element("Resource", readable(resource));
      }
      xml.element("RequestId", requestId).element("HostId", hostId).close();
      return new HttpAnswer(status, headers, new HttpAnswer.Bytes(xml.toBytes()));
    }

    /** Without characters that XML 1.0 cannot hold, so that every parser reads the document. */
    private static String readable(String text) {
      return UNREADABLE.matcher(text).replaceAll("\uFFFD");
    }
  }
}
