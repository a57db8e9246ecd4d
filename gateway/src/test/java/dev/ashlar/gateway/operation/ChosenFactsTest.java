package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.metadata.memory.TestProfiles;
import dev.ashlar.protocol.model.Profile;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Senders who choose what conditions of policies see: by headers that mean nothing to the request,
 * or that mean something else to it than to the condition.
 */
class ChosenFactsTest {
  private static final String OTHER = "other";
  private static final String SOURCE = "x-amz-copy-source";

  private final TestS3 s3 = new TestS3();

  @BeforeEach
  void storeSomething() throws Exception {
    s3.ok(200, "PUT", "/bkt");
    s3.ok(200, TestS3.request("PUT", "/bkt/trusted/k").body("data"));
    s3.ok(200, TestS3.request("PUT", "/bkt/secret/k").body("data"));
  }

  private static TestRequest as(String who, String method, String uri) {
    return TestS3.request(method, uri).header("x-test-owner", who);
  }

  /** A statement about everybody and all of the bucket; empty: without a condition. */
  private static String statement(String effect, String action, String condition) {
    return ("{'Effect':'%s','Principal':'*','Action':'%s',"
            + "'Resource':['arn:aws:s3:::bkt','arn:aws:s3:::bkt/*']%s}")
        .formatted(effect, action, condition.isEmpty() ? "" : ",'Condition':{" + condition + "}")
        .replace('\'', '"');
  }

  private void put(String... statements) throws Exception {
    String policy = "{\"Statement\":[" + String.join(",", statements) + "]}";
    s3.ok(204, TestS3.request("PUT", "/bkt?policy").body(policy));
  }

  @Test
  void whatIsNoCopyHasNoSource() throws Exception {
    put(
        statement("Allow", "s3:PutObject", "'StringLike':{'s3:x-amz-copy-source':'bkt/trusted/*'}"),
        statement("Allow", "s3:GetObject", ""));
    s3.ok(200, as(OTHER, "PUT", "/bkt/copy").header(SOURCE, "/bkt/trusted/k"));
    s3.refused("AccessDenied", as(OTHER, "PUT", "/bkt/copy").header(SOURCE, "bkt/secret/k"));
    s3.refused("AccessDenied", as(OTHER, "PUT", "/bkt/new").body("x"));
    TestRequest append = as(OTHER, "POST", "/bkt/new?append&position=0").body("x");
    s3.refused("NotImplemented", append.header(SOURCE, "bkt/trusted/k"));
    s3.refused("NoSuchKey", "GET", "/bkt/new");
  }

  private static final String SSE = "x-amz-server-side-encryption";

  /** The policy is asked before the value is judged. */
  @Test
  void policiesDemandEncryption() throws Exception {
    put(
        statement("Allow", "s3:PutObject", ""),
        statement("Deny", "s3:PutObject", "'StringNotEquals':{'s3:" + SSE + "':'AES256'}"));
    s3.refused("AccessDenied", as(OTHER, "PUT", "/bkt/new").body("x"));
    s3.refused("AccessDenied", as(OTHER, "PUT", "/bkt/new").header(SSE, "AES192").body("x"));
    s3.refused("AccessDenied", as(OTHER, "PUT", "/bkt/new").header(SSE, "aws:kms").body("x"));
    s3.refused(
        "AccessDenied", as(OTHER, "POST", "/bkt/new?append&position=0").header(SSE, "").body("x"));
    s3.refused("NoSuchKey", "GET", "/bkt/new");
    s3.ok(200, as(OTHER, "PUT", "/bkt/new").header(SSE, "AES256").body("x"));
  }

  @Test
  void policiesDemandAKeyOfTheClient() throws Exception {
    put(
        statement("Allow", "s3:PutObject", ""),
        statement("Deny", "s3:PutObject", "'Null':{'s3:" + SSE + "-customer-algorithm':'true'}"));
    s3.refused("AccessDenied", as(OTHER, "PUT", "/bkt/new").body("x"));
    s3.ok(200, TestKeys.withCustomer(as(OTHER, "PUT", "/bkt/new"), 1).body("x"));
  }

