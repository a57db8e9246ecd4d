package dev.ashlar.it.hostile;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.RawConnection;
import dev.ashlar.it.harness.RawConnection.Answer;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import dev.ashlar.it.harness.SigV4;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that no SDK would send, over plain sockets. After each the server still serves. */
@ExtendWith(SharedServer.class)
class HostileInputIT {
  private static final byte[] NOTHING = {};

  private final ServerProcess server;
  private final String bucket = "/" + Buckets.name("hostile");

  HostileInputIT(ServerProcess server) {
    this.server = server;
  }

  @BeforeAll
  void createBucket() throws IOException {
    assertEquals(200, once("PUT", bucket, "", NOTHING).status());
  }

  @AfterEach
  void stillServes() throws IOException {
    assertEquals(200, once("GET", bucket, "list-type=2", NOTHING).status());
  }

  @Test
  void bodyShorterThanPromised() throws IOException {
    byte[] body = new Content(1, 100_000).bytes();
    try (RawConnection connection = new RawConnection(server)) {
      Map<String, String> headers = headers(connection);
      headers.put("Content-Length", "" + body.length);
      sendHead(connection, "PUT", "/short", "", Content.sha256(body), headers);
      connection.write(java.util.Arrays.copyOf(body, 70_000));
      connection.shutdownOutput();
      connection.in().readAllBytes(); // an error or nothing, but an end
    } catch (java.net.SocketException reset) {
      // as good an end
    }
    assertAbsent("/short");
  }

  @Test
  void payloadThatDoesNotMatchItsHash() throws IOException {
    byte[] body = new Content(2, 30_000).bytes();
    try (RawConnection connection = new RawConnection(server)) {
      Map<String, String> headers = headers(connection);
      headers.put("Content-Length", "" + body.length);
      sendHead(connection, "PUT", "/hash", "", Content.sha256(NOTHING), headers);
      connection.write(body);
      assertAnswer(400, "XAmzContentSHA256Mismatch", connection.answer());
    }
    assertAbsent("/hash");
  }

  @Test
  void checksumHeaderThatIsWrong() throws IOException {
    try (RawConnection connection = new RawConnection(server)) {
      byte[] body = {1, 2, 3};
      connection.send(
          "PUT", bucket + "/sum", "", body, Map.of("x-amz-checksum-crc32c", "AAAAAA=="));
      assertAnswer(400, "BadDigest", connection.answer());
      connection.send("PUT", bucket + "/sum", "", body, Map.of("x-amz-checksum-sha256", "short"));
      assertAnswer(400, "InvalidRequest", connection.answer());
    }
    assertAbsent("/sum");
  }

  @Test
  void malformedHttpIsRefusedAndTheConnectionClosed() throws IOException {
    List<String> heads =
        List.of(
            "NONSENSE\r\n\r\n",
            "GET\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: x\r\nno colon here\r\n\r\n",
            "GET / HTTP/1.1\r\nHost : x\r\n\r\n",
            "PUT /b/k HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
            "PUT /b/k HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
            "PUT /b/k HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "PUT /b/k HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "GET / HTTP/9.9\r\nHost: x\r\n\r\n",
            "\0\0\0\0\0\0\r\n\r\n");
    for (String head : heads) {
      try (RawConnection connection = new RawConnection(server)) {
        connection.write(head);
        connection.shutdownOutput();
        String answer = new String(connection.in().readAllBytes(), StandardCharsets.UTF_8);
        assertTrue(answer.isEmpty() || answer.matches("(?s)HTTP/1.1 [45].*"), head + answer);
        assertEquals(answer.indexOf("HTTP/1.1"), answer.lastIndexOf("HTTP/1.1"), "two answers");
      } catch (java.net.SocketException reset) {
        // closed at once
      }
    }
  }

  @Test
  void headersAndTargetsBeyondTheLimits() throws IOException {
    try (RawConnection connection = new RawConnection(server)) {
      connection.writeHead("GET", "/", Map.of("Host", "x", "X-Big", "x".repeat(200_000)));
      assertTrue(connection.answer().status() / 100 == 4);
    } catch (java.net.SocketException reset) {
      // the rest of the headers is not read
    }
    try (RawConnection connection = new RawConnection(server)) {
      connection.writeHead("GET", bucket + "/" + "k".repeat(200_000), Map.of("Host", "x"));
      assertTrue(connection.answer().status() / 100 == 4);
    } catch (java.net.SocketException reset) {
      // likewise
    }
    Answer answer = once("PUT", bucket + "/" + "k".repeat(1025), "", NOTHING);
    assertAnswer(400, "KeyTooLongError", answer);
  }

