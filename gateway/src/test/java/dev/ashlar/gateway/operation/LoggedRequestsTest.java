package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.http.RawClient;
import dev.ashlar.gateway.http.TestServer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What access logs tell of requests, from the socket to the object. */
class LoggedRequestsTest {
  private static final Pattern FIELD = Pattern.compile("\\[[^]]*]|\"[^\"]*\"|[^ ]+");

  private final TestServer server = new TestServer();
  private final TestS3 s3 = new TestS3();
  private final List<String> sent = new ArrayList<>();

  @BeforeEach
  void begin() throws Exception {
    server.start(s3.handler());
    s3.ok(200, "PUT", "/bkt");
    s3.ok(200, "PUT", "/logs");
    s3.ok(
        200,
        TestS3.request("PUT", "/logs?acl")
            .header("x-amz-grant-write", "uri=\"http://acs.amazonaws.com/groups/s3/LogDelivery\""));
    s3.ok(
        200,
        TestS3.request("PUT", "/bkt?logging")
            .body(
                "<BucketLoggingStatus><LoggingEnabled><TargetBucket>logs</TargetBucket>"
                    + "<TargetPrefix/></LoggingEnabled></BucketLoggingStatus>"));
  }

  @AfterEach
  void end() throws Exception {
    server.stopAndCheckNothingIsLeft();
  }

  private RawClient.Answer send(String method, String uri, String headers, String body)
      throws Exception {
    try (RawClient client = server.connect()) {
      RawClient.Answer answer =
          client
              .send(method + " " + uri + " HTTP/1.1\r\nHost: s3.test:9000\r\n" + headers)
              .send("Content-Length: " + body.length() + "\r\n\r\n" + body)
              .answer(method.equals("HEAD"));
      sent.add(answer.header("x-amz-request-id"));
      return answer;
    }
  }

  @Test
  void keysOfClientsAreNotInTheLog() throws Exception {
    String key = "pO3upElrwuEXSoFwCfnZPdSsmt/xWeFa0N9KgDijwVs=";
    String prefix = "x-amz-server-side-encryption-customer-";
    send(
        "PUT",
        "/bkt/k",
        prefix
            + "algorithm: AES256\r\n"
            + prefix
            + "key: "
            + key
            + "\r\n"
            + prefix
            + "key-md5: AAAAAAAAAAAAAAAAAAAAAA==\r\n",
        "x");
    send("GET", "/bkt/k?" + prefix + "key=" + key.replace("/", "%2F"), "", "");
    send("GET", "/bkt/k?X-Amz-Server-Side-Encryption-Customer-Key=" + key, "", "");
    assertFalse(lines().toString().contains("pO3upElrwu"));
  }

  /** The fields of the lines of all requests, in the order in which these were sent. */
  private List<List<String>> lines() throws Exception {
    // The lines of a request are written after its answer.
    server.stopAndCheckNothingIsLeft();
    s3.deliverLogs();
    List<List<String>> lines = new ArrayList<>();
    for (String key : s3.ok(200, "GET", "/logs").each("Contents", "Key")) {
      for (String line : s3.ok(200, "GET", "/logs/" + key).text().lines().toList()) {
        List<String> fields = new ArrayList<>();
        Matcher matcher = FIELD.matcher(line);
        while (matcher.find()) {
          fields.add(matcher.group());
        }
        assertEquals(27, fields.size(), line);
        lines.add(fields);
      }
    }
    lines.sort(Comparator.comparingInt(line -> sent.indexOf(line.get(5))));
    return lines;
  }

