package dev.ashlar.gateway.operation;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.form.FormBody;
import dev.ashlar.gateway.form.PostForm;
import dev.ashlar.metadata.memory.TestProfiles;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SetBucketStorageClass;
import dev.ashlar.protocol.model.Profile;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Uploads by HTML form. */
class PostObjectTest {
  private static final String TAGS =
      "<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>";

  private final TestS3 s3 = new TestS3();

  @BeforeEach
  void makeBucket() throws Exception {
    s3.ok(200, "PUT", "/bkt");
  }

  private static TestRequest post(FormBody form) {
    return TestS3.request("POST", "/bkt").form(form);
  }

  private static FormBody keyed(String key) {
    return new FormBody().field("key", key);
  }

  private String stored(String key) throws Exception {
    return s3.ok(200, "GET", "/bkt/" + key).text();
  }

  private void assertNothingStored() throws Exception {
    assertEquals(List.of(), s3.ok(200, "GET", "/bkt").each("Contents", "Key"));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 9_700, 9_800, 9_999, 10_000, 100_000})
  void filesOfAnySize(int length) throws Exception {
    byte[] content = TestS3.randomBytes(length, length);
    TestAnswer answer = s3.ok(204, post(keyed("a/b c").file("x", content)));
    assertEquals("http://s3.test/bkt/a/b%20c", answer.header("Location"));
    TestAnswer got = s3.ok(200, "GET", "/bkt/a/b%20c");
    assertArrayEquals(content, got.body());
    assertEquals(got.header("ETag"), answer.header("ETag"));
    assertEquals("binary/octet-stream", got.header("Content-Type"));
    assertTrue(answer.headers().contains("x-amz-checksum-crc64nvme"));
  }

  @Test
  void expirationByALifecycleRuleIsTold() throws Exception {
    s3.ok(
        200,
        TestS3.request("PUT", "/bkt?lifecycle")
            .header("Content-MD5", "not looked at here")
            .body(
                "<LifecycleConfiguration><Rule><ID>a</ID><Status>Enabled</Status><Filter/>"
                    + "<Expiration><Days>3</Days></Expiration></Rule></LifecycleConfiguration>"));
    TestAnswer answer = s3.ok(204, post(keyed("k").file("x", "1")));
    assertTrue(answer.header("x-amz-expiration").endsWith("rule-id=\"a\""), answer::toString);
  }

  @ParameterizedTest
  @CsvSource({"/bkt, s3.test", "/bkt/, s3.test", "/, bkt.s3.test"})
  void pathStyleAndVirtualHostStyle(String path, String host) throws Exception {
    TestRequest request =
        TestS3.request("POST", path)
            .form(keyed("k").field("success_action_status", "201").file("x", "1"));
    request.headers().set("Host", host);
    TestAnswer answer = s3.ok(201, request);
    String base = path.equals("/") ? "http://bkt.s3.test" : "http://s3.test/bkt";
    assertEquals(base + "/k", answer.element("Location"));
    assertEquals("bkt", answer.element("Bucket"));
    assertEquals("k", answer.element("Key"));
    assertEquals(answer.header("ETag"), answer.element("ETag"));
    assertEquals("1", stored("k"));
  }

  @Test
  void fieldsDescribeTheObject() throws Exception {
    s3.ok(
        204,
        post(
            new FormBody()
                .field("KEY", "k")
                .field("content-TYPE", "text/plain; charset=utf-8")
                .field("Cache-Control", "no-cache")
                .field("Content-Disposition", "inline")
                .field("Content-Encoding", "identity")
                .field("Content-Language", "de")
                .field("Expires", "0")
                .field("X-Amz-Meta-Color", "blau ü")
                .field("tagging", TAGS)
                .field("unknown", "is ignored")
                .file("x", "1")));
    TestAnswer got = s3.ok(200, "HEAD", "/bkt/k");
    assertEquals("text/plain; charset=utf-8", got.header("Content-Type"));
    assertEquals("no-cache", got.header("Cache-Control"));
    assertEquals("inline", got.header("Content-Disposition"));
    assertEquals("identity", got.header("Content-Encoding"));
    assertEquals("de", got.header("Content-Language"));
    assertEquals("0", got.header("Expires"));
    assertEquals("blau Ã¼", got.header("x-amz-meta-color"));
    assertEquals("1", got.header("x-amz-tagging-count"));
  }

  @Test
  void headersOfTheRequestDescribeNothing() throws Exception {
    s3.ok(204, post(keyed("k").file("x", "1")).header("Cache-Control", "max-age=0"));
    TestAnswer got = s3.ok(200, "HEAD", "/bkt/k");
    assertEquals("", got.header("Cache-Control"));
    assertEquals("binary/octet-stream", got.header("Content-Type"));
  }

  @ParameterizedTest
  @CsvSource({
    "up/${filename}, C:\\dir\\a.txt, up/a.txt",
    "${filename}-${filename}, a/b, b-b",
    "x${filename}, '', x",
    "$filename, a, $filename"
  })
  void keysContainTheNameOfTheFile(String key, String fileName, String expected) throws Exception {
    s3.ok(204, post(keyed(key).file(fileName, "1")));
    assertEquals(List.of(expected), s3.ok(200, "GET", "/bkt").each("Contents", "Key"));
  }

  @ParameterizedTest
  @CsvSource({"200, 200", "201, 201", "204, 204", "'', 204", "404, 204", "303, 204"})
  void statusThatIsAskedFor(String asked, int status) throws Exception {
    TestAnswer answer =
        s3.ok(status, post(keyed("k").field("success_action_status", asked).file("x", "1")));
    assertEquals(status == 201, answer.text().contains("<PostResponse><Location>"));
  }

  @ParameterizedTest
  @CsvSource({
    "https://a.test/ok, https://a.test/ok?QUERY",
    "http://a.test/?x=1, http://a.test/?x=1&QUERY",
    "http://a.test/#top, http://a.test/?QUERY#top"
  })
  void redirect(String url, String expected) throws Exception {
    for (String field : List.of("success_action_redirect", "redirect")) {
      TestAnswer answer = s3.ok(303, post(keyed("a b&c").field(field, url).file("x", "1")));
      String query = "bucket=bkt&key=a%20b%26c&etag=%22c4ca4238a0b923820dcc509a6f75849b%22";
      assertEquals(expected.replace("QUERY", query), answer.header("Location"));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "x",
        "/relative",
        "javascript:alert(1)",
        "data:text/html,x",
        "http:",
        "http://",
        "ftp://a.test/",
        "http://a.test/\r\nSet-Cookie: a=b",
        "http://a.test/ x",
        "//a.test/"
      })
  void redirectsThatNoBrowserCanFollowAreIgnored(String url) throws Exception {
    s3.ok(204, post(keyed("k").field("success_action_redirect", url).file("x", "1")));
  }

  @Test
  void checksums() throws Exception {
    String right = "wK0PrZ9eKZvyaUnBHzBbOYNbvDmIAa2KOaRbdJUY8Es=";
    String sha =
        Base64.getEncoder()
            .encodeToString(TestAuthenticator.digest("SHA-256", "1".getBytes(UTF_8)).toByteArray());
    TestAnswer answer =
        s3.ok(204, post(keyed("k").field("x-amz-checksum-sha256", sha).file("x", "1")));
    assertEquals(sha, answer.header("x-amz-checksum-sha256"));
    answer = s3.ok(204, post(keyed("k").field("x-amz-checksum-algorithm", "SHA1").file("x", "1")));
    assertTrue(answer.headers().contains("x-amz-checksum-sha1"));
    s3.ok(204, "DELETE", "/bkt/k");
    s3.refused("BadDigest", post(keyed("k").field("x-amz-checksum-sha256", right).file("x", "1")));
    s3.refused(
        "InvalidRequest",
        post(
            keyed("k")
                .field("x-amz-checksum-algorithm", "SHA1")
                .field("x-amz-checksum-sha256", sha)
                .file("x", "1")));
    assertNothingStored();
  }

  @Test
  void versionsAndLocks() throws Exception {
    s3.ok(200, TestS3.request("PUT", "/locked").header("x-amz-bucket-object-lock-enabled", "true"));
    UnaryOperator<FormBody> lock =
        form ->
            form.field("key", "k")
                .field("x-amz-object-lock-mode", "GOVERNANCE")
                .field("x-amz-object-lock-retain-until-date", "2099-01-01T00:00:00Z")
                .field("x-amz-object-lock-legal-hold", "ON");
    s3.refused(
        "InvalidRequest",
        TestS3.request("POST", "/locked").form(lock.apply(new FormBody()).file("x", "1")));
    TestAnswer answer =
        s3.ok(
            204,
            TestS3.request("POST", "/locked")
                .form(
                    lock.apply(new FormBody())
                        .field("Content-MD5", "xMpCOKC5I4INzFCab3WEmw==")
                        .file("x", "1")));
    TestAnswer got = s3.ok(200, "HEAD", "/locked/k");
    assertEquals(got.header("x-amz-version-id"), answer.header("x-amz-version-id"));
    assertEquals("GOVERNANCE", got.header("x-amz-object-lock-mode"));
    assertEquals("ON", got.header("x-amz-object-lock-legal-hold"));
  }

  @Test
  void storageClasses() throws Exception {
    Command.Builder hot =
        TestProfiles.add(s3.metadata, "HOT", new Profile(2, 2, Profile.DEFAULT_STRIPE_UNIT), 8);
    assertEquals(ResultCode.OK, s3.metadata.submit(hot).getCode());
    s3.ok(204, post(keyed("asked").field("x-amz-storage-class", "HOT").file("x", "1")));
    assertEquals("HOT", s3.ok(200, "HEAD", "/bkt/asked").header("x-amz-storage-class"));
    s3.refused(
        "InvalidStorageClass",
        post(keyed("k").field("x-amz-storage-class", "COLD").file("x", "1")));
    Command.Builder set =
        Command.newBuilder()
            .setSetBucketStorageClass(
                SetBucketStorageClass.newBuilder().setBucket("bkt").setStorageClass("HOT"));
    assertEquals(ResultCode.OK, s3.metadata.submit(set).getCode());
    s3.ok(204, post(keyed("default").file("x", "1")));
    assertEquals("HOT", s3.ok(200, "HEAD", "/bkt/default").header("x-amz-storage-class"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "x-amz-copy-source",
        "x-amz-acl",
        "x-amz-grant-read",
        "x-amz-write-offset-bytes",
        "x-amz-server-side-encryption-everything",
        "x-amz-expected-bucket-owner",
        "x-amz-whatever",
        "x-amz-meta-ü"
      })
  void fieldsThatAskForMoreAreRefused(String name) throws Exception {
    s3.refused("NotImplemented", post(keyed("k").field(name, "/bkt/other").file("x", "1")));
    assertNothingStored();
  }

  @Test
  void whatIsAskedForBesideTheFormIsRefused() throws Exception {
    FormBody form = keyed("k").file("x", "1");
    byte[] body = form.bytes();
    UnaryOperator<TestRequest> filled =
        request -> request.header("Content-Type", form.contentType()).body(body);
    s3.refused(
        "NotImplemented",
        filled.apply(TestS3.request("POST", "/bkt")).header("x-amz-acl", "public-read"));
    s3.refused(
        "NotImplemented", filled.apply(TestS3.request("POST", "/bkt?x-amz-acl=public-read")));
    s3.refused("MethodNotAllowed", filled.apply(TestS3.request("POST", "/bkt?tagging")));
    s3.refused("NotImplemented", filled.apply(TestS3.request("POST", "/bkt?metadataTable")));
    s3.refused(
        "InvalidRequest",
        filled.apply(TestS3.request("POST", "/bkt")).header("Authorization", "x"));
    s3.refused("InvalidRequest", filled.apply(TestS3.request("POST", "/bkt?AWSAccessKeyId=x")));
    s3.refused("MethodNotAllowed", filled.apply(TestS3.request("POST", "/bkt/k")));
    s3.refused("MethodNotAllowed", filled.apply(TestS3.request("POST", "/")));
    s3.refused(
        "NotImplemented",
        filled
            .apply(TestS3.request("POST", "/bkt"))
            .without("Content-Length")
            .header("Transfer-Encoding", "chunked"));
    assertNothingStored();
  }

  @Test
  void formsThatAreNoUploads() throws Exception {
    s3.refused("IncorrectNumberOfFilesInPostRequest", post(keyed("k")));
    s3.refused(
        "IncorrectNumberOfFilesInPostRequest", post(keyed("k").file("x", "1").file("y", "2")));
    s3.refused("InvalidArgument", post(new FormBody().file("x", "1")));
    s3.refused("InvalidArgument", post(new FormBody().file("x", "1").field("key", "k")));
    s3.refused("InvalidArgument", post(keyed("").file("x", "1")));
    s3.refused("InvalidArgument", post(keyed("k").field("Key", "l").file("x", "1")));
    s3.refused("KeyTooLongError", post(keyed("k".repeat(1025)).file("x", "1")));
    s3.refused("InvalidArgument", post(keyed("k").field("acl", "nonsense").file("x", "1")));
    s3.refused("MalformedXML", post(keyed("k").field("tagging", "a=b").file("x", "1")));
    s3.refused(
        "InvalidArgument", post(keyed("k").field("Content-Type", "a\r\nb: c").file("x", "1")));
    s3.refused(
        "MetadataTooLarge",
        post(keyed("k").field("x-amz-meta-a", "a".repeat(2048)).file("x", "1")));
    s3.refused(
        "MaxPostPreDataLengthExceeded",
        post(keyed("k").field("a", "a".repeat(PostForm.FIELD_BYTES_MAX)).file("x", "1")));
    FormBody many = keyed("k");
    for (int i = 0; i < 10_000; i++) {
      many.field("f" + i, "");
    }
    s3.refused("MaxPostPreDataLengthExceeded", post(many.file("x", "1")));
    assertNothingStored();
  }

  @Test
  void fieldsBehindTheFileAreIgnoredUpToALimit() throws Exception {
    s3.ok(
        204,
        post(
            keyed("k").file("x", "1").field("key", "other").field("success_action_status", "201")));
    assertEquals("1", stored("k"));
    s3.ok(204, "DELETE", "/bkt/k");
    s3.refused(
        "MaxPostPreDataLengthExceeded",
        post(keyed("k").file("x", "1").field("a", "a".repeat(PostForm.FIELD_BYTES_MAX))));
    assertNothingStored();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/form-data; boundary=\"\"",
        "multipart/form-data; boundary=other",
        "multipart/form-data; charset=utf-8"
      })
  void boundariesThatAreNone(String type) throws Exception {
    TestRequest request = post(keyed("k").file("x", "1"));
    request.headers().set("Content-Type", type);
    s3.refused("MalformedPOSTRequest", request);
    assertNothingStored();
  }

  @Test
  void bodiesWithoutAnEnd() throws Exception {
    byte[] whole = keyed("k").file("x", "1".repeat(20_000)).bytes();
    for (int length : new int[] {0, 10, 120, 15_000, whole.length - 5}) {
      TestRequest request =
          TestS3.request("POST", "/bkt").header("Content-Type", new FormBody().contentType());
      s3.refused("MalformedPOSTRequest", request.body(Arrays.copyOf(whole, length)));
    }
    assertNothingStored();
  }

  @Test
  void rights() throws Exception {
    FormBody plain = keyed("k").file("x", "1");
    s3.refused("AccessDenied", post(plain).header("x-test-owner", "anonymous"));
    s3.ok(200, TestS3.request("PUT", "/bkt?acl").header("x-amz-acl", "public-read-write"));
    s3.ok(204, post(keyed("anonymous").file("x", "1")).header("x-test-owner", "anonymous"));
    s3.refused(
        "AccessDenied",
        post(keyed("k").field("tagging", TAGS).file("x", "1")).header("x-test-owner", "anonymous"));
    s3.ok(
        204,
        post(keyed("given").field("acl", "public-read").file("x", "2"))
            .header("x-test-owner", "anonymous"));
    assertEquals("2", s3.ok(200, TestS3.request("GET", "/bkt/given")).text());
    s3.ok(
        204,
        post(keyed("k").field("acl", "public-read").file("x", "1"))
            .header("x-test-owner", "other"));
    assertEquals(
        "1",
        s3.ok(200, TestS3.request("GET", "/bkt/k").header("x-test-owner", "anonymous")).text());
    String put =
        "{\"Statement\":{\"Effect\":\"Allow\",\"Action\":\"s3:PutObject\",\"Resource\":\"*\"}}";
    s3.ok(200, TestS3.request("PUT", "/bkt?acl").header("x-amz-acl", "private"));
    UnaryOperator<TestRequest> user = request -> request.header("x-test-policy", put);
    s3.ok(204, user.apply(post(keyed("k").file("x", "1"))));
    s3.refused("AccessDenied", user.apply(post(keyed("k").field("tagging", TAGS).file("x", "1"))));
    s3.refused(
        "AccessDenied", user.apply(post(keyed("k").field("acl", "public-read").file("x", "1"))));
  }

  /** Only an ACL that lets anyone write lets anyone give ACLs, too. */
  @Test
  void aPolicyThatLetsAnyoneWriteLetsNobodyGiveAcls() throws Exception {
    s3.ok(
        204,
        TestS3.request("PUT", "/bkt?policy")
            .body(
                "{\"Statement\":{\"Effect\":\"Allow\",\"Principal\":\"*\","
                    + "\"Action\":\"s3:PutObject\",\"Resource\":\"arn:aws:s3:::bkt/*\"}}"));
    s3.ok(204, post(keyed("k").file("x", "1")).header("x-test-owner", "anonymous"));
    s3.refused(
        "AccessDenied",
        post(keyed("k").field("acl", "public-read").file("x", "1"))
            .header("x-test-owner", "anonymous"));
  }

  @Test
  void publicAccessBlock() throws Exception {
    s3.ok(200, TestS3.request("PUT", "/bkt?acl").header("x-amz-acl", "public-read-write"));
    s3.ok(
        200,
        TestS3.request("PUT", "/bkt?publicAccessBlock")
            .body(
                "<PublicAccessBlockConfiguration><BlockPublicAcls>true</BlockPublicAcls>"
                    + "<IgnorePublicAcls>true</IgnorePublicAcls></PublicAccessBlockConfiguration>"));
    s3.refused("AccessDenied", post(keyed("k").file("x", "1")).header("x-test-owner", "anonymous"));
    s3.refused("AccessDenied", post(keyed("k").field("acl", "public-read").file("x", "1")));
    assertNothingStored();
  }
}
