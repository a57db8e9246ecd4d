package dev.ashlar.gateway.http;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.RequestHandler;
import dev.ashlar.protocol.memory.ByteBudget;
import io.micrometer.core.instrument.MeterRegistry;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.Base64;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;

/** The state that all connections of a server share. */
final class ServerState {
  private static final char[] HEX = "0123456789ABCDEF".toCharArray();
  private static final int REQUEST_ID_DIGITS = 16;
  private static final int HOST_ID_BYTES = 48;

  private final HttpConfig config;
  private final RequestHandler handler;
  private final ByteBudget budget;
  private final HttpMetrics metrics;
  private final UnavailabilityLog unserved = new UnavailabilityLog(System::nanoTime);
  private final HeadEncoder encoder;
  private final String hostId;
  private final Semaphore admission;
  private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
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
    this.metrics = new HttpMetrics(meters, budget, connections);
  }

  HttpConfig config() {
    return config;
  }

  RequestHandler handler() {
    return handler;
  }

  ByteBudget budget() {
    return budget;
  }

  HttpMetrics metrics() {
    return metrics;
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

  HeadEncoder encoder() {
    return encoder;
  }

  /** One permit per request being served. */
  Semaphore admission() {
    return admission;
  }

  Set<Connection> connections() {
    return connections;
  }

  void opened(Connection connection) {
    connections.add(connection);
  }

  void closed(Connection connection) {
    connections.remove(connection);
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
    char[] digits = new char[REQUEST_ID_DIGITS];
    for (int i = 0; i < REQUEST_ID_DIGITS; i++) {
      digits[i] = HEX[(int) (id >>> (60 - 4 * i)) & 0xF];
    }
    return new String(digits);
  }
}