  @Test
  void policiesDemandAKmsKey() throws Exception {
    put(
        statement(
            "Allow", "s3:PutObject", "'StringEquals':{'s3:" + SSE + "-aws-kms-key-id':'kms-2'}"));
    s3.refused("AccessDenied", TestKeys.withKms(as(OTHER, "PUT", "/bkt/new"), "kms-1").body("x"));
    s3.ok(200, TestKeys.withKms(as(OTHER, "PUT", "/bkt/new"), "kms-2").body("x"));
  }

  /** Requests may say either, and parts say nothing. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "'StringEquals':{'%s':'kms-2'}",
        "'StringEquals':{'%s':'arn:aws:kms:us-east-1:111122223333:key/kms-2'}",
        "'StringLike':{'%s':'arn:aws:kms:*:${aws:PrincipalAccount}:key/kms-2'}",
        "'ArnEquals':{'%s':'arn:aws:kms:us-east-1:111122223333:key/kms-2'}",
        "'ArnLike':{'%s':'arn:aws:kms:*:*:key/?ms-2'}"
      })
  void aKmsKeyHasOneSpelling(String condition) throws Exception {
    String key = "s3:" + SSE + "-aws-kms-key-id";
    put(statement("Allow", "s3:PutObject", condition.formatted(key)));
    for (String prefix : List.of("", "arn:aws:kms:us-east-1:111122223333:key/")) {
      String own = prefix + "kms-2";
      s3.ok(200, TestKeys.withKms(as(OTHER, "PUT", "/bkt/new"), own).body("x"));
      String upload =
          s3.ok(200, TestKeys.withKms(as(OTHER, "POST", "/bkt/m?uploads"), own))
              .element("UploadId");
      s3.ok(200, as(OTHER, "PUT", "/bkt/m?partNumber=1&uploadId=" + upload).body("x"));
      String another = prefix + "kms-1";
      s3.refused("AccessDenied", TestKeys.withKms(as(OTHER, "PUT", "/bkt/new"), another).body("x"));
    }
  }

  @Test
  void anArnOfAnotherKeyDoesNotPassADenial() throws Exception {
    put(
        statement("Allow", "s3:PutObject", ""),
        statement(
            "Deny",
            "s3:PutObject",
            "'ArnNotEqualsIfExists':{'s3:"
                + SSE
                + "-aws-kms-key-id':'arn:aws:kms:us-east-1:111122223333:key/kms-2'}"));
    s3.ok(200, TestKeys.withKms(as(OTHER, "PUT", "/bkt/new"), "kms-2").body("x"));
    s3.refused("AccessDenied", TestKeys.withKms(as(OTHER, "PUT", "/bkt/new"), "kms-1").body("x"));
  }

  /** The policy of docs/operate/encryption.md: one key, or the default of the bucket. */
  @Test
  void aPolicyLimitsTheKeysOfABucket() throws Exception {
    String key = "arn:aws:kms:us-east-1:111122223333:key/kms-2";
    put(
        statement("Allow", "s3:*", ""),
        statement(
            "Deny",
            "s3:PutObject",
            "'Null':{'s3:%1$s':'false'},'ArnNotEquals':{'s3:%1$s':'%2$s'}"
                .formatted(SSE + "-aws-kms-key-id", key)),
        statement(
            "Deny",
            "s3:PutObject",
            "'Null':{'s3:%1$s':'false'},'StringNotEquals':{'s3:%1$s':'aws:kms'}".formatted(SSE)));
    s3.ok(200, TestKeys.withKms(as(OTHER, "PUT", "/bkt/new"), "kms-2").body("x"));
    s3.ok(200, TestKeys.withKms(as(OTHER, "PUT", "/bkt/new"), key).body("x"));
    s3.ok(200, as(OTHER, "PUT", "/bkt/new").header(SSE, "aws:kms").body("x"));
    s3.ok(200, as(OTHER, "PUT", "/bkt/new").body("x"));
    s3.ok(200, TestKeys.withKms(as(OTHER, "POST", "/bkt/m?uploads"), "kms-2"));
    for (String another : List.of("kms-1", "arn:aws:kms:us-east-1:111122223333:key/kms-1")) {
      s3.refused("AccessDenied", TestKeys.withKms(as(OTHER, "PUT", "/bkt/new"), another).body("x"));
      s3.refused("AccessDenied", TestKeys.withKms(as(OTHER, "POST", "/bkt/m?uploads"), another));
      s3.refused(
          "AccessDenied",
          TestKeys.withKms(as(OTHER, "PUT", "/bkt/new"), another).header(SOURCE, "bkt/trusted/k"));
    }
    s3.refused("AccessDenied", TestKeys.withMaster(as(OTHER, "PUT", "/bkt/new")).body("x"));
  }

