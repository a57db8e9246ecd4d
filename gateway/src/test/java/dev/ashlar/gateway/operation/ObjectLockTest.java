package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.ObjectLock;
import dev.ashlar.protocol.message.SetBucketVersioning;
import dev.ashlar.protocol.message.Versioning;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Object lock: configurations of buckets, retentions and legal holds of versions. */
class ObjectLockTest {
  private static final String UNTIL = "2099-01-01T00:00:00.000Z";
  private static final String LATER = "2099-01-02T00:00:00.000Z";
  private static final String EARLIER = "2098-01-01T00:00:00.000Z";

  private final TestS3 s3 = new TestS3();

  @BeforeEach
  void createBuckets() throws Exception {
    s3.ok(200, "PUT", "/plain");
    s3.ok(200, TestS3.request("PUT", "/bkt").header("x-amz-bucket-object-lock-enabled", "true"));
    s3.ok(200, TestS3.request("PUT", "/bkt/k").body("x"));
    s3.ok(200, TestS3.request("PUT", "/plain/k").body("x"));
  }

  private static TestRequest put(String path, String body) {
    return TestS3.request("PUT", path).body(body);
  }

  private static String configuration(String rule) {
    return "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled>"
        + rule
        + "</ObjectLockConfiguration>";
  }

  private static String rule(String retention) {
    return "<Rule><DefaultRetention>" + retention + "</DefaultRetention></Rule>";
  }

  private static String retention(String mode, String until) {
    return "<Retention><Mode>"
        + mode
        + "</Mode><RetainUntilDate>"
        + until
        + "</RetainUntilDate></Retention>";
  }

  private static TestRequest locked(TestRequest request, String mode, String until) {
    return request
        .header("x-amz-object-lock-mode", mode)
        .header("x-amz-object-lock-retain-until-date", until)
        .header("Content-MD5", "not looked at here");
  }

  private void assertRetention(String path, String mode, String until) throws Exception {
    TestAnswer answer = s3.ok(200, "GET", path + "?retention");
    assertEquals(mode, answer.element("Mode"));
    assertEquals(until, answer.element("RetainUntilDate"));
    for (String method : List.of("GET", "HEAD")) {
      TestAnswer object = s3.ok(200, method, path);
      assertEquals(mode, object.header("x-amz-object-lock-mode"));
      assertEquals(until, object.header("x-amz-object-lock-retain-until-date"));
    }
  }

  /**
   * A client that waits until then may delete the version; a time without milliseconds is too
   * early.
   */
  @Test
  void theEndOfARetentionIsToldInMilliseconds() throws Exception {
    String until = "2099-01-01T00:00:00.850Z";
    s3.ok(200, put("/bkt/k?retention", retention("GOVERNANCE", until)));
    assertRetention("/bkt/k", "GOVERNANCE", until);
  }

  @Test
  void configurationOfABucket() throws Exception {
    s3.refused("ObjectLockConfigurationNotFoundError", "GET", "/plain?object-lock");
    TestAnswer none = s3.ok(200, "GET", "/bkt?object-lock");
    assertEquals("Enabled", none.element("ObjectLockEnabled"));
    assertEquals("(absent)", none.element("Rule"));
    for (String period : List.of("<Days>1</Days>", "<Days>36500</Days>", "<Years>100</Years>")) {
      String rule = rule("<Mode>COMPLIANCE</Mode>" + period);
      s3.ok(200, put("/bkt?object-lock", configuration(rule)));
      assertTrue(s3.ok(200, "GET", "/bkt?object-lock").text().contains(rule));
    }
    s3.ok(200, put("/bkt?object-lock", configuration("")));
    assertEquals("(absent)", s3.ok(200, "GET", "/bkt?object-lock").element("Rule"));
    s3.refused("NoSuchBucket", put("/none?object-lock", configuration("")));
  }

