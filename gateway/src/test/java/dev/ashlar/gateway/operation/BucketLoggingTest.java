package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.gateway.access.AccessDocument;
import dev.ashlar.gateway.encryption.BucketEncryption;
import dev.ashlar.gateway.encryption.BucketEncryption.Standard;
import dev.ashlar.gateway.encryption.Encryptions;
import dev.ashlar.gateway.encryption.key.KeyWrapping;
import dev.ashlar.gateway.encryption.key.KmsKeys;
import dev.ashlar.gateway.encryption.key.MasterKeys;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.PutBucketDocument;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where access logs go, and who lets them in. */
class BucketLoggingTest {
  private static final String POLICY =
      """
      {"Statement": {"Effect": "Allow", "Principal": {"Service": "logging.s3.amazonaws.com"}, \
      "Action": "s3:PutObject", "Resource": "arn:aws:s3:::logs/%s*", \
      "Condition": {"ArnLike": {"aws:SourceArn": "arn:aws:s3:::%s"}}}}""";
  private static final String LOG_DELIVERY =
      "uri=\"http://acs.amazonaws.com/groups/s3/LogDelivery\"";

  private final TestS3 s3 = new TestS3();

  @BeforeEach
  void makeBuckets() throws Exception {
    s3.ok(200, "PUT", "/src");
    s3.ok(200, "PUT", "/logs");
  }

  private static TestRequest put(String status) {
    return TestS3.request("PUT", "/src?logging")
        .body(
            "<BucketLoggingStatus xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
                + status
                + "</BucketLoggingStatus>");
  }

  private static String to(String bucket, String prefix, String more) {
    return "<LoggingEnabled><TargetBucket>"
        + bucket
        + "</TargetBucket><TargetPrefix>"
        + prefix
        + "</TargetPrefix>"
        + more
        + "</LoggingEnabled>";
  }

  private void policy(String prefix, String source) throws Exception {
    s3.ok(204, TestS3.request("PUT", "/logs?policy").body(POLICY.formatted(prefix, source)));
  }

  private List<String> keys() throws Exception {
    return s3.ok(200, "GET", "/logs").each("Contents", "Key");
  }

  private double lost() {
    return s3.registry.get("ashlar.access.log.dropped").counter().count();
  }

  @Test
  void theConfigurationIsReturnedAndRemoved() throws Exception {
    policy("log/", "src");
    assertEquals(0, s3.ok(200, "GET", "/src?logging").xml().children().size());
    s3.ok(200, put(to("logs", "log/", "")));
    String enabled =
        "<LoggingEnabled><TargetBucket>logs</TargetBucket>%s"
            + "<TargetPrefix>log/</TargetPrefix></LoggingEnabled>";
    TestAnswer answer = s3.ok(200, "GET", "/src?logging");
    assertTrue(answer.text().contains(enabled.formatted("")), answer.text());
    for (String format :
        List.of(
            "<SimplePrefix></SimplePrefix>",
            partitioned("EventTime"),
            partitioned("DeliveryTime"))) {
      String keys = "<TargetObjectKeyFormat>" + format + "</TargetObjectKeyFormat>";
      s3.ok(200, put(to("logs", "log/", keys)));
      answer = s3.ok(200, "GET", "/src?logging");
      assertTrue(answer.text().contains(enabled.formatted(keys)), answer.text());
    }
    s3.ok(200, put(""));
    assertEquals(0, s3.ok(200, "GET", "/src?logging").xml().children().size());
  }