  @ParameterizedTest
  @ValueSource(strings = {"ab", "Upper", "under_score", "-lead", "trail-", "a..b", "192.168.1.1"})
  void badBucketNames(String name) throws IOException {
    assertAnswer(400, "InvalidBucketName", once("PUT", "/" + name, "", NOTHING));
    assertAnswer(400, "InvalidBucketName", once("PUT", "/" + "x".repeat(64), "", NOTHING));
  }

  @Test
  void bodyInChunksIsStoredOnlyWhenItHasEnded() throws IOException {
    try (RawConnection connection = new RawConnection(server)) {
      Map<String, String> headers = headers(connection);
      headers.put("Transfer-Encoding", "chunked");
      sendHead(connection, "PUT", "/chunks", "", "UNSIGNED-PAYLOAD", headers);
      connection.write("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n");
      assertEquals(200, connection.answer().status());
      connection.send("GET", bucket + "/chunks", "", NOTHING, Map.of());
      assertArrayEquals("abcde".getBytes(StandardCharsets.UTF_8), connection.answer().body());
    }
    try (RawConnection connection = new RawConnection(server)) {
      Map<String, String> headers = headers(connection);
      headers.put("Transfer-Encoding", "chunked");
      sendHead(connection, "PUT", "/cut", "", "UNSIGNED-PAYLOAD", headers);
      connection.write("3\r\nabc\r\n");
      connection.shutdownOutput();
      connection.in().readAllBytes();
    } catch (java.net.SocketException reset) {
      // as good an end
    }
    assertAbsent("/cut");
  }

  @Test
  void bodyWithoutLength() throws IOException {
    try (RawConnection connection = new RawConnection(server)) {
      sendHead(connection, "PUT", "/no-length", "", "UNSIGNED-PAYLOAD", headers(connection));
      assertAnswer(411, "MissingContentLength", connection.answer());
    }
  }

  @Test
  void objectLargerThanTheLimit() throws IOException {
    try (RawConnection connection = new RawConnection(server)) {
      Map<String, String> headers = headers(connection);
      headers.put("Content-Length", "" + ((5L << 30) + 1));
      sendHead(connection, "PUT", "/huge", "", "UNSIGNED-PAYLOAD", headers);
      assertAnswer(400, "EntityTooLarge", connection.answer());
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "<",
        "<Delete>",
        "<Delete/>",
        "<Delete><Object/></Delete>",
        "<Other><Object><Key>k</Key></Object></Other>",
        "<!DOCTYPE d [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]>"
            + "<Delete><Object><Key>&b;</Key></Object></Delete>",
        "<!DOCTYPE d [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>"
            + "<Delete><Object><Key>&x;</Key></Object></Delete>",
        "<Delete><Object><Key>\u0001</Key></Object></Delete>"
      })
  void malformedXml(String xml) throws IOException {
    assertAnswer(400, "MalformedXML", deleteObjects(xml));
  }

  @Test
  void deeplyNestedAndOversizedXml() throws IOException {
    assertAnswer(400, "MalformedXML", deleteObjects("<a>".repeat(100_000)));
    String object = "<Object><Key>k</Key></Object>";
    assertAnswer(
        400, "MalformedXML", deleteObjects("<Delete>" + object.repeat(1001) + "</Delete>"));
    Answer huge = deleteObjects("<Delete>" + " ".repeat(5 << 20) + "</Delete>");
    assertTrue(huge.status() == 400, huge::toString);
  }

  private Answer deleteObjects(String xml) throws IOException {
    try (RawConnection connection = new RawConnection(server)) {
      byte[] body = xml.getBytes(StandardCharsets.UTF_8);
      String md5 = java.util.Base64.getEncoder().encodeToString(Content.digest("MD5", body));
      connection.send("POST", bucket, "delete=", body, Map.of("Content-MD5", md5));
      return connection.answer();
    }
  }

