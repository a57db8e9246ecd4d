package dev.ashlar.it.hostile;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.RawConnection;
import dev.ashlar.it.harness.RawConnection.Answer;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedServer;
import dev.ashlar.it.harness.SigV4;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.s3.S3Client;

/** Appends and patches that cannot be: each has its error, and the object stays as it is. */
@ExtendWith(SharedServer.class)
class BadChangesIT {
  private static final int SIZE = 200_000;
  private static final int LONG_BODY = 150_000; // more than a stripe: flows to the drives
  private static final byte[] NOTHING = {};
  private static final byte[] TEN = new byte[10];
  private static final String OFFSET = "x-amz-write-offset-bytes";
  private static final String RANGE = "Content-Range";
  private static final String UNSIGNED = "UNSIGNED-PAYLOAD";
  private static final long TOO_LONG = (5L << 30) + 1;

  private final ServerProcess server;
  private final String bucket;
  private final byte[] object = new Content(21, SIZE).bytes();
  private String identity;
  private ChangeClient client;

  BadChangesIT(ServerProcess server) {
    this.server = server;
    try (S3Client s3 = Clients.sync(server)) {
      bucket = Buckets.create(s3, "bad-changes");
    }
  }

  @BeforeAll
  void putInTwoSteps() throws IOException {
    try (ChangeClient first = new ChangeClient(server, bucket)) {
      first.put("k", Arrays.copyOf(object, SIZE / 3));
      Answer grown =
          first.append("POST", "k", SIZE / 3, Arrays.copyOfRange(object, SIZE / 3, SIZE));
      assertEquals(200, grown.status(), grown::toString);
      identity = identity(first.head("k"));
    }
  }

  private static String identity(Answer head) {
    Map<String, String> headers = head.headers();
    return head.status()
        + " "
        + headers.get("etag")
        + " "
        + headers.get("content-length")
        + " "
        + headers.get("last-modified");
  }

  @BeforeEach
  void connect() throws IOException {
    client = new ChangeClient(server, bucket);
  }

  @AfterEach
  void nothingHasChanged() throws IOException {
    client.close();
    try (ChangeClient other = new ChangeClient(server, bucket)) {
      assertEquals(identity, identity(other.head("k")));
      assertArrayEquals(object, other.get("k"));
      assertEquals(404, other.head("absent").status());
    }
  }

  private static void assertError(String expected, Answer answer) {
    assertEquals(expected, answer.status() + " " + answer.code(), answer::toString);
  }

  @ParameterizedTest
  @CsvSource({
    "400 InvalidWriteOffset, 0",
    "400 InvalidWriteOffset, 1",
    "400 InvalidWriteOffset, 65536",
    "400 InvalidWriteOffset, 199999",
    "400 InvalidWriteOffset, 200001",
    "400 InvalidWriteOffset, 5497558138880",
    "400 InvalidWriteOffset, 9223372036854775807",
    "400 InvalidWriteOffset, 9223372036854775808",
    "400 InvalidWriteOffset, 18446744073709751616", // 2^64 + 200,000
    "400 InvalidArgument, -1",
    "400 InvalidArgument, -9223372036854775808",
    "400 InvalidArgument, NaN",
    "400 InvalidArgument, 2e5",
    "400 InvalidArgument, 0x30d40",
    "400 InvalidArgument, 200000.0",
    "400 InvalidArgument, '200000,200000'",
    "400 InvalidArgument, ''"
  })
  void writeOffsets(String expected, String offset) throws IOException {
    assertError(expected, client.send("PUT", "k", "", TEN, Map.of(OFFSET, offset)));
  }

