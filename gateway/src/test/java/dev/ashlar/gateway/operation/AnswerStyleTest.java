package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.form.FormBody;
import dev.ashlar.gateway.s3.AnswerStyle;
import dev.ashlar.protocol.message.AccountRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.PutAccount;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What differs between the answers of S3 and those of radosgw, in both styles. */
class AnswerStyleTest {
  private static final String CANONICAL = "a".repeat(64);
  private static final String LOG_POLICY =
      """
      {"Statement": {"Effect": "Allow", "Principal": {"Service": "logging.s3.amazonaws.com"}, \
      "Action": "s3:PutObject", "Resource": "arn:aws:s3:::%s/p*", \
      "Condition": {"StringEquals": {"aws:SourceAccount": "%s"}}}}""";

  private final TestS3 s3 = new TestS3(AnswerStyle.S3);
  private final TestS3 radosgw = new TestS3(AnswerStyle.RADOSGW);

  private void each(String method, String uri) throws Exception {
    s3.ok(200, method, uri);
    radosgw.ok(200, method, uri);
  }

  private static TestRequest read(String uri) {
    return TestS3.request("GET", uri);
  }

  @Test
  void thePolicyStatusHasTheAclToo() throws Exception {
    each("PUT", "/bkt");
    s3.refused("NoSuchBucketPolicy", "GET", "/bkt?policyStatus");
    assertEquals("false", radosgw.ok(200, "GET", "/bkt?policyStatus").element("IsPublic"));
    TestRequest open = TestS3.request("PUT", "/bkt?acl").header("x-amz-acl", "public-read");
    s3.ok(200, open);
    radosgw.ok(200, open.to("/bkt?acl"));
    s3.refused("NoSuchBucketPolicy", "GET", "/bkt?policyStatus");
    assertEquals("true", radosgw.ok(200, "GET", "/bkt?policyStatus").element("IsPublic"));
  }

  @Test
  void othersLearnNothingOfThePolicyStatus() throws Exception {
    radosgw.ok(200, "PUT", "/bkt");
    radosgw.refused("AccessDenied", read("/bkt?policyStatus").header("x-test-owner", "other"));
  }

  @Test
  void errorsOfReads() throws Exception {
    each("PUT", "/bkt");
    each("PUT", "/bkt/k");
    assertEquals(416, s3.send("GET", "/bkt/k?partNumber=2").status());
    s3.refused("InvalidPartNumber", "GET", "/bkt/k?partNumber=2");
    assertEquals(400, radosgw.send("GET", "/bkt/k?partNumber=2").status());
    radosgw.refused("InvalidPart", "GET", "/bkt/k?partNumber=2");
    s3.refused("NotImplemented", "GET", "/bkt/k?torrent");
    radosgw.refused("NoSuchKey", "GET", "/bkt/k?torrent");
    // Who is not authenticated is told that, and nothing about torrents.
    radosgw.refused(
        "SignatureDoesNotMatch", read("/bkt/k?torrent").header("x-test-owner", "nobody"));
  }

  @Test
  void whatIsMissingIsNoDeleteMarker() throws Exception {
    each("PUT", "/bkt");
    for (String method : new String[] {"GET", "HEAD"}) {
      assertFalse(s3.send(method, "/bkt/k").headers().contains("x-amz-delete-marker"));
      assertEquals("false", radosgw.send(method, "/bkt/k").header("x-amz-delete-marker"));
    }
    TestRequest stranger = read("/bkt/k").header("x-test-owner", "other");
    TestAnswer denied = radosgw.send(stranger);
    assertEquals("AccessDenied", denied.code());
    assertFalse(denied.headers().contains("x-amz-delete-marker"));
    radosgw.ok(
        200,
        TestS3.request("PUT", "/bkt?versioning")
            .body("<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"));
    radosgw.ok(200, "PUT", "/bkt/k");
    radosgw.ok(204, "DELETE", "/bkt/k");
    assertEquals("true", radosgw.send("GET", "/bkt/k").header("x-amz-delete-marker"));
  }