  private static String partitioned(String source) {
    return "<PartitionedPrefix><PartitionDateSource>"
        + source
        + "</PartitionDateSource></PartitionedPrefix>";
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "<Other/>",
        "<LoggingEnabled/>",
        "<LoggingEnabled><TargetBucket>logs</TargetBucket></LoggingEnabled>",
        "<LoggingEnabled><TargetPrefix>p</TargetPrefix></LoggingEnabled>",
        "<LoggingEnabled><TargetBucket>logs</TargetBucket><TargetPrefix/><TargetObjectKeyFormat/>"
            + "</LoggingEnabled>",
        "<LoggingEnabled><TargetBucket>logs</TargetBucket><TargetPrefix/><TargetObjectKeyFormat>"
            + "<PartitionedPrefix><PartitionDateSource>Noon</PartitionDateSource>"
            + "</PartitionedPrefix></TargetObjectKeyFormat></LoggingEnabled>",
        "<LoggingEnabled><TargetBucket>logs</TargetBucket><TargetPrefix/></LoggingEnabled><More/>"
      })
  void otherDocumentsAreRefused(String content) throws Exception {
    policy("", "src");
    s3.refused("MalformedXML", put(content));
    assertEquals(0, s3.ok(200, "GET", "/src?logging").xml().children().size());
  }

  @Test
  void prefixesHaveAtMost800Bytes() throws Exception {
    policy("", "src");
    s3.ok(200, put(to("logs", "p".repeat(800), "")));
    s3.refused("InvalidArgument", put(to("logs", "p".repeat(801), "")));
  }

  @Test
  void targetsAreOfTheSameOwnerAndLetLogsIn() throws Exception {
    String code = "InvalidTargetBucketForLogging";
    s3.refused(code, put(to("none", "", "")));
    s3.refused(code, put(to("", "", "")));
    s3.refused(code, put(to("logs", "", "")));
    policy("log/", "else");
    s3.refused(code, put(to("logs", "log/", "")));
    policy("log/", "src");
    s3.refused(code, put(to("logs", "other/", "")));
    s3.ok(200, put(to("logs", "log/", "")));
    s3.ok(
        200,
        TestS3.request("PUT", "/logs?requestPayment")
            .body(
                "<RequestPaymentConfiguration><Payer>Requester</Payer>"
                    + "</RequestPaymentConfiguration>"));
    s3.refused(code, put(to("logs", "log/", "")));
    s3.ok(200, TestS3.request("PUT", "/foreign").header("x-test-owner", "other"));
    s3.ok(
        204,
        TestS3.request("PUT", "/foreign?policy")
            .header("x-test-owner", "other")
            .body(POLICY.formatted("", "src").replace(":::logs", ":::foreign")));
    s3.refused(code, put(to("foreign", "", "")));
  }

  @Test
  void requestsAreDeliveredByThePolicyOfTheTarget() throws Exception {
    policy("log/", "src");
    s3.ok(200, put(to("logs", "log/", "")));
    s3.ok(200, TestS3.request("PUT", "/src/k").body("data"));
    s3.refused("AccessDenied", TestS3.request("GET", "/src/k").header("x-test-owner", "other"));
    s3.refused(
        "SignatureDoesNotMatch", TestS3.request("GET", "/src/k").header("x-test-owner", "nobody"));
    s3.ok(200, TestS3.request("PUT", "/logs/own").body("not logged"));
    s3.deliverLogs();
    List<String> keys = keys();
    assertEquals(2, keys.size(), keys::toString);
    String key = keys.getFirst();
    assertTrue(key.matches("log/\\d{4}-\\d\\d-\\d\\d-\\d\\d-\\d\\d-\\d\\d-[0-9A-F]{16}"), key);
    TestAnswer object = s3.ok(200, "GET", "/logs/" + key);
    List<String> lines = object.text().lines().toList();
    assertEquals(3, lines.size(), object::text);
    assertTrue(lines.get(0).contains(" REST.PUT.OBJECT k "), lines::toString);
    assertTrue(lines.get(1).contains(" AccessDenied "), lines::toString);
    assertTrue(lines.get(2).contains(" SignatureDoesNotMatch "), lines::toString);
    assertEquals("text/plain", object.header("Content-Type"));
    TestAnswer acl = s3.ok(200, "GET", "/logs/" + key + "?acl");
    assertEquals(List.of("owner"), acl.each("Owner", "ID"));
    s3.deliverLogs();
    assertEquals(2, keys().size());
    assertEquals(0, lost());
  }

  @Test
  void requestsAreDeliveredByTheGroupLogDelivery() throws Exception {
    s3.ok(200, TestS3.request("PUT", "/logs?acl").header("x-amz-grant-read", LOG_DELIVERY));
    s3.refused("InvalidTargetBucketForLogging", put(to("logs", "", "")));
    s3.ok(200, TestS3.request("PUT", "/logs?acl").header("x-amz-grant-write", LOG_DELIVERY));
    s3.ok(200, put(to("logs", "", "")));
    s3.refused(
        "AccessDenied", TestS3.request("PUT", "/logs/k").header("x-test-owner", "other").body("x"));
    s3.refused(
        "AccessDenied",
        TestS3.request("PUT", "/logs/k").header("x-test-owner", "anonymous").body("x"));
    s3.ok(200, "HEAD", "/src");
    s3.deliverLogs();
    assertEquals(1, keys().size());
    // ACLs of groups that are not public stay, whatever is blocked.
    s3.ok(
        200,
        TestS3.request("PUT", "/logs?publicAccessBlock")
            .body(
                "<PublicAccessBlockConfiguration><IgnorePublicAcls>true</IgnorePublicAcls>"
                    + "</PublicAccessBlockConfiguration>"));
    s3.ok(200, "HEAD", "/src");
    s3.deliverLogs();
    assertEquals(2, keys().size());
  }

  @Test
  void linesThatTheTargetDoesNotLetInAnyMoreAreLost() throws Exception {
    policy("", "src");
    s3.ok(200, put(to("logs", "", "")));
    s3.ok(200, "HEAD", "/src");
    s3.ok(204, "DELETE", "/logs?policy");
    s3.deliverLogs();
    assertEquals(1, lost());
    s3.ok(200, "HEAD", "/src");
    s3.ok(204, "DELETE", "/logs");
    s3.deliverLogs();
    assertEquals(2, lost());
    s3.ok(200, TestS3.request("PUT", "/logs").header("x-test-owner", "other"));
    s3.ok(
        204,
        TestS3.request("PUT", "/logs?policy")
            .header("x-test-owner", "other")
            .body(POLICY.formatted("", "src")));
    s3.ok(200, "HEAD", "/src");
    s3.deliverLogs();
    assertEquals(3, lost());
    assertEquals(
        List.of(),
        s3.ok(200, TestS3.request("GET", "/logs").header("x-test-owner", "other"))
            .each("Contents", "Key"));
  }

  @Test
  void linesWaitWhileDrivesAreAway() throws Exception {
    policy("", "src");
    s3.ok(200, put(to("logs", "", "")));
    s3.ok(200, "HEAD", "/src");
    s3.store.failWrites(Reason.TOO_FEW_DRIVES);
    s3.deliverLogs();
    assertEquals(0, lost());
    assertEquals(List.of(), keys());
  }

  @Test
  void linesWaitForAKeyThatIsMissing() throws Exception {
    KeyWrapping none =
        new KeyWrapping(
            MasterKeys.NONE, KmsKeys.NONE, new SecureRandom(), new SimpleMeterRegistry());
    TestS3 keyless =
        new TestS3("us-east-1", metadata -> metadata, new Encryptions(none, true, false));
    keyless.ok(200, "PUT", "/src");
    keyless.ok(200, "PUT", "/logs");
    BucketEncryption ofKms = new BucketEncryption(Standard.KMS, "", false, false);
    for (BucketEncryption encryption :
        Arrays.asList(null, ofKms, new BucketEncryption(Standard.KMS, "gone", false, false))) {
      keyless.metadata.require(
          Command.newBuilder()
              .setPutBucketDocument(
                  PutBucketDocument.newBuilder()
                      .setBucket("logs")
                      .setKind(AccessDocument.ENCRYPTION.number())
                      .setDocument(
                          encryption == null ? ByteString.EMPTY : encryption.toDocument())));
      keyless.ok(204, TestS3.request("PUT", "/logs?policy").body(POLICY.formatted("", "src")));
      keyless.ok(200, put(to("logs", "", "")));
      keyless.ok(200, "HEAD", "/src");
      keyless.deliverLogs();
      assertEquals(0, keyless.registry.get("ashlar.access.log.dropped").counter().count());
    }
  }

  @Test
  void aBucketThatLogsIntoItselfDoesNotLogTheLog() throws Exception {
    s3.ok(
        204,
        TestS3.request("PUT", "/src?policy")
            .body(POLICY.formatted("", "src").replace(":::logs", ":::src")));
    s3.ok(200, put(to("src", "", "")));
    s3.ok(200, "HEAD", "/src");
    for (int i = 0; i < 3; i++) {
      s3.deliverLogs();
    }
    assertEquals(1, s3.ok(200, "GET", "/src").each("Contents", "Key").size());
  }

  @Test
  void grantsBecomeTheAclOfTheObjects() throws Exception {
    policy("", "src");
    String grants =
        "<TargetGrants><Grant><Grantee xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\""
            + " xsi:type=\"Group\"><URI>http://acs.amazonaws.com/groups/global/AuthenticatedUsers"
            + "</URI></Grantee><Permission>%s</Permission></Grant></TargetGrants>";
    s3.refused("MalformedXML", put(to("logs", "", grants.formatted("READ_ACP"))));
    s3.ok(200, put(to("logs", "", grants.formatted("READ"))));
    TestAnswer status = s3.ok(200, "GET", "/src?logging");
    assertTrue(status.text().contains("<Permission>READ</Permission>"), status.text());
    s3.ok(200, "HEAD", "/src");
    s3.deliverLogs();
    String key = "/logs/" + keys().getFirst();
    s3.ok(200, TestS3.request("GET", key).header("x-test-owner", "other"));
    s3.refused("AccessDenied", TestS3.request("GET", key).header("x-test-owner", "anonymous"));
    s3.ok(
        200,
        TestS3.request("PUT", "/logs?ownershipControls")
            .body(
                "<OwnershipControls><Rule><ObjectOwnership>BucketOwnerEnforced</ObjectOwnership>"
                    + "</Rule></OwnershipControls>"));
    s3.refused("AccessControlListNotSupported", put(to("logs", "", grants.formatted("READ"))));
    s3.ok(200, put(to("logs", "", "")));
  }
}
