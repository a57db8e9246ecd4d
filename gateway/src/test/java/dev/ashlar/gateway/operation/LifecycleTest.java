package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.lifecycle.LifecycleDocuments;
import dev.ashlar.gateway.s3.S3Dates;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutBucketDocument;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lifecycle rules as clients put them, and what answers tell of them. */
class LifecycleTest {
  private static final String MINIMUM = "x-amz-transition-default-minimum-object-size";
  private static final long DAY = Duration.ofDays(1).toMillis();
  private static final String TAGGED =
      rule("tagged", "<Filter><Tag><Key>k</Key><Value>v</Value></Tag></Filter>", days(1));

  private final TestS3 s3 = new TestS3();

  private static String rule(String id, String filter, String actions) {
    return "<Rule><ID>" + id + "</ID>" + filter + "<Status>Enabled</Status>" + actions + "</Rule>";
  }

  private static String days(int days) {
    return "<Expiration><Days>" + days + "</Days></Expiration>";
  }

  private static TestRequest put(String rules) {
    return TestS3.request("PUT", "/bkt?lifecycle")
        .header("Content-MD5", "not looked at here")
        .body("<LifecycleConfiguration>" + rules + "</LifecycleConfiguration>");
  }

  @BeforeEach
  void createBucket() throws Exception {
    s3.ok(200, "PUT", "/bkt");
  }

  /** The midnight, in UTC, that follows so many days after a time. */
  private static String midnight(long ms, int days) {
    long dueMs = (ms + days * DAY + DAY - 1) / DAY * DAY;
    return S3Dates.http(dueMs);
  }

  private ObjectSummary stored(String key) throws Exception {
    return s3.metadata.object("bkt", key).orElseThrow().object().getSummary();
  }

  @Test
  void rulesArePutReadAndDeleted() throws Exception {
    s3.refused("NoSuchLifecycleConfiguration", "GET", "/bkt?lifecycle");
    s3.ok(204, "DELETE", "/bkt?lifecycle");
    String rules = rule("a", "<Prefix>p/</Prefix>", days(31));
    TestAnswer answer = s3.ok(200, put(rules));
    assertEquals("varies_by_storage_class", answer.header(MINIMUM));
    TestAnswer read = s3.ok(200, "GET", "/bkt?lifecycle");
    assertTrue(read.text().endsWith(">" + rules + "</LifecycleConfiguration>"), read.text());
    assertEquals("varies_by_storage_class", read.header(MINIMUM));
    s3.ok(200, put(TAGGED).header(MINIMUM, "all_storage_classes_128K"));
    read = s3.ok(200, "GET", "/bkt?lifecycle");
    assertEquals("all_storage_classes_128K", read.header(MINIMUM));
    assertTrue(read.text().contains("<ID>tagged</ID>") && !read.text().contains("<ID>a</ID>"));
    s3.ok(204, "DELETE", "/bkt?lifecycle");
    s3.refused("NoSuchLifecycleConfiguration", "GET", "/bkt?lifecycle");
    s3.refused("NoSuchBucket", "GET", "/none?lifecycle");
  }

  @Test
  void wrongRequestsChangeNothing() throws Exception {
    s3.ok(200, put(TAGGED));
    String before = s3.ok(200, "GET", "/bkt?lifecycle").text();
    String rule = rule("a", "<Filter/>", days(1));
    s3.refused(
        "InvalidRequest",
        TestS3.request("PUT", "/bkt?lifecycle")
            .body("<LifecycleConfiguration>" + rule + "</LifecycleConfiguration>"));
    s3.refused("InvalidArgument", put(rule).header(MINIMUM, "some"));
    s3.refused("MalformedXML", put("<Rule/>"));
    s3.refused(
        "MalformedXML",
        TestS3.request("PUT", "/bkt?lifecycle")
            .header("Content-MD5", "not looked at here")
            .body(
                "<?xml version=\"1.1\"?><LifecycleConfiguration>"
                    + rule("a", "<Filter><Prefix>&#x1;</Prefix></Filter>", days(1))
                    + "</LifecycleConfiguration>"));
    s3.refused(
        "InvalidStorageClass",
        put(
            rule(
                "a",
                "<Filter/>",
                "<Transition><Days>1</Days><StorageClass>GLACIER</StorageClass></Transition>")));
    s3.refused(
        "InvalidStorageClass",
        put(
            rule(
                "a",
                "<Filter/>",
                "<NoncurrentVersionTransition><NoncurrentDays>1</NoncurrentDays>"
                    + "<StorageClass>GLACIER</StorageClass></NoncurrentVersionTransition>")));
    assertEquals(before, s3.ok(200, "GET", "/bkt?lifecycle").text());
  }

  @Test
  void expirationIsToldOfPresentVersions() throws Exception {
    s3.ok(
        200,
        put(
            rule("a b", "<Filter><Prefix>p/</Prefix></Filter>", days(3))
                + rule(
                    "small", "<Filter><ObjectSizeLessThan>3</ObjectSizeLessThan></Filter>", days(1))
                + "<Rule><ID>off</ID><Filter/><Status>Disabled</Status>"
                + days(1)
                + "</Rule>"));
    TestAnswer put = s3.ok(200, TestS3.request("PUT", "/bkt/p/k").body("data"));
    String expected =
        "expiry-date=\"%s\", rule-id=\"a%%20b\""
            .formatted(midnight(stored("p/k").getLastModifiedMs(), 3));
    assertEquals(expected, put.header("x-amz-expiration"));
    assertEquals(expected, s3.ok(200, "GET", "/bkt/p/k").header("x-amz-expiration"));
    assertEquals(expected, s3.ok(200, "HEAD", "/bkt/p/k").header("x-amz-expiration"));
    assertEquals("", s3.ok(200, "GET", "/bkt/p/k?versionId=null").header("x-amz-expiration"));
    assertTrue(
        s3.ok(200, TestS3.request("PUT", "/bkt/p/s").body("x"))
            .header("x-amz-expiration")
            .endsWith("rule-id=\"small\""));
    assertEquals(
        "",
        s3.ok(200, TestS3.request("PUT", "/bkt/other").body("data")).header("x-amz-expiration"));
    TestAnswer copy =
        s3.ok(200, TestS3.request("PUT", "/bkt/p/c").header("x-amz-copy-source", "/bkt/other"));
    assertTrue(copy.header("x-amz-expiration").endsWith("rule-id=\"a%20b\""));
    s3.ok(204, "DELETE", "/bkt?lifecycle");
    assertEquals("", s3.ok(200, "GET", "/bkt/p/k").header("x-amz-expiration"));
  }