  @Test
  void rangesOfCopiesAndMalformedChecksums() throws Exception {
    assertEquals("InvalidArgument", copyBehindTheEnd(s3).code());
    TestAnswer other = copyBehindTheEnd(radosgw);
    assertEquals("InvalidRange", other.code());
    assertEquals("x-amz-copy-source-range", other.detail("ArgumentName"));

    assertEquals("InvalidRequest", completeWithMalformedChecksum(s3).code());
    assertEquals("BadDigest", completeWithMalformedChecksum(radosgw).code());
  }

  private static TestAnswer copyBehindTheEnd(TestS3 server) throws Exception {
    server.ok(200, "PUT", "/bkt");
    server.ok(200, TestS3.request("PUT", "/bkt/source").body("12345"));
    return server.send(
        TestS3.request("PUT", "/bkt/k?partNumber=1&uploadId=" + upload(server))
            .header("x-amz-copy-source", "/bkt/source")
            .header("x-amz-copy-source-range", "bytes=0-21"));
  }

  private static String upload(TestS3 server) throws Exception {
    return server.ok(200, "POST", "/bkt/k?uploads").element("UploadId");
  }

  private static TestAnswer completeWithMalformedChecksum(TestS3 server) throws Exception {
    return server.send(
        TestS3.request("POST", "/bkt/k?uploadId=" + upload(server))
            .header("x-amz-checksum-sha256", "bad")
            .body("<CompleteMultipartUpload></CompleteMultipartUpload>"));
  }

  /** What the authenticator finds, before there is an operation. */
  @Test
  void errorsOfSignaturesAndBodies() {
    S3Exception lifetime = new S3Exception(S3Error.INVALID_URL_LIFETIME, "why").with("Field", "x");
    assertEquals(400, AnswerStyle.S3.told(lifetime).error().status());
    assertEquals("AuthorizationQueryParametersError", lifetime.error().code());
    S3Exception told = AnswerStyle.RADOSGW.told(lifetime);
    assertEquals(S3Error.ACCESS_DENIED, told.error());
    assertEquals("why", told.getMessage());
    assertEquals("x", told.details().get("Field"));
    S3Exception checksum = new S3Exception(S3Error.MALFORMED_CHECKSUM);
    assertEquals("InvalidRequest", AnswerStyle.S3.told(checksum).error().code());
    assertEquals("BadDigest", AnswerStyle.RADOSGW.told(checksum).error().code());
  }

  /** Whoever is refused is refused in both styles, with an error of the client or of the server. */
  @Test
  void noErrorBecomesAnother() {
    for (S3Error error : S3Error.values()) {
      S3Error told = AnswerStyle.RADOSGW.told(new S3Exception(error)).error();
      assertTrue(told.status() >= 400, error::name);
      assertEquals(error.isUnserved(), told.isUnserved(), error::name);
      assertEquals(error, AnswerStyle.S3.told(new S3Exception(error)).error());
    }
  }

  @Test
  void attributesHaveTheNumberOfParts() throws Exception {
    assertFalse(checksumOfAttributes(s3).endsWith("-1"));
    assertTrue(checksumOfAttributes(radosgw).endsWith("-1"));
  }

  private static String checksumOfAttributes(TestS3 server) throws Exception {
    server.ok(200, "PUT", "/bkt");
    String upload =
        server
            .ok(
                200,
                TestS3.request("POST", "/bkt/k?uploads")
                    .header("x-amz-checksum-algorithm", "SHA256"))
            .element("UploadId");
    TestAnswer part =
        server.ok(
            200,
            TestS3.request("PUT", "/bkt/k?partNumber=1&uploadId=" + upload)
                .header("x-amz-checksum-sha256", "LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE=")
                .body("x"));
    server.ok(200, complete(upload, part.header("ETag")));
    TestAnswer attributes =
        server.ok(200, read("/bkt/k?attributes").header("x-amz-object-attributes", "Checksum"));
    return attributes.xml().children().getFirst().required("ChecksumSHA256");
  }

  private static TestRequest complete(String upload, String etag) {
    return TestS3.request("POST", "/bkt/k?uploadId=" + upload)
        .body(
            "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"
                + etag
                + "</ETag></Part></CompleteMultipartUpload>");
  }