  /** The other way round: a key that some may not name. */
  @Test
  void aDenialKeepsAKeyFromSome() throws Exception {
    put(
        statement("Allow", "s3:*", ""),
        statement(
            "Deny", "s3:PutObject", "'StringEquals':{'s3:" + SSE + "-aws-kms-key-id':'kms-1'}"));
    s3.refused("AccessDenied", TestKeys.withKms(as(OTHER, "PUT", "/bkt/new"), "kms-1").body("x"));
    s3.refused("AccessDenied", TestKeys.withKms(as(OTHER, "POST", "/bkt/m?uploads"), "kms-1"));
    s3.ok(200, TestKeys.withKms(as(OTHER, "PUT", "/bkt/new"), "kms-2").body("x"));
    s3.ok(200, as(OTHER, "PUT", "/bkt/new").body("x"));
  }

  /** A header of a part changes nothing. The upload decides how it is encrypted. */
  @Test
  void headersOfPartsMeetNoCondition() throws Exception {
    String upload = s3.ok(200, TestS3.request("POST", "/bkt/m?uploads")).element("UploadId");
    put(statement("Allow", "s3:PutObject", "'StringEquals':{'s3:" + SSE + "':'AES256'}"));
    s3.refused(
        "AccessDenied",
        as(OTHER, "PUT", "/bkt/m?partNumber=1&uploadId=" + upload).header(SSE, "AES256").body("x"));
    s3.refused(
        "AccessDenied",
        as(OTHER, "PUT", "/bkt/m?partNumber=1&uploadId=none").header(SSE, "AES256").body("x"));
  }

  @Test
  void theDirectiveOfACopyMeansNothingToOtherWrites() throws Exception {
    put(
        statement(
            "Allow", "s3:PutObject", "'StringEquals':{'s3:x-amz-metadata-directive':'COPY'}"));
    s3.refused(
        "AccessDenied",
        as(OTHER, "PUT", "/bkt/new").header("x-amz-metadata-directive", "COPY").body("x"));
  }

  @Test
  void aStorageClassThatAnObjectDoesNotGetMeetsNoCondition() throws Exception {
    Profile hot = new Profile(2, 2, Profile.DEFAULT_STRIPE_UNIT);
    s3.metadata.submit(TestProfiles.add(s3.metadata, "HOT", hot, 8));
    String header = "x-amz-storage-class";
    put(
        statement("Allow", "s3:PutObject", "'StringEquals':{'s3:x-amz-storage-class':'HOT'}"),
        statement("Allow", "s3:GetObject", ""),
        statement("Allow", "s3:DeleteObject", ""));
    s3.refused("AccessDenied", as(OTHER, "PUT", "/bkt/k").body("x"));
    s3.ok(200, as(OTHER, "PUT", "/bkt/k").header(header, "HOT").body("x"));
    s3.ok(200, as(OTHER, "PUT", "/bkt/copy").header(SOURCE, "bkt/trusted/k").header(header, "HOT"));
    s3.refused(
        "InvalidStorageClass",
        as(OTHER, "POST", "/bkt/trusted/k?append&position=4").header(header, "HOT").body("x"));
    s3.refused(
        "AccessDenied",
        as(OTHER, "PUT", "/bkt/to?renameObject")
            .header("x-amz-rename-source", "trusted/k")
            .header(header, "HOT"));
  }

