package dev.ashlar.gateway.http;

import dev.ashlar.transport.Transport;
import io.netty.channel.ChannelPipeline;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The S3 port.
 *
 * @param listeners at least one
 */
public record HttpConfig(
    List<Listener> listeners,
    Transport transport,
    int eventLoops,
    Limits limits,
    Timeouts timeouts) {

  /**
   * An address of the port.
   *
   * @param address port 0 takes a free one
   * @param tls puts TLS in front of all other handlers of a connection; null: there is no TLS
   */
  public record Listener(InetSocketAddress address, @Nullable Consumer<ChannelPipeline> tls) {}

  /**
   * Memory limits of a request or a connection.
   *
   * @param requestLineBytesMax room for a key of 1,024 bytes, all percent-encoded, and a presigned
   *     query
   * @param connectionsMax connections at once; more are closed
   * @param requestsMax requests being served at once; more are answered SlowDown
   * @param bodyWindowBytes body bytes that wait in memory for their request's thread
   * @param answerWindowBytes answer bytes that wait in memory for the client
   * @param sendBufferBytes of an answer that the kernel holds for the client. Left to itself it
   *     takes megabytes, which slow clients keep; too few hold up distant clients
   * @param collectBytesMax bodies up to this length are collected before the request's thread
   *     starts
   * @param drainBytesMax how much of an unwanted body is read to keep the connection
   */
  public record Limits(
      int requestLineBytesMax,
      int headerBytesMax,
      int connectionsMax,
      int requestsMax,
      int bodyWindowBytes,
      int answerWindowBytes,
      int sendBufferBytes,
      int collectBytesMax,
      int drainBytesMax) {
    public static Limits defaults() {
      return new Limits(
          16 << 10, 16 << 10, 1 << 16, 1024, 2 << 20, 1 << 20, 1 << 20, 64 << 10, 1 << 20);
    }

    public Limits withConnections(int max) {
      return new Limits(
          requestLineBytesMax,
          headerBytesMax,
          max,
          requestsMax,
          bodyWindowBytes,
          answerWindowBytes,
          sendBufferBytes,
          collectBytesMax,
          drainBytesMax);
    }
  }

  /**
   * Time limits for clients.
   *
   * @param idle without a request on a connection
   * @param head from a request's first byte to the end of its headers
   * @param stall in which a waiting body or answer must make progress
   * @param bytesPerSecondMin the progress, averaged over {@code stall}
   * @param linger for a client to read the last answer before the connection is closed
   * @param shutdown for running requests to end when the server closes
   */
  public record Timeouts(
      Duration idle,
      Duration head,
      Duration stall,
      int bytesPerSecondMin,
      Duration linger,
      Duration shutdown) {
    public static Timeouts defaults() {
      return new Timeouts(
          Duration.ofSeconds(120),
          Duration.ofSeconds(20),
          Duration.ofSeconds(20),
          1024,
          Duration.ofSeconds(2),
          Duration.ofSeconds(25));
    }
  }

  public static HttpConfig defaults(List<Listener> listeners) {
    return new HttpConfig(
        listeners,
        Transport.EPOLL,
        Runtime.getRuntime().availableProcessors(),
        Limits.defaults(),
        Timeouts.defaults());
  }

  public HttpConfig withConnections(int max) {
    return new HttpConfig(listeners, transport, eventLoops, limits.withConnections(max), timeouts);
  }

  public HttpConfig withEventLoops(int count) {
    return new HttpConfig(listeners, transport, count, limits, timeouts);
  }

  public HttpConfig withTransport(Transport other) {
    return new HttpConfig(listeners, other, eventLoops, limits, timeouts);
  }
}