  @Test
  void tenantsOfBucketsAreNotLookedAt() throws Exception {
    each("PUT", "/bkt");
    each("PUT", "/bkt/k");
    for (String named : List.of("/:bkt/k", "/tenant:bkt/k")) {
      assertEquals(200, radosgw.send("GET", named).status());
      radosgw.refused("AccessDenied", read(named).header("x-test-owner", "other"));
      s3.refused("NoSuchBucket", "GET", named);
    }
    assertEquals(400, radosgw.send("PUT", "/tenant:").status());
    s3.refused("NoSuchBucket", copyOf("/t:bkt/k"));
    radosgw.ok(200, copyOf("/t:bkt/k"));
    radosgw.refused("AccessDenied", copyOf("/t:bkt/k").header("x-test-owner", "other"));
  }

  private static TestRequest copyOf(String source) {
    return TestS3.request("PUT", "/bkt/copy").header("x-amz-copy-source", source);
  }

  @Test
  void tenantsOfBucketsOfForms() throws Exception {
    each("PUT", "/bkt");
    s3.refused("NoSuchBucket", form());
    radosgw.ok(204, form());
    radosgw.refused("AccessDenied", form().header("x-test-owner", "other"));
  }

  private static TestRequest form() {
    return TestS3.request("POST", "/t:bkt").form(new FormBody().field("key", "k").file("x", "1"));
  }

  @Test
  void pagesOfOthersUseTenantsToo() throws Exception {
    each("PUT", "/bkt");
    String rules =
        "<CORSConfiguration><CORSRule><AllowedOrigin>https://a.example</AllowedOrigin>"
            + "<AllowedMethod>GET</AllowedMethod></CORSRule></CORSConfiguration>";
    for (TestS3 server : new TestS3[] {s3, radosgw}) {
      server.ok(
          200,
          TestS3.request("PUT", "/bkt?cors")
              .header("Content-MD5", "not looked at here")
              .body(rules));
    }
    s3.refused("AccessForbidden", preflight());
    radosgw.ok(200, preflight());
  }

  private static TestRequest preflight() {
    return TestS3.request("OPTIONS", "/t:bkt/k")
        .header("origin", "https://a.example")
        .header("access-control-request-method", "GET");
  }

  @Test
  void completionNeedsTheKeyOfTheClient() throws Exception {
    assertEquals(200, completeWithoutKey(s3).status());
    assertEquals("InvalidRequest", completeWithoutKey(radosgw).code());
  }

  private static TestAnswer completeWithoutKey(TestS3 server) throws Exception {
    server.ok(200, "PUT", "/bkt");
    String upload =
        server
            .ok(200, TestKeys.withCustomer(TestS3.request("POST", "/bkt/k?uploads"), 1))
            .element("UploadId");
    TestRequest part = TestS3.request("PUT", "/bkt/k?partNumber=1&uploadId=" + upload).body("x");
    String etag = server.ok(200, TestKeys.withCustomer(part, 1)).header("ETag");
    return server.send(complete(upload, etag));
  }

  @Test
  void kmsNeedsTheIdOfItsKey() throws Exception {
    each("PUT", "/bkt");
    assertEquals(200, s3.send(kms()).status());
    radosgw.refused("InvalidArgument", kms());
    radosgw.refused("InvalidArgument", kms().header("x-amz-copy-source", "/bkt/source"));
    radosgw.ok(200, TestKeys.withKms(TestS3.request("PUT", "/bkt/named"), TestKeys.KMS_1));
    String byDefault =
        "<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault>"
            + "<SSEAlgorithm>aws:kms</SSEAlgorithm><KMSMasterKeyID>kms-2</KMSMasterKeyID>"
            + "</ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>";
    radosgw.ok(200, TestS3.request("PUT", "/bkt?encryption").body(byDefault));
    radosgw.ok(200, kms());
    radosgw.refused(
        "InvalidArgument", kms().header("x-amz-server-side-encryption-aws-kms-key-id", ""));
    TestS3 withoutKms = new TestS3(AnswerStyle.RADOSGW, TestKeys.withoutKms());
    withoutKms.ok(200, "PUT", "/bkt");
    withoutKms.refused("InvalidArgument", kms());
  }

  private static TestRequest kms() {
    return TestS3.request("PUT", "/bkt/k").header("x-amz-server-side-encryption", "aws:kms");
  }

  // ---- Logs ----