  @Test
  void anAclThatIsNotGivenMeetsNoCondition() throws Exception {
    String full = "bucket-owner-full-control";
    put(
        statement("Allow", "s3:PutObject", "'StringEquals':{'s3:x-amz-acl':'" + full + "'}"),
        statement("Allow", "s3:GetObject", ""),
        statement("Allow", "s3:DeleteObject", ""));
    s3.ok(200, as(OTHER, "PUT", "/bkt/mine").header("x-amz-acl", full).body("x"));
    for (String uri : List.of("/bkt/to?renameObject", "/bkt/to?renameObject&x-amz-acl=" + full)) {
      TestRequest rename = as(OTHER, "PUT", uri).header("x-amz-rename-source", "mine");
      if (!uri.contains("&")) {
        rename.header("x-amz-acl", full);
      }
      s3.refused("NotImplemented", rename);
    }
    s3.refused(
        "NotImplemented",
        as(OTHER, "PATCH", "/bkt/mine")
            .header("Content-Range", "bytes 0-0/*")
            .header("x-amz-acl", full)
            .body("y"));
    put(statement("Allow", "s3:PutObject", "'StringEquals':{'s3:x-amz-acl':'private'}"));
    s3.refused(
        "AccessDenied",
        as(OTHER, "PUT", "/bkt/mine")
            .header("x-amz-write-offset-bytes", "1")
            .header("x-amz-acl", "private")
            .body("y"));
    put(statement("Allow", "s3:GetObject", ""));
    assertEquals("x", s3.ok(200, as(OTHER, "GET", "/bkt/mine")).text());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/bkt/secret/k",
        "bkt/secr%65t/k",
        "bkt%2Fsecret/k",
        "bkt/secret/k?versionId=null"
      })
  void aSourceHasOneSpelling(String source) throws Exception {
    put(
        statement("Allow", "s3:*", ""),
        statement(
            "Deny", "s3:PutObject", "'StringEquals':{'s3:x-amz-copy-source':'bkt/secret/k'}"));
    s3.refused("AccessDenied", as(OTHER, "PUT", "/bkt/copy").header(SOURCE, source));
    s3.ok(200, as(OTHER, "PUT", "/bkt/copy").header(SOURCE, "/bkt/trusted/k"));
  }

  @Test
  void aHeaderMeansTheSameToConditionsAndToTheRequest() throws Exception {
    put(
        statement("Allow", "s3:*", ""),
        statement("Deny", "s3:PutObject", "'StringEquals':{'s3:x-amz-acl':'public-read'}"),
        statement(
            "Deny", "s3:PutObject", "'StringEquals':{'s3:x-amz-metadata-directive':'REPLACE'}"));
    s3.refused("AccessDenied", as(OTHER, "PUT", "/bkt/a?x-amz-acl=public-read").body("x"));
    s3.refused("AccessDenied", as(OTHER, "PUT", "/bkt/a?x-amz-acl=%20public-read").body("x"));
    s3.refused("AccessDenied", as(OTHER, "PUT", "/bkt/a?x-amz-acl=public-read%09").body("x"));
    s3.refused(
        "InvalidArgument",
        as(OTHER, "PUT", "/bkt/a?x-amz-acl=public-read")
            .header("x-amz-acl", "public-read")
            .header("x-amz-acl", "private")
            .body("x"));
    s3.refused(
        "InvalidArgument",
        as(OTHER, "PUT", "/bkt/a")
            .header(SOURCE, "bkt/trusted/k")
            .header("x-amz-metadata-directive", "REPLACE")
            .header("x-amz-metadata-directive", "COPY"));
    s3.refused("NoSuchKey", "GET", "/bkt/a");
  }

  @Test
  void copiedTagsAreThoseOfTheWrite() throws Exception {
    s3.ok(200, TestS3.request("PUT", "/bkt/k").header("x-amz-tagging", "class=public").body("x"));
    put(
        statement("Allow", "s3:*", ""),
        statement("Deny", "s3:PutObject", "'StringEquals':{'s3:RequestObjectTag/class':'public'}"));
    s3.refused("AccessDenied", as(OTHER, "PUT", "/bkt/copy").header(SOURCE, "bkt/k"));
    s3.ok(
        200,
        as(OTHER, "PUT", "/bkt/copy")
            .header(SOURCE, "bkt/k")
            .header("x-amz-tagging-directive", "REPLACE"));
  }

  @Test
  void writesCanBeHeldToConditionsOfTheirOwn() throws Exception {
    put(
        statement("Allow", "s3:*", ""),
        statement(
            "Deny",
            "s3:PutObject",
            "'Null':{'s3:if-none-match':'true'},'Bool':{'s3:ObjectCreationOperation':'true'}"));
    s3.refused("AccessDenied", as(OTHER, "PUT", "/bkt/a").body("x"));
    s3.refused("AccessDenied", as(OTHER, "PUT", "/bkt/a").header("If-Match", "\"e\"").body("x"));
    s3.ok(200, as(OTHER, "PUT", "/bkt/a").header("If-None-Match", "*").body("x"));
    s3.refused("AccessDenied", as(OTHER, "PUT", "/bkt/b").header(SOURCE, "bkt/trusted/k"));
    s3.refused("AccessDenied", as(OTHER, "PUT", "/bkt/b?append&position=0").body("x"));
    String upload = s3.ok(200, as(OTHER, "POST", "/bkt/m?uploads")).element("UploadId");
    s3.ok(200, as(OTHER, "PUT", "/bkt/m?partNumber=1&uploadId=" + upload).body("x"));
    s3.refused(
        "AccessDenied",
        as(OTHER, "POST", "/bkt/m?uploadId=" + upload).body("<CompleteMultipartUpload/>"));
    put(
        statement("Allow", "s3:*", ""),
        statement("Deny", "s3:PutObject", "'StringEquals':{'s3:if-match':'etag'}"));
    s3.refused("AccessDenied", as(OTHER, "PUT", "/bkt/a").header("If-Match", "\"etag\"").body("x"));
    s3.ok(200, as(OTHER, "PUT", "/bkt/a").body("x"));
  }

  /** The test's authenticator looks at its clock at the beginning of 1970. */
  @ParameterizedTest
  @ValueSource(strings = {"header", "query"})
  void theAgeOfSignaturesIsBounded(String place) throws Exception {
    put(
        statement("Allow", "s3:GetObject", ""),
        statement("Deny", "s3:GetObject", "'NumericGreaterThan':{'s3:signatureAge':'600000'}"));
    s3.ok(200, signedAt(place, "19691231T235500Z"));
    s3.ok(200, signedAt(place, "19700101T000500Z"));
    s3.refused("AccessDenied", signedAt(place, "19691231T234900Z"));
    s3.ok(200, as("anonymous", "GET", "/bkt/trusted/k"));
  }

  private static TestRequest signedAt(String place, String time) {
    return place.equals("query")
        ? as(OTHER, "GET", "/bkt/trusted/k?X-Amz-Date=" + time)
        : as(OTHER, "GET", "/bkt/trusted/k?X-Amz-Date=19700101T000000Z")
            .header("Authorization", "AWS4-HMAC-SHA256")
            .header("x-amz-date", time);
  }

  /** As AWS documents how to deny what comes from elsewhere: but for calls of its own services. */
  @ParameterizedTest
  @ValueSource(strings = {"aws:ViaAWSService", "aws:PrincipalIsAWSService"})
  void noCallerIsAServiceOfAws(String key) throws Exception {
    put(
        statement("Allow", "s3:GetObject", ""),
        statement(
            "Deny",
            "s3:GetObject",
            "'NotIpAddress':{'aws:SourceIp':'192.0.2.0/24'},'Bool':{'" + key + "':'false'}"));
    s3.refused("AccessDenied", as(OTHER, "GET", "/bkt/trusted/k"));
    TestRequest anonymous = as("anonymous", "GET", "/bkt/trusted/k");
    // As in AWS, where only signed requests say so of the caller.
    boolean isSaid = key.equals("aws:ViaAWSService");
    assertEquals(isSaid ? 403 : 200, s3.send(anonymous).status());
  }

  @Test
  void aPrefixInTheQueryTellsNoVersionsBehindAnother() throws Exception {
    s3.ok(
        200,
        TestS3.request("PUT", "/bkt?versioning")
            .body("<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"));
    put(
        statement("Allow", "s3:ListBucket", ""),
        statement("Allow", "s3:ListBucketVersions", "'StringLike':{'s3:prefix':'trusted/*'}"));
    String version = "?versionId=00000000000000ff";
    s3.refused("NoSuchVersion", as(OTHER, "GET", "/bkt/trusted/k" + version));
    s3.refused("AccessDenied", as(OTHER, "GET", "/bkt/secret/k" + version));
    s3.refused("AccessDenied", as(OTHER, "GET", "/bkt/secret/k" + version + "&prefix=trusted/"));
  }
}
