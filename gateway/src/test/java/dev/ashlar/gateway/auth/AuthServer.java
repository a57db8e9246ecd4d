package dev.ashlar.gateway.auth;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.http.RawClient;
import dev.ashlar.gateway.http.TestServer;
import dev.ashlar.gateway.s3.VirtualHosts;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumValue;
import dev.ashlar.protocol.message.CredentialRow;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

/** A server that answers owner, digest of the payload and its checksum, all of them verified. */
final class AuthServer {
  private final TestServer server = new TestServer();

  /** How often a secret was looked up. */
  final AtomicInteger lookups = new AtomicInteger();

  /** What it says about every body at /leave. */
  static final byte[] MD5_OF_READER = HexFormat.of().parseHex("0123456789abcdef0123456789abcdef");

  AuthServer() throws Exception {
    this(FailedAttempts.unlimited());
  }

  AuthServer(FailedAttempts attempts) throws Exception {
    this(Instant.parse("2013-05-24T00:00:00Z"), attempts, version4 -> version4);
  }

  /** Accepts version 2, too. */
  static AuthServer withVersion2(Instant now) throws Exception {
    VirtualHosts hosts = new VirtualHosts(List.of("s3.amazonaws.com"));
    Clock clock = Clock.fixed(now, ZoneOffset.UTC);
    return new AuthServer(
        now,
        FailedAttempts.unlimited(),
        version4 -> new SigV2Authenticator(version4, hosts, clock, FailedAttempts.unlimited()));
  }

  private AuthServer(
      Instant now, FailedAttempts attempts, Function<SigV4Authenticator, Authenticator> wrap)
      throws Exception {
    server.clock = Clock.fixed(now, ZoneOffset.UTC);
    CredentialRow row =
        CredentialRow.newBuilder()
            .setAccessKey(TestSigner.ACCESS_KEY)
            .setSecretKey(TestSigner.SECRET)
            .setOwner("owner")
            .build();
    SigV4Authenticator version4 =
        new SigV4Authenticator(
            key -> {
              lookups.incrementAndGet();
              return key.equals(row.getAccessKey()) ? Optional.of(row) : Optional.empty();
            },
            null,
            "us-east-1",
            server.clock,
            attempts);
    Authenticator authenticator = wrap.apply(version4);
    server.start(
        exchange -> {
          Authenticator.AuthenticatedRequest request = authenticator.authenticate(exchange);
          boolean isComputed = exchange.rawPath().equals("/compute");
          if (isComputed) {
            request.body().alsoCompute(ChecksumAlgorithm.CHECKSUM_CRC64NVME);
          }
          boolean leavesMd5 = exchange.rawPath().equals("/leave");
          if (leavesMd5) {
            request.body().skipMd5();
          }
          String digest = server.digest(request.body());
          if (leavesMd5) {
            request.body().requireMd5(MD5_OF_READER);
          }
          ChecksumValue checksum = request.body().checksum();
          return TestServer.text(
              request.caller().canonicalId()
                  + digest
                  + checksum.getAlgorithm()
                  + HexFormat.of().formatHex(checksum.getValue().toByteArray()));
        });
  }

  RawClient.Answer answer(String request) throws Exception {
    try (RawClient client = server.connect()) {
      return client.send(request).answer();
    }
  }

  void accepts(String request, String payload) throws Exception {
    String text = answer(request).text();
    assertTrue(text.startsWith("owner" + TestServer.digestOf(payload)), text);
  }

  String refuses(String request, String code) throws Exception {
    String text = answer(request).text();
    assertTrue(text.contains("<Code>" + code + "</Code>"), text);
    return text;
  }

  void stop() throws Exception {
    server.stopAndCheckNothingIsLeft();
  }
}
