package dev.ashlar.gateway.http;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange.RequestHandler;
import dev.ashlar.gateway.xml.XmlWriter;
import dev.ashlar.protocol.memory.ByteBudget;
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

/** The state that all connections of a server share. */
final class ServerState {
  private static final HexFormat HEX = HexFormat.of().withUpperCase();
  private static final int HOST_ID_BYTES = 48;

  final HttpConfig config;
  final RequestHandler handler;
  final ByteBudget budget;
  final HttpMetrics metrics;
  private final UnavailabilityLog unserved = new UnavailabilityLog(System::nanoTime);
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
      Clock clock) {
    SecureRandom random = new SecureRandom();
    byte[] host = new byte[HOST_ID_BYTES];
    random.nextBytes(host);
    this.config = config;
    this.handler = handler;
    this.budget = budget;
    this.hostId = Base64.getEncoder().encodeToString(host);
    this.encoder = new HeadEncoder(clock, hostId);
    this.admission = new Semaphore(config.limits().requestsMax());
    this.requests = new AtomicLong(random.nextLong());
    this.metrics = new HttpMetrics(meters, budget, connections, this::activeRequests);
  }

  /**
   * Renders an error; logs the reason if the client is asked to retry.
   *
   * @param resource the path as sent; empty when the request could not be read
   */
  HttpAnswer errorAnswer(S3Exception error, String resource, String requestId) {
    if (error.error().isUnserved()) {
      unserved.unserved(error, requestId);
    }
    return ErrorDocument.render(error, resource, requestId, hostId);
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
