package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.audit.AuditLines;
import dev.ashlar.gateway.audit.AuditLog;
import dev.ashlar.gateway.http.RawClient;
import dev.ashlar.gateway.http.TestServer;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the audit log tells of requests, from the socket to the file. */
class AuditedRequestsTest {
  private static final String REQUESTER_PAYS =
      "<RequestPaymentConfiguration><Payer>Requester</Payer></RequestPaymentConfiguration>";
  private static final String DENY_READS =
      """
      {"Version":"2012-10-17","Statement":[{"Effect":"Deny","Principal":"*",
       "Action":["s3:GetObject","s3:DeleteObject"],"Resource":"arn:aws:s3:::bkt/secret*"}]}""";

  private final TestServer server = new TestServer();
  private final TestS3 s3 = new TestS3("us-east-1", this::failing);

  /** As many commands succeed before metadata is away. */
  private final AtomicInteger commands = new AtomicInteger(Integer.MAX_VALUE);

  private final List<String> sent = new ArrayList<>();
  @TempDir private Path folder;

  @BeforeEach
  void begin() throws Exception {
    server.audit = AuditLog.toFile(folder.resolve("audit"), null);
    server.start(s3.handler());
  }

  private MetadataClient failing(MetadataClient metadata) {
    return (MetadataClient)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {MetadataClient.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("submit") && commands.getAndDecrement() <= 0) {
                throw MetadataUnavailableException.refused("away");
              }
              try {
                return method.invoke(metadata, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  /** All lines of the log in the order in which the requests were sent. */
  private List<Map<String, String>> lines() throws Exception {
    server.stopAndCheckNothingIsLeft();
    Objects.requireNonNull(server.audit).close();
    List<Map<String, String>> lines = AuditLines.read(folder.resolve("audit"));
    // The line of a request is written after its answer.
    lines.sort(Comparator.comparingInt(line -> place(line.get("requestId"))));
    return lines;
  }

  /** One that was not noted is the last one. */
  private int place(@Nullable String requestId) {
    int index = sent.indexOf(requestId);
    return index < 0 ? Integer.MAX_VALUE : index;
  }

  @AfterEach
  void end() throws Exception {
    lines();
  }

  private RawClient.Answer send(String method, String uri, String headers, String body)
      throws Exception {
    try (RawClient client = server.connect()) {
      RawClient.Answer answer =
          client
              .send(method + " " + uri + " HTTP/1.1\r\nHost: s3.test\r\n" + headers)
              .send("Content-Length: " + body.length() + "\r\n\r\n" + body)
              .answer(method.equals("HEAD"));
      sent.add(answer.header("x-amz-request-id"));
      return answer;
    }
  }

  private RawClient.Answer send(String method, String uri) throws Exception {
    return send(method, uri, "", "");
  }

  /** An empty value: the line does not have the field. */
  private static void has(Map<String, String> line, String... namesAndValues) {
    for (int i = 0; i < namesAndValues.length; i += 2) {
      assertEquals(namesAndValues[i + 1], line.getOrDefault(namesAndValues[i], ""), line::toString);
    }
  }

  @Test
  void aLineTellsWhoDidWhatFromWhere() throws Exception {
    send("PUT", "/bkt");
    send(
        "PUT",
        "/bkt?versioning",
        "",
        "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>");
    RawClient.Answer put = send("PUT", "/bkt/k", "User-Agent: some/1\r\n", "hello");
    RawClient.Answer get = send("GET", "/bkt/k?versionId=" + put.header("x-amz-version-id"));
    assertEquals("hello", get.text());
    List<Map<String, String>> lines = lines();
    has(
        lines.get(2),
        "time",
        "2026-11-01T00:00:00.000Z",
        "port",
        "s3",
        "requestId",
        put.header("x-amz-request-id"),
        "remote",
        "127.0.0.1",
        "tls",
        "false",
        "userAgent",
        "some/1",
        "account",
        TestAuthenticator.account("owner"),
        "principal",
        "arn:aws:iam::" + TestAuthenticator.account("owner") + ":root",
        "accessKey",
        "AK",
        "operation",
        "PutObject",
        "bucket",
        "bkt",
        "key",
        "k",
        "versionId",
        put.header("x-amz-version-id"),
        "decision",
        "allowed",
        "deniedBy",
        "",
        "status",
        "200",
        "error",
        "",
        "receivedBytes",
        "5",
        "sentBytes",
        "0");
    assertTrue(Double.parseDouble(lines.get(2).get("durationMs")) >= 0);
    has(lines.get(3), "operation", "GetObject", "status", "200", "sentBytes", "5");
    has(lines.get(3), "versionId", put.header("x-amz-version-id"));
    has(lines.get(3), "requestId", get.header("x-amz-request-id"));
  }

  @Test
  void aLineTellsWhatDenied() throws Exception {
    send("PUT", "/bkt");
    send("PUT", "/bkt/k", "", "data");
    send("PUT", "/bkt?policy", "", DENY_READS);
    send("GET", "/bkt/secret");
    send("GET", "/bkt/k", "x-test-owner: anonymous\r\n", "");
    send("GET", "/bkt/k", "x-test-owner: nobody\r\n", "");
    String none =
        "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Deny\",\"Action\":\"s3:*\",\"Resource\":\"*\"}]}";
    send("PUT", "/bkt/k", "x-test-policy: " + none + "\r\n", "");
    send("GET", "/bkt/k", "x-amz-expected-bucket-owner: else\r\n", "");
    send("GET", "/none/k");
    send("PUT", "/bkt?requestPayment", "", REQUESTER_PAYS);
    send("GET", "/bkt/k", "x-test-owner: other\r\n", "");
    List<Map<String, String>> lines = lines();
    has(lines.get(3), "decision", "denied", "deniedBy", "bucket", "status", "403");
    has(lines.get(3), "error", "AccessDenied", "key", "secret");
    has(lines.get(4), "decision", "denied", "deniedBy", "none", "principal", "anonymous");
    has(lines.get(4), "account", "", "accessKey", "");
    has(lines.get(5), "deniedBy", "authentication", "error", "SignatureDoesNotMatch");
    has(lines.get(5), "operation", "GetObject", "principal", "");
    has(lines.get(6), "deniedBy", "identity", "operation", "PutObject");
    has(lines.get(7), "deniedBy", "owner");
    has(lines.get(8), "decision", "undecided", "error", "NoSuchBucket", "status", "404");
    has(lines.get(10), "decision", "denied", "deniedBy", "payer", "status", "403");
  }

  @Test
  void everyKeyOfDeleteObjectsHasALine() throws Exception {
    send("PUT", "/bkt");
    send("PUT", "/bkt/k", "", "data");
    send("PUT", "/bkt?policy", "", DENY_READS);
    RawClient.Answer answer = delete("k", "secret&#10;{}");
    List<Map<String, String>> lines = lines();
    has(lines.get(3), "operation", "DeleteObjects", "decision", "allowed", "status", "200");
    has(lines.get(4), "operation", "DeleteObjectsKey", "key", "k", "status", "204");
    has(lines.get(4), "decision", "allowed", "bucket", "bkt", "accessKey", "");
    has(lines.get(5), "key", "secret\n{}", "decision", "denied", "deniedBy", "bucket");
    has(lines.get(5), "status", "403", "error", "AccessDenied");
    has(lines.get(5), "requestId", answer.header("x-amz-request-id"));
    assertEquals(6, lines.size());
  }

  private RawClient.Answer delete(String... keys) throws Exception {
    String body =
        "<Delete><Object><Key>"
            + String.join("</Key></Object><Object><Key>", keys)
            + "</Key></Object></Delete>";
    byte[] md5 = MessageDigest.getInstance("MD5").digest(body.getBytes(StandardCharsets.UTF_8));
    String header = "Content-MD5: " + Base64.getEncoder().encodeToString(md5) + "\r\n";
    return send("POST", "/bkt?delete", header, body);
  }

  @Test
  void aDeletionOfSeveralKeysIsAllowedIfOneIs() throws Exception {
    send("PUT", "/bkt");
    send("PUT", "/bkt?policy", "", DENY_READS);
    delete("secret1", "secret2");
    String tooLong = delete("k".repeat(1025)).text();
    assertTrue(tooLong.contains("<Code>KeyTooLongError</Code>"), tooLong);
    List<Map<String, String>> lines = lines();
    has(lines.get(2), "operation", "DeleteObjects", "status", "200");
    has(lines.get(2), "decision", "denied", "deniedBy", "bucket");
    has(lines.get(5), "operation", "DeleteObjects", "decision", "undecided");
    has(lines.get(6), "decision", "undecided", "status", "400", "error", "KeyTooLongError");
  }

  @Test
  void aDeletionThatFailsMidwayTellsOfEachKey() throws Exception {
    send("PUT", "/bkt");
    String[] keys = new String[300];
    Arrays.setAll(keys, i -> "k" + i);
    commands.set(1);
    assertEquals(503, delete(keys).status());
    List<Map<String, String>> lines = lines();
    assertEquals(302, lines.size());
    has(lines.get(1), "operation", "DeleteObjects", "status", "503", "decision", "allowed");
    has(lines.get(2), "key", "k0", "status", "204", "error", "");
    has(lines.get(301), "key", "k299", "status", "503", "error", "ServiceUnavailable");
    has(lines.get(301), "decision", "allowed");
  }

  @Test
  void copiesNameTheirSource() throws Exception {
    send("PUT", "/bkt");
    send("PUT", "/bkt/k", "", "data");
    send("PUT", "/bkt/c", "x-amz-copy-source: /bkt/k\r\n", "");
    has(
        lines().get(2),
        "operation",
        "CopyObject",
        "key",
        "c",
        "sourceBucket",
        "bkt",
        "sourceKey",
        "k",
        "status",
        "200");
  }

  @Test
  void keysCannotForgeALine() throws Exception {
    send("PUT", "/bkt");
    String forged = "k%22%7D%0D%0A%7B%22operation%22%3A%22DeleteBucket%22%7D%0A%C2%85%E2%80%A8";
    assertEquals(200, send("PUT", "/bkt/" + forged, "", "x").status());
    List<Map<String, String>> lines = lines();
    assertEquals(2, lines.size());
    has(lines.get(1), "key", "k\"}\r\n{\"operation\":\"DeleteBucket\"}\n\u0085\u2028");
  }

  @Test
  void neitherSignaturesNorTokensAreInTheLog() throws Exception {
    send(
        "GET",
        "/bkt/k?X-Amz-Signature=SECRET1&X-Amz-Security-Token=SECRET2&versionId=",
        "Authorization: AWS4-HMAC-SHA256 Credential=A/20260101/us-east-1/s3/aws4_request,"
            + " SignedHeaders=host, Signature=SECRET3\r\n"
            + "x-amz-security-token: SECRET4\r\n"
            + "x-amz-server-side-encryption-customer-key: SECRET5\r\n",
        "");
    send("GET", "/bkt?nothing=SECRET6&acl&policy");
    assertEquals(2, lines().size());
    assertFalse(Files.readString(folder.resolve("audit")).contains("SECRET"));
  }

  @Test
  void requestsThatMeanNothingAreShownAsTheyWereSent() throws Exception {
    send("PUT", "/b%ZZ/%0a");
    has(
        lines().getFirst(),
        "operation",
        "Invalid",
        "method",
        "PUT",
        "path",
        "/b%ZZ/%0a",
        "decision",
        "undecided",
        "status",
        "400");
  }

  @Test
  void anAnswerThatTheClientDoesNotTakeIsAborted() throws Exception {
    send("PUT", "/bkt");
    byte[] large = new byte[12 << 20];
    try (RawClient client = server.connect()) {
      client.send(
          "PUT /bkt/k HTTP/1.1\r\nHost: s3.test\r\nContent-Length: " + large.length + "\r\n\r\n");
      RawClient.Answer put = client.send(large).answer();
      assertEquals(200, put.status());
      sent.add(put.header("x-amz-request-id"));
    }
    try (RawClient client = server.connect()) {
      client.send("GET /bkt/k HTTP/1.1\r\nHost: s3.test\r\n\r\n");
      assertEquals(200, client.head().status());
      client.reset();
    }
    Map<String, String> line = lines().get(2);
    has(line, "operation", "GetObject", "status", "200", "aborted", "true");
    assertTrue(Long.parseLong(line.get("sentBytes")) < large.length);
  }

  @Test
  void aHeadSendsNoBytes() throws Exception {
    send("PUT", "/bkt");
    send("PUT", "/bkt/k", "", "data");
    send("HEAD", "/bkt/k");
    send("HEAD", "/bkt/none");
    List<Map<String, String>> lines = lines();
    has(lines.get(2), "operation", "HeadObject", "status", "200", "sentBytes", "0");
    has(lines.get(3), "status", "404", "error", "NoSuchKey", "sentBytes", "0");
    assertNull(lines.get(2).get("aborted"));
  }
}
