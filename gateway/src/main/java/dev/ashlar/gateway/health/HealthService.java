package dev.ashlar.gateway.health;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.exchange.HttpExchange.RequestHandler;
import dev.ashlar.gateway.s3.VirtualHosts;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;

/**
 * Answers the paths on which MinIO tells its health, and leaves all other requests to S3. Like
 * MinIO, it takes a request for one of these only if it has no signature: objects of a bucket with
 * the name {@code minio} are read by signed requests whatever their keys are.
 */
public final class HealthService implements RequestHandler {
  private static final int OK = 200;
  private static final int UNAVAILABLE = 503;

  private final RequestHandler others;
  private final VirtualHosts hosts;
  private final StoreState state;

  /** What the store can do now. Asked by anybody at any rate. */
  public interface StoreState {
    /** Whether anything can be read. */
    boolean servesReads();

    /** Whether everything can be written. */
    boolean servesAllWrites();
  }

  public HealthService(RequestHandler others, VirtualHosts hosts, StoreState state) {
    this.others = others;
    this.hosts = hosts;
    this.state = state;
  }

  @Override
  public HttpAnswer handle(HttpExchange exchange) throws S3Exception, InterruptedException {
    if (!mayBeForThis(exchange)) {
      return others.handle(exchange);
    }
    return switch (exchange.rawPath()) {
      case "/minio/health/live" -> answer(true);
      case "/minio/health/ready", "/minio/health/cluster/read" -> answer(state.servesReads());
      case "/minio/health/cluster" -> answer(state.servesAllWrites());
      default -> others.handle(exchange);
    };
  }

  /** Signatures are in headers or in the query. */
  private boolean mayBeForThis(HttpExchange exchange) {
    return (exchange.method().equals("GET") || exchange.method().equals("HEAD"))
        && exchange.rawPath().startsWith("/minio/health/")
        && exchange.rawQuery().isEmpty()
        && !exchange.headers().contains(HttpHeaderNames.AUTHORIZATION)
        && hosts.bucket(exchange.headers()) == null;
  }

  private static HttpAnswer answer(boolean isServed) {
    return new HttpAnswer(
        isServed ? OK : UNAVAILABLE,
        new DefaultHttpHeaders().set("Cache-Control", "no-store"),
        new HttpAnswer.Empty());
  }
}
