package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.gateway.encryption.Encryptions;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange.RequestHandler;
import dev.ashlar.gateway.notification.EventTarget;
import dev.ashlar.gateway.notification.EventTargets;
import dev.ashlar.gateway.s3.AnswerStyle;
import dev.ashlar.gateway.s3.S3Config;
import dev.ashlar.gateway.s3.VirtualHosts;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.model.Profile;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBuf;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Clock;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;

/** The service over fakes: requests in, answers out, no sockets. */
final class TestS3 {
  static final int PART = 5 << 20;

  final MemoryMetadata metadata =
      MemoryMetadata.withDrives(new Profile(4, 2, Profile.DEFAULT_STRIPE_UNIT), 6, 8);
  final MemoryObjectStore store = new MemoryObjectStore(metadata);
  final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final S3Service service;

  TestS3() {
    this("us-east-1");
  }

  /**
   * @param targets that buckets may notify
   */
  TestS3(List<EventTarget> targets) {
    this("us-east-1", metadata -> metadata, targets);
  }

  TestS3(String region) {
    this(region, metadata -> metadata);
  }

  /**
   * @param between stands between the service and its metadata
   */
  TestS3(String region, UnaryOperator<MetadataClient> between) {
    this(region, between, TestKeys.encryptions());
  }

  TestS3(String region, UnaryOperator<MetadataClient> between, Encryptions encryptions) {
    this(region, between, encryptions, List.of());
  }

  TestS3(String region, UnaryOperator<MetadataClient> between, List<EventTarget> targets) {
    this(region, between, TestKeys.encryptions(), targets);
  }

  private TestS3(
      String region,
      UnaryOperator<MetadataClient> between,
      Encryptions encryptions,
      List<EventTarget> targets) {
    this(
        new S3Config(region, new VirtualHosts(List.of("s3.test")), "Owner"),
        between,
        encryptions,
        targets);
  }

  /**
   * @param answers as which service it answers
   */
  TestS3(AnswerStyle answers) {
    this(answers, TestKeys.encryptions());
  }

  TestS3(AnswerStyle answers, Encryptions encryptions) {
    this(
        new S3Config(
            "us-east-1",
            false,
            new VirtualHosts(List.of("s3.test")),
            "Owner",
            S3Config.NewBuckets.OPEN,
            answers),
        metadata -> metadata,
        encryptions,
        List.of());
  }

  private TestS3(
      S3Config config,
      UnaryOperator<MetadataClient> between,
      Encryptions encryptions,
      List<EventTarget> targets) {
    service =
        new S3Service(
            new TestAuthenticator(),
            between.apply(metadata),
            store,
            config,
            encryptions,
            EventTargets.of(targets),
            registry,
            Clock.systemUTC(),
            new Random(1));
  }

  RequestHandler handler() {
    return service;
  }

  /** Delivers the access logs of buckets. */
  void deliverLogs() throws InterruptedException {
    service.accessLog().deliver();
  }

  static TestRequest request(String method, String uri) {
    return new TestRequest(method, uri);
  }

  TestAnswer send(String method, String uri) throws Exception {
    return send(request(method, uri));
  }

  TestAnswer send(String method, String uri, byte[] body) throws Exception {
    return send(request(method, uri).body(body));
  }

  TestAnswer send(String method, String uri, String body) throws Exception {
    return send(request(method, uri).body(body));
  }

  /** Sends and requires this status. */
  TestAnswer ok(int status, TestRequest request) throws Exception {
    TestAnswer answer = send(request);
    assertEquals(
        status,
        answer.status(),
        () -> request.method() + " " + request.rawPath() + ": " + answer.code() + answer.text());
    return answer;
  }

  TestAnswer ok(int status, String method, String uri) throws Exception {
    return ok(status, request(method, uri));
  }

  void refused(String code, TestRequest request) throws Exception {
    TestAnswer answer = send(request);
    assertEquals(code, answer.code(), () -> request.method() + " " + request.rawPath());
  }

  void refused(String code, String method, String uri) throws Exception {
    refused(code, request(method, uri));
  }

  TestAnswer send(TestRequest request) throws Exception {
    return send(service, request);
  }

  /** Sends to what stands before the service. */
  TestAnswer send(RequestHandler handler, TestRequest request) throws Exception {
    try {
      return received(handler.handle(request));
    } catch (S3Exception e) {
      return TestAnswer.of(e);
    } finally {
      request.end();
      assertEquals(0, store.slabs.lentBytes(), "slabs not given back");
    }
  }

  private static TestAnswer received(HttpAnswer answer) throws Exception {
    try {
      return new TestAnswer(answer.status(), "", answer.headers(), bytes(answer.body()), null);
    } catch (HttpAnswer.ReplacementAnswerException e) {
      return received(e.answer());
    }
  }

  /** Sends to a client that goes away after so many bytes. */
  void sendToLeavingClient(TestRequest request, int bytesMax) throws Exception {
    HttpAnswer answer = service.handle(request);
    HttpAnswer.Streamed streamed = (HttpAnswer.Streamed) answer.body();
    int[] left = {bytesMax};
    try {
      streamed
          .writer()
          .writeTo(
              piece -> {
                left[0] -= piece.readableBytes();
                piece.release();
                if (left[0] < 0) {
                  throw new IOException("gone");
                }
              });
    } finally {
      request.end();
      assertEquals(0, store.slabs.lentBytes(), "slabs not given back");
    }
  }

  private static byte[] bytes(HttpAnswer.Body body) throws Exception {
    return switch (body) {
      case HttpAnswer.Empty empty -> new byte[0];
      case HttpAnswer.Bytes bytes -> bytes.content();
      case HttpAnswer.Streamed streamed -> {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        streamed.writer().writeTo(piece -> drain(piece, out));
        assertEquals(streamed.length(), out.size());
        yield out.toByteArray();
      }
    };
  }

  private static void drain(ByteBuf piece, ByteArrayOutputStream out) throws IOException {
    try {
      piece.readBytes(out, piece.readableBytes());
    } finally {
      piece.release();
    }
  }

  static byte[] randomBytes(int length, long seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }
}