  @Test
  void sourceAccountIsTheCanonicalId() throws Exception {
    for (TestS3 server : new TestS3[] {s3, radosgw}) {
      AccountRow account =
          AccountRow.newBuilder()
              .setId("123456789012")
              .setCanonicalId(CANONICAL)
              .setName("name")
              .build();
      server.metadata.require(
          Command.newBuilder().setPutAccount(PutAccount.newBuilder().setAccount(account)));
      server.ok(200, ofAccount(TestS3.request("PUT", "/src")));
      server.ok(200, ofAccount(TestS3.request("PUT", "/logs")));
    }
    letLogsIn("123456789012");
    s3.ok(200, ofAccount(logTo("src", "logs")));
    radosgw.refused("AccessDenied", ofAccount(logTo("src", "logs")));
    letLogsIn(CANONICAL);
    s3.refused("InvalidTargetBucketForLogging", ofAccount(logTo("src", "logs")));
    radosgw.ok(200, ofAccount(logTo("src", "logs")));
  }

  private static TestRequest ofAccount(TestRequest request) {
    return request.header("x-test-owner", CANONICAL);
  }

  private void letLogsIn(String sourceAccount) throws Exception {
    for (TestS3 server : new TestS3[] {s3, radosgw}) {
      String policy = LOG_POLICY.formatted("logs", sourceAccount);
      server.ok(204, ofAccount(TestS3.request("PUT", "/logs?policy").body(policy)));
    }
  }

  @Test
  void logsAreConfiguredAsRadosgwDoes() throws Exception {
    for (String bucket : new String[] {"/src", "/logs", "/free"}) {
      each("PUT", bucket);
    }
    String policy = LOG_POLICY.formatted("logs", "owner");
    for (TestS3 server : new TestS3[] {s3, radosgw}) {
      server.ok(204, TestS3.request("PUT", "/logs?policy").body(policy));
      server.ok(200, logTo("src", "logs"));
    }
    assertFalse(s3.ok(200, "GET", "/src?logging").text().contains("SimplePrefix"));
    assertTrue(radosgw.ok(200, "GET", "/src?logging").text().contains("SimplePrefix"));

    s3.refused("InvalidTargetBucketForLogging", logTo("src", "none"));
    radosgw.refused("NoSuchKey", logTo("src", "none"));
    s3.refused("InvalidTargetBucketForLogging", logTo("src", "free"));
    radosgw.refused("AccessDenied", logTo("src", "free"));
  }

  @Test
  void someBucketsTakeNoLogsOfRadosgw() throws Exception {
    for (String bucket : new String[] {"src", "logs"}) {
      for (TestS3 server : new TestS3[] {s3, radosgw}) {
        server.ok(200, "PUT", "/" + bucket);
        String policy = LOG_POLICY.formatted(bucket, "owner");
        server.ok(204, TestS3.request("PUT", "/" + bucket + "?policy").body(policy));
      }
    }
    s3.ok(200, logTo("src", "src"));
    radosgw.refused("InvalidArgument", logTo("src", "src"));
    s3.ok(200, logTo("logs", "src"));
    radosgw.ok(200, logTo("logs", "src"));
    s3.ok(200, logTo("src", "logs"));
    radosgw.refused("InvalidArgument", logTo("src", "logs"));
    radosgw.ok(200, TestS3.request("PUT", "/logs?logging").body("<BucketLoggingStatus/>"));
    radosgw.ok(200, logTo("src", "logs"));
    TestRequest encryption =
        TestS3.request("PUT", "/logs?encryption")
            .body(
                "<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault>"
                    + "<SSEAlgorithm>AES256</SSEAlgorithm></ApplyServerSideEncryptionByDefault>"
                    + "</Rule></ServerSideEncryptionConfiguration>");
    radosgw.ok(200, encryption);
    radosgw.refused("InvalidArgument", logTo("src", "logs"));
  }

  private static TestRequest logTo(String source, String target) {
    return TestS3.request("PUT", "/" + source + "?logging")
        .body(
            "<BucketLoggingStatus><LoggingEnabled><TargetBucket>"
                + target
                + "</TargetBucket><TargetPrefix>p</TargetPrefix></LoggingEnabled>"
                + "</BucketLoggingStatus>");
  }
}
