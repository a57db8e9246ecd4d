package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.it.harness.Await;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.LongTest;
import dev.ashlar.it.harness.ProcessClock;
import dev.ashlar.it.harness.RawConnection;
import dev.ashlar.it.harness.RawConnection.Answer;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import dev.ashlar.it.harness.SigV4;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The time of day is set ahead by years, while the server runs or is down: locks hold. */
class LockClockIT {
  private static final Duration AHEAD = Duration.ofDays(3_650);
  private static final String LOCKED = "/locked";
  private static final byte[] BODY = new Content(1, 10_000).bytes();

  /** The server refuses signatures of another time. */
  private Duration clientAhead = Duration.ZERO;

  @BeforeAll
  static void needsClocks() {
    assumeTrue(ProcessClock.refusal().isEmpty(), ProcessClock::refusal);
  }

  @BeforeEach
  void agree() {
    clientAhead = Duration.ZERO;
  }

  @LongTest
  void aRunningServersClockIsSet() throws Exception {
    try (ServerProcess server = ServerProcess.start(ServerSpec.named("lock-clock-set"))) {
      ProcessClock clock = server.useOwnClock();
      server.stop();
      server.start();
      Versions versions = put(server);
      clock.set(AHEAD);
      clientAhead = AHEAD;
      requireLocked(server, versions);
    }
  }

  @Test
  void aServerStartsWithAClockThatIsAhead() throws Exception {
    try (ServerProcess server = ServerProcess.start(ServerSpec.named("lock-clock-start"))) {
      Versions versions = put(server);
      server.kill();
      ProcessClock clock = server.useOwnClock();
      clock.set(AHEAD);
      clientAhead = AHEAD;
      server.start();
      requireLocked(server, versions);
      // Nor does starting again bring it nearer.
      server.kill();
      server.start();
      requireLocked(server, versions);
      clock.set(Duration.ZERO);
      clientAhead = Duration.ZERO;
      server.kill();
      server.start();
      requireLocked(server, versions);
      whatIsOverCanBeDeleted(server);
    }
  }

  /** Their ids. */
  private record Versions(String compliance, String governance, String hold) {}

  private Versions put(ServerProcess server) throws IOException {
    Map<String, String> lock = Map.of("x-amz-bucket-object-lock-enabled", "true");
    assertEquals(200, send(server, "PUT", LOCKED, "", new byte[0], lock).status());
    Instant until = Instant.now().plus(Duration.ofDays(30));
    return new Versions(
        put(server, "c", retention("COMPLIANCE", until)),
        put(server, "g", retention("GOVERNANCE", until)),
        put(server, "h", Map.of("x-amz-object-lock-legal-hold", "ON")));
  }

  private static Map<String, String> retention(String mode, Instant until) {
    return Map.of(
        "x-amz-object-lock-mode",
        mode,
        "x-amz-object-lock-retain-until-date",
        until.truncatedTo(ChronoUnit.MILLIS).toString());
  }

  private String put(ServerProcess server, String key, Map<String, String> lock)
      throws IOException {
    Map<String, String> headers = new HashMap<>(lock);
    String checksum = Base64.getEncoder().encodeToString(Content.digest("SHA-256", BODY));
    headers.put("x-amz-checksum-sha256", checksum);
    Answer answer = send(server, "PUT", LOCKED + "/" + key, "", BODY, headers);
    assertEquals(200, answer.status(), answer::toString);
    return Objects.requireNonNull(answer.headers().get("x-amz-version-id"));
  }

  private void requireLocked(ServerProcess server, Versions versions) throws IOException {
    requireLocked(server, "c", versions.compliance());
    requireLocked(server, "g", versions.governance());
    requireLocked(server, "h", versions.hold());
  }

  private void requireLocked(ServerProcess server, String key, String version) throws IOException {
    String path = LOCKED + "/" + key;
    String query = "versionId=" + version;
    Answer refused = send(server, "DELETE", path, query, new byte[0], Map.of());
    assertEquals("403 AccessDenied", refused.status() + " " + refused.code(), key);
    assertArrayEquals(BODY, send(server, "GET", path, query, new byte[0], Map.of()).body(), key);
  }

  /** With the right time again. */
  private void whatIsOverCanBeDeleted(ServerProcess server) throws Exception {
    String id = put(server, "short", retention("COMPLIANCE", Instant.now().plusSeconds(3)));
    Await.until(
        "the retention is over",
        () ->
            send(server, "DELETE", LOCKED + "/short", "versionId=" + id, new byte[0], Map.of())
                    .status()
                == 204);
  }

  private Answer send(
      ServerProcess server,
      String method,
      String path,
      String query,
      byte[] body,
      Map<String, String> headers)
      throws IOException {
    try (RawConnection connection = new RawConnection(server)) {
      SigV4 signature = new SigV4(Instant.now().plus(clientAhead));
      connection.send(signature, method, path, query, body, headers);
      return connection.answer();
    }
  }
}