  @Test
  void connectionsAreReusableAfterErrors() throws IOException {
    byte[] body = new Content(3, 150_000).bytes();
    try (RawConnection connection = new RawConnection(server)) {
      assertAnswer(404, "NoSuchKey", connection.request("GET", bucket + "/none", "", NOTHING));
      assertAnswer(404, "NoSuchBucket", connection.request("PUT", "/no-bucket-here/k", "", body));
      assertEquals(404, connection.request("HEAD", bucket + "/none", "", NOTHING).status());
      assertAnswer(
          400, "InvalidArgument", connection.request("GET", bucket, "max-keys=many", NOTHING));
      assertEquals(200, connection.request("PUT", bucket + "/reused", "", body).status());
      Answer got = connection.request("GET", bucket + "/reused", "", NOTHING);
      assertArrayEquals(body, got.body());
      assertEquals(204, connection.request("DELETE", bucket + "/reused", "", NOTHING).status());
    }
  }

  @Test
  void pipelinedRequestsAreAnsweredInOrder() throws IOException {
    byte[] body = new Content(4, 20_000).bytes();
    try (RawConnection connection = new RawConnection(server)) {
      connection.send("PUT", bucket + "/piped", "", body, Map.of());
      connection.send("GET", bucket + "/piped", "", NOTHING, Map.of());
      connection.send("GET", bucket + "/none", "", NOTHING, Map.of());
      connection.send("HEAD", bucket + "/piped", "", NOTHING, Map.of());
      connection.send("DELETE", bucket + "/piped", "", NOTHING, Map.of());
      assertEquals(200, connection.answer().status());
      assertArrayEquals(body, connection.answer().body());
      assertAnswer(404, "NoSuchKey", connection.answer());
      assertEquals("20000", connection.answer(true).headers().get("content-length"));
      assertEquals(204, connection.answer().status());
    }
  }

  @Test
  void expectContinueAsksBeforeTheBody() throws IOException {
    byte[] body = new Content(5, 1 << 20).bytes();
    try (RawConnection connection = new RawConnection(server)) {
      Map<String, String> headers = headers(connection);
      headers.put("Content-Length", "" + body.length);
      headers.put("Expect", "100-continue");
      sendHead(connection, "PUT", "/expected", "", Content.sha256(body), headers);
      assertEquals(100, connection.status());
      connection.headers();
      connection.write(body);
      assertEquals(200, connection.answer().status());
    }
    try (RawConnection connection = new RawConnection(server)) {
      Map<String, String> headers = headers(connection);
      headers.put("Content-Length", "" + body.length);
      headers.put("Expect", "100-continue");
      var wrong = new SigV4(Instant.now(), "wrong");
      connection.writeHead(
          "PUT",
          bucket + "/x",
          wrong.sign("PUT", bucket + "/x", "", Content.sha256(body), headers));
      assertEquals(403, connection.status()); // and no 100 before it
    }
  }

  @Test
  void clocksThatDiffer() throws IOException {
    for (Duration skew : List.of(Duration.ofMinutes(-20), Duration.ofMinutes(20))) {
      try (RawConnection connection = new RawConnection(server)) {
        SigV4 signer = new SigV4(Instant.now().plus(skew));
        String empty = Content.sha256(NOTHING);
        connection.writeHead(
            "GET", bucket, signer.sign("GET", bucket, "", empty, headers(connection)));
        assertAnswer(403, "RequestTimeTooSkewed", connection.answer());
      }
    }
  }

  @Test
  void virtualHostStyle() throws IOException {
    try (RawConnection connection = new RawConnection(server)) {
      Map<String, String> host =
          Map.of("Host", bucket.substring(1) + ".localhost:" + server.port());
      byte[] body = {42};
      connection.send("PUT", "/by/host", "", body, host);
      assertEquals(200, connection.answer().status());
      assertArrayEquals(body, connection.request("GET", bucket + "/by/host", "", NOTHING).body());
    }
  }

  private Answer once(String method, String path, String query, byte[] body) throws IOException {
    try (RawConnection connection = new RawConnection(server)) {
      return connection.request(method, path, query, body);
    }
  }

  private void sendHead(
      RawConnection connection,
      String method,
      String key,
      String query,
      String payloadSha256,
      Map<String, String> headers)
      throws IOException {
    SigV4 signer = new SigV4(Instant.now());
    String path = bucket + key;
    connection.writeHead(method, path, signer.sign(method, path, query, payloadSha256, headers));
  }

  private static Map<String, String> headers(RawConnection connection) {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Host", connection.host());
    return headers;
  }

  private void assertAbsent(String key) throws IOException {
    assertAnswer(404, "NoSuchKey", once("GET", bucket + key, "", NOTHING));
  }

  private static void assertAnswer(int status, String code, Answer answer) {
    assertEquals(status + " " + code, answer.status() + " " + answer.code(), answer::toString);
  }
}