  @Test
  void allFieldsOfAWrite() throws Exception {
    RawClient.Answer put =
        send(
            "PUT",
            "/bkt/a%20b%22?x=%22&X-Amz-Signature=secret&y",
            String.join(
                "\r\n",
                "User-Agent: some/1 \"quoted\"",
                "Referer: http://from.test/k?X-Amz-Signature=secret&x-amz-security-token=s",
                ""),
            "hello");
    assertEquals(200, put.status(), put::text);
    List<String> line = lines().getFirst();
    assertTrue(
        line.get(2).matches("\\[\\d\\d/\\w{3}/\\d{4}:\\d\\d:\\d\\d:\\d\\d \\+0000]"),
        line::toString);
    assertTrue(Integer.parseInt(line.get(13)) >= 0, line::toString);
    line.set(2, "TIME");
    line.set(13, "MS");
    assertEquals(
        List.of(
            "owner",
            "bkt",
            "TIME",
            "127.0.0.1",
            "owner",
            put.header("x-amz-request-id"),
            "REST.PUT.OBJECT",
            "a%20b%22",
            "\"PUT /bkt/a%20b%22?x=%22&X-Amz-Signature=-&y HTTP/1.1\"",
            "200",
            "-",
            "-",
            "5",
            "MS",
            "-",
            "\"http://from.test/k?X-Amz-Signature=-&x-amz-security-token=-\"",
            "\"some/1 %22quoted%22\"",
            "-",
            put.header("x-amz-id-2"),
            // What the facts tell of the authenticator of these tests, which needs no signature.
            "SigV4",
            "-",
            "QueryString",
            "s3.test:9000",
            "-",
            "-",
            "-",
            "us-east-1"),
        line);
  }

  @Test
  void uploadsByForm() throws Exception {
    String form =
        String.join(
            "\r\n",
            "--x",
            "Content-Disposition: form-data; name=\"key\"",
            "",
            "k",
            "--x",
            "Content-Disposition: form-data; name=\"file\"",
            "",
            "1",
            "--x--",
            "");
    RawClient.Answer answer =
        send("POST", "/bkt", "Content-Type: multipart/form-data; boundary=x\r\n", form);
    List<String> line = lines().getFirst();
    assertEquals("REST.POST.OBJECT", line.get(6));
    assertEquals("" + answer.status(), line.get(9));
    assertEquals(answer.header("x-amz-id-2"), line.get(18));
  }

  @Test
  void readsAndRefusals() throws Exception {
    send("PUT", "/bkt/k", "", "0123456789");
    send("GET", "/bkt/k", "", "");
    send("GET", "/bkt/k", "Range: bytes=2-4\r\n", "");
    send("HEAD", "/bkt/k", "", "");
    RawClient.Answer none = send("GET", "/bkt/none", "", "");
    send("GET", "/bkt/k", "x-test-owner: anonymous\r\n", "");
    send("GET", "/bkt/k?acl", "x-test-owner: other\r\n", "");
    List<List<String>> lines = lines();
    assertEquals(7, lines.size());
    has(lines, "200 - 10 10", "REST.GET.OBJECT", "k");
    has(lines, "206 - 3 10", "REST.GET.OBJECT", "k");
    has(lines, "200 - - 10", "REST.HEAD.OBJECT", "k");
    has(lines, "404 NoSuchKey " + none.text().length() + " -", "REST.GET.OBJECT", "none");
    List<String> anonymous = lines.stream().filter(line -> line.get(4).equals("-")).findAny().get();
    assertEquals("403", anonymous.get(9));
    List<String> other = lines.stream().filter(line -> line.get(4).equals("other")).findAny().get();
    assertEquals("AccessDenied", other.get(10));
    assertEquals("REST.GET.OBJECT_ACL", other.get(6));
  }

  /**
   * @param told status, error, bytes sent and size
   */
  private static void has(List<List<String>> lines, String told, String operation, String key) {
    assertTrue(
        lines.stream()
            .anyMatch(
                line ->
                    line.get(6).equals(operation)
                        && line.get(7).equals(key)
                        && String.join(" ", line.subList(9, 13)).equals(told)),
        () -> told + " in " + lines);
  }

