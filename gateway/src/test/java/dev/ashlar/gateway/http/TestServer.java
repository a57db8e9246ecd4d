package dev.ashlar.gateway.http;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.gateway.audit.AuditLog;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange.RequestBody;
import dev.ashlar.gateway.exchange.HttpExchange.RequestHandler;
import dev.ashlar.protocol.memory.ByteBudget;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.util.ResourceLeakDetector;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/** A real server on a loopback port, and proof that it gave back all memory. */
public final class TestServer {
  private static final InetSocketAddress ANY_PORT =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  public static final Duration DEADLINE = Duration.ofSeconds(20);
  public Clock clock = Clock.fixed(Instant.parse("2026-11-01T00:00:00Z"), ZoneOffset.UTC);

  static {
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
  }

  public final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  public final AtomicInteger handlersRunning = new AtomicInteger();
  public ByteBudget budget = new ByteBudget(64 << 20);
  public HttpConfig config = HttpConfig.defaults(List.of(new HttpConfig.Listener(ANY_PORT, null)));
  public @Nullable AuditLog audit;
  private @Nullable S3Server server;
  private long allocationsBefore;

  public void start(RequestHandler handler) throws IOException {
    allocationsBefore = activeAllocations();
    server =
        new S3Server(
            config,
            exchange -> {
              handlersRunning.incrementAndGet();
              try {
                return handler.handle(exchange);
              } finally {
                handlersRunning.decrementAndGet();
              }
            },
            budget,
            meters,
            clock,
            audit);
  }

  /** Timeouts so short that tests may wait for them. */
  public TestServer impatient() {
    Duration shortly = Duration.ofMillis(300);
    HttpConfig.Timeouts timeouts =
        new HttpConfig.Timeouts(
            shortly, shortly, shortly, 100_000, shortly, Duration.ofSeconds(10));
    return with(config.limits(), timeouts);
  }

  public TestServer with(HttpConfig.Limits limits, HttpConfig.Timeouts timeouts) {
    config =
        new HttpConfig(
            config.listeners(), config.transport(), config.eventLoops(), limits, timeouts);
    return this;
  }

  /**
   * @param tls puts TLS in front of every connection
   */
  public TestServer secured(Consumer<ChannelPipeline> tls) {
    config =
        new HttpConfig(
            List.of(new HttpConfig.Listener(ANY_PORT, tls)),
            config.transport(),
            config.eventLoops(),
            config.limits(),
            config.timeouts());
    return this;
  }

  public S3Server running() {
    if (server == null) {
      throw new IllegalStateException("not started");
    }
    return server;
  }

  public RawClient connect() throws IOException {
    return new RawClient(running().address());
  }

  public void stopAndCheckNothingIsLeft() throws InterruptedException {
    if (server != null) {
      server.close();
      assertEquals(0, handlersRunning.get(), "handlers still running");
      assertEquals(0, budget.reservedBytes(), "bytes still reserved");
      assertEquals(allocationsBefore, activeAllocations(), "buffers not released");
    }
  }

  public static long activeAllocations() {
    return PooledByteBufAllocator.DEFAULT.metric().directArenas().stream()
        .mapToLong(arena -> arena.numActiveAllocations())
        .sum();
  }

  public String digest(RequestBody body) throws S3Exception, InterruptedException {
    CRC32C crc = new CRC32C();
    for (ByteBuf piece = body.read(); piece != null; piece = body.read()) {
      crc.update(piece.nioBuffer());
      piece.release();
    }
    return HexFormat.of().toHexDigits(crc.getValue());
  }

  public static String digestOf(String text) {
    return digestOf(text.getBytes(StandardCharsets.ISO_8859_1));
  }

  public static String digestOf(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes);
    return HexFormat.of().toHexDigits(crc.getValue());
  }

  public static HttpAnswer text(String text) {
    return new HttpAnswer(
        200,
        new DefaultHttpHeaders(),
        new HttpAnswer.Bytes(text.getBytes(StandardCharsets.ISO_8859_1)));
  }

  public static HttpAnswer streamed(int length, int pieceBytes) {
    HttpAnswer.Writer writer =
        out -> {
          byte[] content = content(length);
          for (int at = 0; at < length; at += pieceBytes) {
            int bytes = Math.min(pieceBytes, length - at);
            out.write(
                PooledByteBufAllocator.DEFAULT.directBuffer(bytes).writeBytes(content, at, bytes));
          }
        };
    return streamed(length, writer);
  }

  static HttpAnswer streamed(long length, HttpAnswer.Writer writer) {
    return new HttpAnswer(200, new DefaultHttpHeaders(), new HttpAnswer.Streamed(length, writer));
  }

  public static byte[] content(int length) {
    byte[] content = new byte[length];
    for (int i = 0; i < length; i++) {
      content[i] = (byte) (i * 31 + (i >>> 8));
    }
    return content;
  }

  public static ByteBuf wrapped(String text) {
    return Unpooled.copiedBuffer(text, StandardCharsets.ISO_8859_1);
  }
}