  @Test
  void tagsDecideWhetherAnObjectExpires() throws Exception {
    s3.ok(200, put(TAGGED));
    TestRequest tagged = TestS3.request("PUT", "/bkt/k").header("x-amz-tagging", "k=v&l=w");
    assertTrue(s3.ok(200, tagged.body("data")).header("x-amz-expiration").contains("\"tagged\""));
    TestRequest other = TestS3.request("PUT", "/bkt/o").header("x-amz-tagging", "k=w");
    assertEquals("", s3.ok(200, other.body("data")).header("x-amz-expiration"));
    TestAnswer copy =
        s3.ok(200, TestS3.request("PUT", "/bkt/c").header("x-amz-copy-source", "/bkt/k"));
    assertTrue(copy.header("x-amz-expiration").contains("\"tagged\""));
    assertTrue(s3.ok(200, "HEAD", "/bkt/c").header("x-amz-expiration").contains("\"tagged\""));
    s3.ok(204, "DELETE", "/bkt/c?tagging");
    assertEquals("", s3.ok(200, "HEAD", "/bkt/c").header("x-amz-expiration"));
  }

  @Test
  void uploadsTellWhenTheyAreAbortedAndTheirObjectsExpire() throws Exception {
    s3.ok(
        200,
        put(
            rule(
                "r",
                "<Filter><Prefix>m</Prefix></Filter>",
                days(9)
                    + "<AbortIncompleteMultipartUpload><DaysAfterInitiation>2"
                    + "</DaysAfterInitiation></AbortIncompleteMultipartUpload>")));
    TestAnswer created = s3.ok(200, "POST", "/bkt/m?uploads");
    String id = created.element("UploadId");
    long begunMs = s3.metadata.upload("bkt", "m", id).orElseThrow().getInitiatedAtMs();
    assertEquals("r", created.header("x-amz-abort-rule-id"));
    TestAnswer parts = s3.ok(200, "GET", "/bkt/m?uploadId=" + id);
    assertEquals(midnight(begunMs, 2), parts.header("x-amz-abort-date"));
    assertEquals("r", parts.header("x-amz-abort-rule-id"));
    String etag =
        s3.ok(200, TestS3.request("PUT", "/bkt/m?partNumber=1&uploadId=" + id).body("part"))
            .header("ETag");
    String document =
        "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"
            + etag
            + "</ETag></Part></CompleteMultipartUpload>";
    for (int i = 0; i < 2; i++) { // the second one repeats the first
      TestAnswer completed =
          s3.ok(200, TestS3.request("POST", "/bkt/m?uploadId=" + id).body(document));
      assertEquals(
          "expiry-date=\"%s\", rule-id=\"r\""
              .formatted(midnight(stored("m").getLastModifiedMs(), 9)),
          completed.header("x-amz-expiration"));
    }
    assertEquals("", s3.ok(200, "POST", "/bkt/other?uploads").header("x-amz-abort-date"));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2_147_483_647})
  void datesInAnswersHaveFourDigitsOfYears(int days) throws Exception {
    s3.ok(200, put(rule("r", "<Filter/>", days(days))));
    String told =
        s3.ok(200, TestS3.request("PUT", "/bkt/k").body("data")).header("x-amz-expiration");
    assertTrue(
        told.matches(
            "expiry-date=\"[A-Z][a-z]{2}, \\d\\d [A-Z][a-z]{2} \\d{4} 00:00:00 GMT\","
                + " rule-id=\"r\""),
        told);
  }

  @Test
  void rulesOfALaterBuildDoNothing() throws Exception {
    s3.ok(200, put(rule("r", "<Filter/>", days(1))));
    s3.metadata.require(
        Command.newBuilder()
            .setPutBucketDocument(
                PutBucketDocument.newBuilder()
                    .setBucket("bkt")
                    .setKind(LifecycleDocuments.RULES)
                    .setDocument(ByteString.copyFromUtf8("other"))));
    assertEquals(
        "", s3.ok(200, TestS3.request("PUT", "/bkt/k").body("data")).header("x-amz-expiration"));
    s3.refused("NoSuchLifecycleConfiguration", "GET", "/bkt?lifecycle");
  }

  @Test
  void hostileDocumentsAreRefused() throws Exception {
    for (String body :
        List.of(
            "",
            "<LifecycleConfiguration>",
            "<LifecycleConfiguration/>",
            "<!DOCTYPE x [<!ENTITY e 'x'>]><LifecycleConfiguration>&e;</LifecycleConfiguration>",
            "<LifecycleConfiguration>" + "<Rule>".repeat(50))) {
      s3.refused(
          "MalformedXML",
          TestS3.request("PUT", "/bkt?lifecycle").header("Content-MD5", "x").body(body));
    }
  }
}