  @Test
  void eachDeletedKeyHasALine() throws Exception {
    send("PUT", "/bkt/k", "", "x");
    String keys =
        "<Delete><Object><Key>k</Key></Object><Object><Key>x</Key><VersionId>no</VersionId>"
            + "</Object></Delete>";
    send("POST", "/bkt?delete", "Content-MD5: not looked at here\r\n", keys);
    List<List<String>> lines = lines();
    assertEquals(4, lines.size(), lines::toString);
    assertEquals("REST.POST.MULTI_OBJECT_DELETE", lines.get(1).get(6));
    assertEquals("BATCH.DELETE.OBJECT", lines.get(2).get(6));
    assertEquals("k", lines.get(2).get(7));
    assertEquals("204", lines.get(2).get(9));
    assertEquals("NoSuchVersion", lines.get(3).get(10));
    assertEquals(lines.get(1).get(5), lines.get(3).get(5));
  }

  @Test
  void operationsHaveTheirNames() throws Exception {
    List<String> expected = new ArrayList<>();
    for (String each :
        List.of(
            "GET /bkt REST.GET.BUCKET",
            "GET /bkt?list-type=2 REST.GET.BUCKET",
            "GET /bkt?versions REST.GET.BUCKETVERSIONS",
            "HEAD /bkt REST.HEAD.BUCKET",
            "PUT /bkt REST.PUT.BUCKET",
            "GET /bkt?acl REST.GET.ACL",
            "GET /bkt?policy REST.GET.BUCKETPOLICY",
            "GET /bkt?policyStatus REST.GET.POLICY_STATUS",
            "GET /bkt?logging REST.GET.LOGGING_STATUS",
            "GET /bkt?versioning REST.GET.VERSIONING",
            "GET /bkt?location REST.GET.LOCATION",
            "GET /bkt?lifecycle REST.GET.LIFECYCLE",
            "GET /bkt?requestPayment REST.GET.REQUEST_PAYMENT",
            "GET /bkt?publicAccessBlock REST.GET.PUBLIC_ACCESS_BLOCK",
            "GET /bkt?ownershipControls REST.GET.OWNERSHIP_CONTROLS",
            "GET /bkt?tagging REST.GET.TAGGING",
            "GET /bkt?uploads REST.GET.UPLOADS",
            "GET /bkt/k?tagging REST.GET.OBJECT_TAGGING",
            "POST /bkt/k?uploads REST.POST.UPLOADS",
            "PUT /bkt/k?partNumber=1&uploadId=x REST.PUT.PART",
            "GET /bkt/k?uploadId=x REST.GET.UPLOAD",
            "DELETE /bkt/k?uploadId=x REST.DELETE.UPLOAD",
            "POST /bkt/k?uploadId=x REST.POST.UPLOAD",
            "DELETE /bkt/k REST.DELETE.OBJECT",
            "DELETE /bkt?tagging REST.DELETE.TAGGING")) {
      String[] parts = each.split(" ", -1);
      send(parts[0], parts[1], "", "");
      expected.add(parts[2]);
    }
    assertEquals(expected, lines().stream().map(line -> line.get(6)).toList());
  }

  @Test
  void bucketsWithoutALogHaveNone() throws Exception {
    send("PUT", "/logs/k", "", "x");
    send("GET", "/logs/k", "", "");
    send("GET", "/", "", "");
    send("GET", "/none", "", "");
    send("DELETE", "/logs/k", "", "");
    assertEquals(List.of(), lines());
  }

  @Test
  void versionsAreNamed() throws Exception {
    send(
        "PUT",
        "/bkt?versioning",
        "",
        "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>");
    String id = send("PUT", "/bkt/k", "", "x").header("x-amz-version-id");
    send("GET", "/bkt/k?versionId=" + id, "x-test-owner: anonymous\r\n", "");
    List<List<String>> lines = lines();
    assertFalse(id.isEmpty());
    assertEquals(List.of("-", id, id), lines.stream().map(line -> line.get(17)).toList());
  }
}