  @Test
  void bucketsWithVersionsCanGetALock() throws Exception {
    TestAnswer refused = s3.send(put("/plain?object-lock", configuration("")));
    assertEquals("InvalidBucketState", refused.code());
    assertEquals(409, refused.status());
    s3.metadata.require(
        Command.newBuilder()
            .setSetBucketVersioning(
                SetBucketVersioning.newBuilder()
                    .setBucket("plain")
                    .setVersioning(Versioning.VERSIONING_ENABLED)));
    s3.ok(
        200,
        put("/plain?object-lock", configuration(""))
            .header("x-amz-bucket-object-lock-token", "any"));
    assertEquals("Enabled", s3.ok(200, "GET", "/plain?object-lock").element("ObjectLockEnabled"));
  }

  @Test
  void creatingABucketAgainDoesNotChangeItsLock() throws Exception {
    s3.refused(
        "BucketAlreadyOwnedByYou",
        TestS3.request("PUT", "/plain").header("x-amz-bucket-object-lock-enabled", "true"));
    s3.refused("BucketAlreadyOwnedByYou", "PUT", "/bkt");
    s3.ok(200, TestS3.request("PUT", "/bkt").header("x-amz-bucket-object-lock-enabled", "True"));
    s3.ok(200, "PUT", "/plain");
  }

  @ParameterizedTest
  @CsvSource({
    "'', MalformedXML",
    "<Retention/>, MalformedXML",
    "<ObjectLockConfiguration/>, MalformedXML",
    "<ObjectLockConfiguration><ObjectLockEnabled>Disabled</ObjectLockEnabled></ObjectLockConfiguration>,"
        + " MalformedXML"
  })
  void malformedConfigurations(String document, String code) throws Exception {
    s3.refused(code, put("/bkt?object-lock", document));
  }

  @ParameterizedTest
  @CsvSource({
    "'', MalformedXML",
    "<Mode>GOVERNANCE</Mode>, MalformedXML",
    "<Days>1</Days>, MalformedXML",
    "<Mode>governance</Mode><Days>1</Days>, MalformedXML",
    "<Mode>GOVERNANCE</Mode><Days>1</Days><Years>1</Years>, MalformedXML",
    "<Mode>GOVERNANCE</Mode><Days>one</Days>, MalformedXML",
    "<Mode>GOVERNANCE</Mode><Days>9999999999</Days>, MalformedXML",
    "<Mode>GOVERNANCE</Mode><Days>0</Days>, InvalidRetentionPeriod",
    "<Mode>GOVERNANCE</Mode><Years>-1</Years>, InvalidRetentionPeriod",
    "<Mode>GOVERNANCE</Mode><Days>36501</Days>, InvalidRetentionPeriod",
    "<Mode>GOVERNANCE</Mode><Years>101</Years>, InvalidRetentionPeriod"
  })
  void malformedRules(String retention, String code) throws Exception {
    s3.refused(code, put("/bkt?object-lock", configuration(rule(retention))));
    assertEquals("(absent)", s3.ok(200, "GET", "/bkt?object-lock").element("Rule"));
  }

  @Test
  void retentionOfAVersion() throws Exception {
    s3.refused("NoSuchObjectLockConfiguration", "GET", "/bkt/k?retention");
    s3.ok(200, put("/bkt/k?retention", retention("GOVERNANCE", UNTIL)));
    assertRetention("/bkt/k", "GOVERNANCE", UNTIL);
    s3.ok(200, put("/bkt/k?retention", retention("GOVERNANCE", LATER)));
    s3.refused("AccessDenied", put("/bkt/k?retention", retention("GOVERNANCE", UNTIL)));
    s3.refused("AccessDenied", put("/bkt/k?retention", retention("COMPLIANCE", LATER)));
    s3.refused("AccessDenied", put("/bkt/k?retention", "<Retention/>"));
    assertRetention("/bkt/k", "GOVERNANCE", LATER);
    s3.ok(200, bypassing(put("/bkt/k?retention", retention("GOVERNANCE", EARLIER))));
    assertRetention("/bkt/k", "GOVERNANCE", EARLIER);
    s3.ok(200, bypassing(put("/bkt/k?retention", "<Retention/>")));
    s3.refused("NoSuchObjectLockConfiguration", "GET", "/bkt/k?retention");
    assertFalse(s3.ok(200, "GET", "/bkt/k").headers().contains("x-amz-object-lock-mode"));
  }