  @ParameterizedTest
  @CsvSource({
    "409 PositionNotEqualToLength, append=&position=0",
    "409 PositionNotEqualToLength, append=&position=199999",
    "409 PositionNotEqualToLength, append=&position=200001",
    "409 PositionNotEqualToLength, append=&position=18446744073709751616",
    "400 InvalidArgument, append=&position=-1",
    "400 InvalidArgument, append=&position=NaN",
    "400 InvalidArgument, append=&position=",
    "400 InvalidArgument, append="
  })
  void positions(String expected, String query) throws IOException {
    for (String method : new String[] {"PUT", "POST"}) {
      try (ChangeClient own = new ChangeClient(server, bucket)) {
        Answer answer = own.send(method, "k", query, TEN, Map.of());
        assertError(expected, answer);
        if (answer.status() == 409) {
          assertEquals("" + SIZE, answer.headers().get("x-rgw-next-append-position"));
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "416 InvalidRange, bytes 200001-200010/*", // begins behind the end
    "416 InvalidRange, bytes 200001-/*",
    "416 InvalidRange, bytes 99999999999999999-100000000000000008/*",
    "416 InvalidRange, bytes 9223372036854775807-/*",
    "416 InvalidRange, bytes 10-1/*", // reversed
    "416 InvalidRange, bytes 9223372036854775807-9223372036854775806/*",
    "416 InvalidRange, bytes=0-9/*", // none at all
    "416 InvalidRange, bytes */*",
    "416 InvalidRange, bytes -/*",
    "416 InvalidRange, bytes 0/*",
    "416 InvalidRange, bytes 0-9",
    "416 InvalidRange, bytes 0-9/",
    "416 InvalidRange, bytes 0-9/NaN",
    "416 InvalidRange, bytes 0-9/-1",
    "416 InvalidRange, bytes -10/*",
    "416 InvalidRange, bytes -1-8/*",
    "416 InvalidRange, bytes 0--9/*",
    "416 InvalidRange, bytes NaN-NaN/*",
    "416 InvalidRange, bytes 0-NaN/*",
    "416 InvalidRange, bytes 0x0-0x9/*",
    "416 InvalidRange, bytes 0.0-9.0/*",
    "416 InvalidRange, 'bytes 0-9,20-29/*'",
    "416 InvalidRange, 'bytes 0-9,5-14/*'", // overlapping
    "416 InvalidRange, 'bytes 0-9/*, bytes 20-29/*'",
    "416 InvalidRange, lines 0-9/*",
    "416 InvalidRange, ''",
    "400 InvalidArgument, bytes 0-8/*", // another length than the body
    "400 InvalidArgument, bytes 0-10/*",
    "400 InvalidArgument, bytes 0-9223372036854775807/*",
    "400 InvalidArgument, bytes 0-18446744073709551625/*", // 2^64 + 9
    "400 InvalidArgument, bytes 18446744073709551616-18446744073709551625/*"
  })
  void ranges(String expected, String range) throws IOException {
    assertError(expected, client.patch("k", range, TEN));
  }

  @Test
  void requestsWithoutWhatTheyNeed() throws IOException {
    Map<String, String> both = Map.of(OFFSET, "" + SIZE);
    String query = "append=&position=" + SIZE;
    assertError("400 InvalidRequest", client.send("PUT", "k", query, TEN, both));
    reconnect();
    assertError("400 MissingContentRange", client.send("PATCH", "k", "", TEN, Map.of()));
  }

  private void reconnect() throws IOException {
    client.close();
    client = new ChangeClient(server, bucket);
  }

  @Test
  void nothingToWrite() throws IOException {
    assertError("400 InvalidRequest", client.append("POST", "k", SIZE, NOTHING));
    reconnect();
    assertError("400 InvalidRequest", client.append("k", SIZE, NOTHING, "X-Other", "1"));
    reconnect();
    assertError("400 InvalidRequest", client.patch("k", "bytes 5-/*", NOTHING));
    reconnect();
    assertError("400 InvalidRequest", client.patch("k", "bytes " + SIZE + "-/*", NOTHING));
    reconnect();
    assertError("400 InvalidArgument", client.patch("k", "bytes 5-5/*", NOTHING));
  }

  @Test
  void objectsThatAreNotThere() throws IOException {
    assertError("404 NoSuchKey", client.patch("absent", 0, TEN));
    reconnect();
    assertError("400 InvalidWriteOffset", client.append("absent", 1, TEN, "X-Other", "1"));
    reconnect();
    Answer position = client.append("POST", "absent", 1, TEN);
    assertError("409 PositionNotEqualToLength", position);
    assertEquals("0", position.headers().get("x-rgw-next-append-position"));
    reconnect();
    assertError("400 InvalidRequest", client.append("POST", "absent", 0, NOTHING));
    reconnect();
    Answer damaged = client.append("absent", 0, TEN, "x-amz-checksum-crc32", "AAAAAA==");
    assertError("400 BadDigest", damaged);
    try (ChangeClient nowhere = new ChangeClient(server, "no-such-bucket")) {
      assertError("404 NoSuchBucket", nowhere.append("POST", "k", 0, TEN));
    }
    try (ChangeClient nowhere = new ChangeClient(server, "no-such-bucket")) {
      assertError("404 NoSuchBucket", nowhere.patch("k", 0, TEN));
    }
  }

  @Test
  void whatAChangeDoesNotHeedIsRefused() throws IOException {
    assertError(
        "501 NotImplemented",
        client.append("k", SIZE, TEN, "If-Unmodified-Since", "Sat, 01 Jan 2000 00:00:00 GMT"));
    reconnect();
    assertError("501 NotImplemented", client.patch("k", 0, TEN, "x-amz-copy-source", "/b/k"));
    reconnect();
    Map<String, String> range = Map.of("Content-Range", "bytes 0-9/*");
    assertError(
        "405 MethodNotAllowed", client.send("PATCH", "k", "partNumber=1&uploadId=a", TEN, range));
    reconnect();
    assertError("400 InvalidRequest", client.send("PUT", "k", "", TEN, range));
    reconnect();
  }

  /** Short ones are held back until they are verified, long ones are on the drives by then. */
  @ParameterizedTest
  @CsvSource({
    "400 BadDigest, x-amz-checksum-crc32, AAAAAA==",
    "400 BadDigest, x-amz-checksum-crc32c, AAAAAA==",
    "400 BadDigest, x-amz-checksum-crc64nvme, AAAAAAAAAAA=",
    "400 BadDigest, x-amz-checksum-sha1, AAAAAAAAAAAAAAAAAAAAAAAAAAA=",
    "400 BadDigest, x-amz-checksum-sha256, AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
    "400 BadDigest, Content-MD5, AAAAAAAAAAAAAAAAAAAAAA==",
    "400 InvalidDigest, Content-MD5, AAAA",
    "400 InvalidRequest, x-amz-checksum-crc32, AAAA",
    "400 InvalidRequest, x-amz-meta-name, value",
    "412 PreconditionFailed, If-Match, \"00000000000000000000000000000000\"",
    "412 PreconditionFailed, If-None-Match, *"
  })
  void headers(String expected, String header, String value) throws IOException {
    for (int length : new int[] {10, LONG_BODY}) {
      byte[] body = new Content(length, length).bytes();
      assertError(expected, client.append("k", SIZE, body, header, value));
      reconnect();
      assertError(expected, client.patch("k", SIZE - 7, body, header, value));
      reconnect();
      assertError(expected, client.patch("k", 5000, body, header, value));
      reconnect();
      Map<String, String> headers = Map.of(header, value);
      assertError(expected, client.send("POST", "k", "append=&position=" + SIZE, body, headers));
      reconnect();
    }
  }

  @Test
  void anObjectThatHasChangedSince() throws IOException {
    String past = "Wed, 01 Jan 2020 00:00:00 GMT";
    assertError("412 PreconditionFailed", client.patch("k", 0, TEN, "If-Unmodified-Since", past));
  }

  @ParameterizedTest
  @ValueSource(strings = {"PUT", "PATCH"})
  void moreThanMayBeAtOnce(String method) throws IOException {
    String header = method.equals("PUT") ? OFFSET : RANGE;
    String[] values =
        method.equals("PUT")
            ? new String[] {"" + SIZE}
            : new String[] {
              "bytes 0-/*",
              "bytes 0-" + (TOO_LONG - 1) + "/*",
              "bytes " + SIZE + "-" + (SIZE + TOO_LONG - 1) + "/*"
            };
    for (String value : values) {
      try (RawConnection connection = begin(method, Map.of(header, value), TOO_LONG)) {
        assertError("400 EntityTooLarge", connection.answer());
      }
    }
  }

  @Test
  void lengthsThatAreNotKnown() throws IOException {
    Map<String, Map<String, String>> requests =
        Map.of("PUT", Map.of(OFFSET, "" + SIZE), "PATCH", Map.of(RANGE, "bytes 0-/*"));
    for (var request : requests.entrySet()) {
      String method = request.getKey();
      Map<String, String> headers = new LinkedHashMap<>(request.getValue());
      try (RawConnection connection = begin(method, headers, UNSIGNED)) {
        assertError("411 MissingContentLength", connection.answer());
      }
      headers.put("Transfer-Encoding", "chunked");
      try (RawConnection connection = begin(method, headers, UNSIGNED)) {
        connection.write("a\r\n0123456789\r\n0\r\n\r\n");
        assertError("501 NotImplemented", connection.answer());
      }
      // The length of a payload in aws-chunked, which these are not.
      headers.put("X-Amz-Decoded-Content-Length", "10");
      String sha256 = Content.sha256("0123456789".getBytes(StandardCharsets.US_ASCII));
      for (String payload : new String[] {UNSIGNED, sha256}) {
        try (RawConnection connection = begin(method, headers, payload)) {
          connection.write("a\r\n0123456789\r\n0\r\n\r\n");
          assertError("411 MissingContentLength", connection.answer());
        }
      }
    }
  }

  @Test
  void payloadsThatDoNotMatchTheirHash() throws IOException {
    byte[] body = new Content(3, LONG_BODY).bytes();
    Map<String, Map<String, String>> requests =
        Map.of(
            "PUT",
            Map.of(OFFSET, "" + SIZE),
            "PATCH",
            Map.of(RANGE, "bytes 100-" + (99 + LONG_BODY) + "/*"));
    for (var request : requests.entrySet()) {
      String other = Content.sha256(NOTHING);
      try (RawConnection connection =
          begin(request.getKey(), request.getValue(), LONG_BODY, other)) {
        connection.write(body);
        assertError("400 XAmzContentSHA256Mismatch", connection.answer());
      }
    }
  }

  /** In the middle of the body, with a reset or with an end; before and after it reached drives. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 20_000, 70_000, LONG_BODY - 1})
  void clientsThatVanish(int sent) throws IOException {
    byte[] body = new Content(4, LONG_BODY).bytes();
    Map<String, Map<String, String>> requests =
        Map.of("PUT", Map.of(OFFSET, "" + SIZE), "PATCH", Map.of(RANGE, "bytes 100-/*"));
    for (var request : requests.entrySet()) {
      RawConnection reset = begin(request.getKey(), request.getValue(), LONG_BODY);
      reset.write(Arrays.copyOf(body, sent));
      reset.reset();
      try (RawConnection ended = begin(request.getKey(), request.getValue(), LONG_BODY)) {
        ended.write(Arrays.copyOf(body, sent));
        ended.shutdownOutput();
        byte[] answer = ended.in().readAllBytes(); // an error or nothing, but an end
        assertTrue(
            answer.length == 0 || answer[9] == '4',
            () -> new String(answer, StandardCharsets.UTF_8));
      } catch (java.net.SocketException cut) {
        // as good an end
      }
    }
  }

  private RawConnection begin(String method, Map<String, String> header, long length)
      throws IOException {
    return begin(method, header, length, UNSIGNED);
  }

  private RawConnection begin(
      String method, Map<String, String> header, long length, String payloadSha256)
      throws IOException {
    Map<String, String> headers = new LinkedHashMap<>(header);
    headers.put("Content-Length", "" + length);
    return begin(method, headers, payloadSha256);
  }

  /** Sends all but the body. */
  private RawConnection begin(String method, Map<String, String> given, String payloadSha256)
      throws IOException {
    RawConnection connection = new RawConnection(server);
    Map<String, String> headers = new LinkedHashMap<>(given);
    headers.put("Host", connection.host());
    String path = "/" + bucket + "/k";
    SigV4 signer = new SigV4(Instant.now());
    connection.writeHead(method, path, signer.sign(method, path, "", payloadSha256, headers));
    return connection;
  }
}