  private static TestRequest bypassing(TestRequest request) {
    return request.header("x-amz-bypass-governance-retention", "true");
  }

  @Test
  void complianceIsNeverWeakened() throws Exception {
    s3.ok(200, put("/bkt/k?retention", retention("COMPLIANCE", UNTIL)));
    for (String weaker :
        List.of(retention("COMPLIANCE", EARLIER), retention("GOVERNANCE", LATER), "<Retention/>")) {
      s3.refused("AccessDenied", put("/bkt/k?retention", weaker));
      s3.refused("AccessDenied", bypassing(put("/bkt/k?retention", weaker)));
    }
    assertRetention("/bkt/k", "COMPLIANCE", UNTIL);
    s3.ok(200, put("/bkt/k?retention", retention("COMPLIANCE", LATER)));
    assertRetention("/bkt/k", "COMPLIANCE", LATER);
  }

  @Test
  void legalHoldOfAVersion() throws Exception {
    s3.refused("NoSuchObjectLockConfiguration", "GET", "/bkt/k?legal-hold");
    for (String status : List.of("ON", "OFF")) {
      s3.ok(
          200, put("/bkt/k?legal-hold", "<LegalHold><Status>" + status + "</Status></LegalHold>"));
      assertEquals(status, s3.ok(200, "GET", "/bkt/k?legal-hold").element("Status"));
      assertEquals(status, s3.ok(200, "HEAD", "/bkt/k").header("x-amz-object-lock-legal-hold"));
    }
    s3.refused("NoSuchObjectLockConfiguration", "GET", "/bkt/k?retention");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "<LegalHold/>",
        "<LegalHold><Status>abc</Status></LegalHold>",
        "<LegalHold><Status>on</Status></LegalHold>",
        "<Retention/>"
      })
  void malformedHolds(String document) throws Exception {
    s3.refused("MalformedXML", put("/bkt/k?legal-hold", document));
  }

  @ParameterizedTest
  @CsvSource({
    "GOVERNANCE, 2001-01-01T00:00:00Z, InvalidArgument",
    "governance, 2099-01-01T00:00:00Z, MalformedXML",
    "abc, 2099-01-01T00:00:00Z, MalformedXML",
    "GOVERNANCE, tomorrow, MalformedXML",
    "GOVERNANCE, +99999-01-01T00:00:00Z, MalformedXML",
    "GOVERNANCE, 2099-01-01, MalformedXML"
  })
  void malformedRetentions(String mode, String until, String code) throws Exception {
    s3.refused(code, put("/bkt/k?retention", retention(mode, until)));
    s3.refused(
        "MalformedXML", put("/bkt/k?retention", "<Retention><Mode>GOVERNANCE</Mode></Retention>"));
    s3.refused("InvalidArgument", locked(put("/bkt/n", "x"), mode, until));
    s3.refused("NoSuchKey", "GET", "/bkt/n");
  }

  @Test
  void bucketsWithoutLock() throws Exception {
    String hold = "<LegalHold><Status>ON</Status></LegalHold>";
    s3.refused("InvalidRequest", "GET", "/plain/k?retention");
    s3.refused("InvalidRequest", "GET", "/plain/k?legal-hold");
    s3.refused("InvalidRequest", put("/plain/k?retention", retention("GOVERNANCE", UNTIL)));
    s3.refused("InvalidRequest", put("/plain/k?legal-hold", hold));
    s3.refused("InvalidRequest", locked(put("/plain/n", "x"), "GOVERNANCE", UNTIL));
    s3.refused(
        "InvalidRequest",
        put("/plain/n", "x")
            .header("x-amz-object-lock-legal-hold", "OFF")
            .header("Content-MD5", "not looked at here"));
    s3.refused(
        "InvalidRequest", locked(TestS3.request("POST", "/plain/n?uploads"), "GOVERNANCE", UNTIL));
    s3.refused("NoSuchKey", "GET", "/plain/n");
    s3.refused("NoSuchKey", "GET", "/bkt/none?retention");
    s3.refused("NoSuchKey", put("/bkt/none?legal-hold", hold));
  }

  @Test
  void locksOfNewVersions() throws Exception {
    TestRequest put = locked(put("/bkt/n", "x"), "COMPLIANCE", "2099-01-01T01:00:00+01:00");
    s3.ok(200, put.header("x-amz-object-lock-legal-hold", "ON"));
    assertRetention("/bkt/n", "COMPLIANCE", UNTIL);
    assertEquals("ON", s3.ok(200, "GET", "/bkt/n?legal-hold").element("Status"));
    // A copy has the lock that is asked for, not that of its source.
    s3.ok(200, TestS3.request("PUT", "/bkt/c").header("x-amz-copy-source", "/bkt/n"));
    s3.refused("NoSuchObjectLockConfiguration", "GET", "/bkt/c?retention");
    s3.ok(
        200,
        locked(
            TestS3.request("PUT", "/bkt/c").header("x-amz-copy-source", "/bkt/n"),
            "GOVERNANCE",
            UNTIL));
    assertRetention("/bkt/c", "GOVERNANCE", UNTIL);
    upload(locked(TestS3.request("POST", "/bkt/m?uploads"), "GOVERNANCE", LATER));
    assertRetention("/bkt/m", "GOVERNANCE", LATER);
  }

  private void upload(TestRequest create) throws Exception {
    String id = s3.ok(200, create).element("UploadId");
    String etag = s3.ok(200, put("/bkt/m?partNumber=1&uploadId=" + id, "part")).header("ETag");
    s3.ok(
        200,
        TestS3.request("POST", "/bkt/m?uploadId=" + id)
            .body(
                "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"
                    + etag
                    + "</ETag></Part></CompleteMultipartUpload>"));
  }

  @Test
  void theDefaultRetentionIsForVersionsThatAreWrittenWithoutOne() throws Exception {
    s3.ok(
        200,
        put("/bkt?object-lock", configuration(rule("<Mode>GOVERNANCE</Mode><Days>10</Days>"))));
    Instant before = Instant.now();
    s3.ok(200, put("/bkt/a", "x"));
    s3.ok(200, TestS3.request("PUT", "/bkt/b").header("x-amz-copy-source", "/bkt/a"));
    upload(TestS3.request("POST", "/bkt/m?uploads"));
    for (String key : List.of("a", "b", "m")) {
      ObjectLock lock = s3.metadata.object("bkt", key).orElseThrow().object().getLock();
      assertEquals(ObjectLock.Mode.GOVERNANCE, lock.getMode());
      assertTrue(lock.getRetainUntilMs() >= before.plus(Duration.ofDays(10)).toEpochMilli());
    }
    s3.ok(200, locked(put("/bkt/a", "x"), "COMPLIANCE", UNTIL));
    assertRetention("/bkt/a", "COMPLIANCE", UNTIL);
    s3.ok(
        200,
        put("/bkt/a", "x")
            .header("x-amz-object-lock-legal-hold", "ON")
            .header("Content-MD5", "not looked at here"));
    assertEquals("GOVERNANCE", s3.ok(200, "GET", "/bkt/a?retention").element("Mode"));
  }

  @Test
  void headersThatContradictEachOther() throws Exception {
    s3.refused(
        "InvalidRequest", locked(put("/bkt/n", "x"), "GOVERNANCE", UNTIL).without("Content-MD5"));
    s3.ok(
        200,
        locked(put("/bkt/n", "x"), "GOVERNANCE", UNTIL)
            .without("Content-MD5")
            .header("x-amz-checksum-crc32", "jNwWgw=="));
    s3.refused(
        "InvalidArgument", put("/bkt/n", "x").header("x-amz-object-lock-mode", "GOVERNANCE"));
    s3.refused(
        "InvalidArgument", put("/bkt/n", "x").header("x-amz-object-lock-retain-until-date", UNTIL));
    s3.refused("InvalidArgument", put("/bkt/n", "x").header("x-amz-object-lock-legal-hold", "on"));
  }

  private static TestRequest as(TestRequest request, String condition, String... actions) {
    String names =
        List.of(actions).stream().map(a -> "\"s3:" + a + "\"").collect(Collectors.joining(","));
    return request.header(
        "x-test-policy",
        "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Action\":["
            + names
            + "],\"Resource\":\"*\""
            + (condition.isEmpty() ? "" : ",\"Condition\":" + condition)
            + "}]}");
  }

  @Test
  void everyPartOfALockNeedsARightOfItsOwn() throws Exception {
    s3.ok(200, put("/bkt/k?retention", retention("GOVERNANCE", UNTIL)));
    s3.ok(200, put("/bkt/k?legal-hold", "<LegalHold><Status>ON</Status></LegalHold>"));
    String all = "PutObject";
    s3.refused("AccessDenied", as(locked(put("/bkt/n", "x"), "GOVERNANCE", UNTIL), "", all));
    s3.refused(
        "AccessDenied",
        as(
            locked(put("/bkt/n", "x"), "GOVERNANCE", UNTIL)
                .header("x-amz-object-lock-legal-hold", "ON"),
            "",
            all,
            "PutObjectRetention"));
    s3.refused("NoSuchKey", "GET", "/bkt/n");
    s3.ok(200, as(locked(put("/bkt/n", "x"), "GOVERNANCE", UNTIL), "", all, "PutObjectRetention"));
    s3.refused(
        "AccessDenied",
        as(put("/bkt/k?retention", retention("GOVERNANCE", LATER)), "", all, "GetObject"));
    s3.refused(
        "AccessDenied",
        as(
            put("/bkt/k?legal-hold", "<LegalHold><Status>OFF</Status></LegalHold>"),
            "",
            "PutObjectRetention"));
    s3.refused(
        "AccessDenied",
        as(
            bypassing(put("/bkt/k?retention", retention("GOVERNANCE", EARLIER))),
            "",
            "PutObjectRetention"));
    assertRetention("/bkt/k", "GOVERNANCE", UNTIL);
    s3.ok(
        200,
        as(
            bypassing(put("/bkt/k?retention", retention("GOVERNANCE", EARLIER))),
            "",
            "PutObjectRetention",
            "BypassGovernanceRetention"));
    s3.refused("AccessDenied", as(TestS3.request("GET", "/bkt/k?retention"), "", "GetObject"));
    s3.refused("AccessDenied", as(TestS3.request("GET", "/bkt/k?legal-hold"), "", "GetObject"));
    s3.refused("AccessDenied", as(put("/bkt?object-lock", configuration("")), "", "PutObject"));
    s3.refused("AccessDenied", as(TestS3.request("GET", "/bkt?object-lock"), "", "GetObject"));
    TestRequest create =
        TestS3.request("PUT", "/new").header("x-amz-bucket-object-lock-enabled", "true");
    s3.refused("AccessDenied", as(create, "", "CreateBucket", "PutBucketVersioning"));
    s3.refused("NoSuchBucket", "HEAD", "/new");
  }

  @Test
  void locksAreToldToThoseWhoMayReadThem() throws Exception {
    s3.ok(200, put("/bkt/k?retention", retention("GOVERNANCE", UNTIL)));
    s3.ok(200, put("/bkt/k?legal-hold", "<LegalHold><Status>ON</Status></LegalHold>"));
    for (String method : List.of("GET", "HEAD")) {
      TestAnswer none = s3.ok(200, as(TestS3.request(method, "/bkt/k"), "", "GetObject"));
      assertFalse(none.headers().contains("x-amz-object-lock-mode"));
      assertFalse(none.headers().contains("x-amz-object-lock-retain-until-date"));
      assertFalse(none.headers().contains("x-amz-object-lock-legal-hold"));
      TestAnswer hold =
          s3.ok(200, as(TestS3.request(method, "/bkt/k"), "", "GetObject", "GetObjectLegalHold"));
      assertEquals("ON", hold.header("x-amz-object-lock-legal-hold"));
      assertFalse(hold.headers().contains("x-amz-object-lock-mode"));
    }
  }

  @Test
  void policiesAskAboutLocks() throws Exception {
    String mode = "{\"StringEquals\":{\"s3:object-lock-mode\":\"GOVERNANCE\"}}";
    String[] write = {"PutObject", "PutObjectRetention", "PutObjectLegalHold"};
    s3.ok(200, as(locked(put("/bkt/n", "x"), "GOVERNANCE", UNTIL), mode, write));
    s3.refused("AccessDenied", as(locked(put("/bkt/n", "x"), "COMPLIANCE", UNTIL), mode, write));
    s3.ok(200, as(put("/bkt/k?retention", retention("GOVERNANCE", UNTIL)), mode, write));
    s3.refused(
        "AccessDenied", as(put("/bkt/k?retention", retention("COMPLIANCE", UNTIL)), mode, write));
    String days =
        "{\"NumericLessThanEquals\":{\"s3:object-lock-remaining-retention-days\":\"10\"}}";
    String in10 = Instant.now().plus(Duration.ofDays(10)).toString();
    String in11 = Instant.now().plus(Duration.ofDays(11)).toString();
    s3.ok(200, as(locked(put("/bkt/n", "x"), "GOVERNANCE", in10), days, write));
    s3.refused("AccessDenied", as(locked(put("/bkt/n", "x"), "GOVERNANCE", in11), days, write));
    String hold = "{\"StringEquals\":{\"s3:object-lock-legal-hold\":\"ON\"}}";
    s3.ok(
        200,
        as(put("/bkt/k?legal-hold", "<LegalHold><Status>ON</Status></LegalHold>"), hold, write));
    s3.refused(
        "AccessDenied",
        as(put("/bkt/k?legal-hold", "<LegalHold><Status>OFF</Status></LegalHold>"), hold, write));
  }

  /** The id of the version that is written. */
  private String written(TestRequest request) throws Exception {
    return s3.ok(200, request).header("x-amz-version-id");
  }

  private static TestRequest delete(String key, String version) {
    return TestS3.request("DELETE", "/bkt/" + key + "?versionId=" + version);
  }

  @Test
  void lockedVersionsAreNotDeleted() throws Exception {
    String governed = written(locked(put("/bkt/v", "1"), "GOVERNANCE", UNTIL));
    String complied = written(locked(put("/bkt/v", "2"), "COMPLIANCE", UNTIL));
    String held =
        written(
            put("/bkt/v", "3")
                .header("x-amz-object-lock-legal-hold", "ON")
                .header("Content-MD5", "not looked at here"));
    for (String version : List.of(governed, complied, held)) {
      TestAnswer refused = s3.send(delete("v", version));
      assertEquals("AccessDenied", refused.code());
      assertEquals(403, refused.status());
    }
    for (String version : List.of(complied, held)) {
      s3.refused("AccessDenied", bypassing(delete("v", version)));
    }
    // A marker hides the versions and deletes none.
    String marker = s3.ok(204, "DELETE", "/bkt/v").header("x-amz-version-id");
    s3.refused("NoSuchKey", "GET", "/bkt/v");
    s3.ok(204, delete("v", marker));
    assertEquals("3", s3.ok(200, "GET", "/bkt/v").text());
    s3.refused("BucketNotEmpty", "DELETE", "/bkt");
    s3.refused("AccessDenied", as(bypassing(delete("v", governed)), "", "DeleteObjectVersion"));
    s3.ok(
        204,
        as(
            bypassing(delete("v", governed)),
            "",
            "DeleteObjectVersion",
            "BypassGovernanceRetention"));
    s3.refused("NoSuchVersion", "GET", "/bkt/v?versionId=" + governed);
    s3.ok(
        200,
        put("/bkt/v?legal-hold&versionId=" + held, "<LegalHold><Status>OFF</Status></LegalHold>"));
    s3.ok(204, delete("v", held));
    assertEquals("2", s3.ok(200, "GET", "/bkt/v").text());
  }

  @Test
  void eachDeletionOfManyObeysTheLocks() throws Exception {
    String governed = written(locked(put("/bkt/a", "1"), "GOVERNANCE", UNTIL));
    String complied = written(locked(put("/bkt/b", "1"), "COMPLIANCE", UNTIL));
    String free = written(put("/bkt/c", "1"));
    String keys =
        "<Delete>"
            + named("a", governed)
            + named("b", complied)
            + named("c", free)
            + "<Object><Key>b</Key></Object></Delete>";
    TestRequest request = deletions(keys);
    assertEquals(List.of("c", "b"), s3.ok(200, request).each("Deleted", "Key"));
    TestAnswer user =
        s3.ok(200, as(bypassing(deletions(keys)), "", "DeleteObjectVersion", "DeleteObject"));
    assertEquals(List.of("a", "b", "c", "b"), user.each("Error", "Key"));
    TestAnswer bypassing = s3.ok(200, bypassing(deletions(keys)));
    assertEquals(List.of("a", "c", "b"), bypassing.each("Deleted", "Key"));
    assertEquals(List.of("AccessDenied"), bypassing.each("Error", "Code"));
    assertEquals("1", s3.ok(200, "GET", "/bkt/b?versionId=" + complied).text());
  }

  private static String named(String key, String version) {
    return "<Object><Key>" + key + "</Key><VersionId>" + version + "</VersionId></Object>";
  }

  private static TestRequest deletions(String document) {
    return TestS3.request("POST", "/bkt?delete")
        .header("Content-MD5", "not looked at here")
        .body(document);
  }

  @Test
  void versioningOfABucketWithLockIsNotSuspended() throws Exception {
    TestAnswer refused =
        s3.send(
            put(
                "/bkt?versioning",
                "<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>"));
    assertEquals("InvalidBucketState", refused.code());
    assertEquals(409, refused.status());
    assertEquals("Enabled", s3.ok(200, "GET", "/bkt?versioning").element("Status"));
  }

  @Test
  void lockedVersionsAreNeitherAppendedToNorPatched() throws Exception {
    s3.ok(200, locked(put("/bkt/v", "1"), "GOVERNANCE", UNTIL));
    s3.refused("InvalidBucketState", put("/bkt/v?append&position=1", "2"));
    s3.refused(
        "InvalidBucketState",
        TestS3.request("PATCH", "/bkt/v").header("Content-Range", "bytes 0-0/*").body("2"));
    assertEquals("1", s3.ok(200, "GET", "/bkt/v").text());
  }

  @Test
  void locksBelongToVersions() throws Exception {
    String first = written(put("/bkt/v", "1"));
    String second = written(put("/bkt/v", "2"));
    s3.ok(200, put("/bkt/v?retention&versionId=" + first, retention("GOVERNANCE", UNTIL)));
    s3.refused("NoSuchObjectLockConfiguration", "GET", "/bkt/v?retention");
    assertEquals(
        "GOVERNANCE",
        s3.ok(200, "GET", "/bkt/v?versionId=" + first).header("x-amz-object-lock-mode"));
    assertEquals(
        UNTIL, s3.ok(200, "GET", "/bkt/v?retention&versionId=" + first).element("RetainUntilDate"));
    s3.refused("AccessDenied", delete("v", first));
    s3.ok(204, delete("v", second));
    assertRetention("/bkt/v", "GOVERNANCE", UNTIL);
    String marker = s3.ok(204, "DELETE", "/bkt/v").header("x-amz-version-id");
    s3.refused("MethodNotAllowed", "GET", "/bkt/v?retention&versionId=" + marker);
    s3.refused(
        "MethodNotAllowed",
        put("/bkt/v?retention&versionId=" + marker, retention("GOVERNANCE", UNTIL)));
    s3.refused(
        "NoSuchVersion",
        put("/bkt/v?retention&versionId=" + second, retention("GOVERNANCE", UNTIL)));
  }
}
