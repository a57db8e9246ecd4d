package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.SetBucketVersioning;
import dev.ashlar.protocol.message.Versioning;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RenameObjectTest {
  private static final String PAST = "Wed, 01 Jan 2020 00:00:00 GMT";
  private static final String FUTURE = "Mon, 01 Jan 2120 00:00:00 GMT";

  private final TestS3 s3 = new TestS3();
  private String etag = "";

  @BeforeEach
  void createObject() throws Exception {
    s3.ok(200, "PUT", "/bkt");
    etag =
        s3.ok(
                200,
                TestS3.request("PUT", "/bkt/from")
                    .header("x-amz-meta-a", "b")
                    .header("x-amz-tagging", "t=1")
                    .body("content"))
            .header("ETag");
  }

  private static TestRequest rename(String source, String target) {
    return TestS3.request("PUT", "/bkt/" + target + "?renameObject")
        .header("x-amz-rename-source", source);
  }

  private void assertNotRenamed() throws Exception {
    assertEquals("content", s3.ok(200, "GET", "/bkt/from").text());
    s3.refused("NoSuchKey", "GET", "/bkt/to");
  }

  @ParameterizedTest
  @ValueSource(strings = {"from", "/from", "%66rom", "/fr%6fm"})
  void theObjectKeepsAllButItsName(String source) throws Exception {
    s3.ok(200, rename(source, "to"));
    s3.refused("NoSuchKey", "GET", "/bkt/from");
    TestAnswer renamed = s3.ok(200, "GET", "/bkt/to");
    assertEquals("content", renamed.text());
    assertEquals(etag, renamed.header("ETag"));
    assertEquals("b", renamed.header("x-amz-meta-a"));
    assertEquals("1", renamed.header("x-amz-tagging-count"));
    assertEquals(List.of("to"), s3.ok(200, "GET", "/bkt").each("Contents", "Key"));
  }

  @Test
  void whatHadTheNameIsReplaced() throws Exception {
    s3.ok(200, TestS3.request("PUT", "/bkt/to").body("before"));
    s3.refused("PreconditionFailed", rename("from", "to").header("If-None-Match", "*"));
    s3.refused("PreconditionFailed", rename("from", "to").header("If-Match", "\"other\""));
    assertEquals("before", s3.ok(200, "GET", "/bkt/to").text());
    s3.ok(200, rename("from", "to"));
    assertEquals("content", s3.ok(200, "GET", "/bkt/to").text());
    s3.refused("NoSuchKey", rename("from", "to"));
    s3.ok(200, rename("to", "from").header("If-None-Match", "*"));
    s3.refused("NoSuchKey", rename("from", "to").header("If-Match", "\"other\""));
  }

  @Test
  void conditionsOnTheSource() throws Exception {
    String prefix = "x-amz-rename-source-if-";
    s3.refused("PreconditionFailed", rename("from", "to").header(prefix + "match", "\"x\""));
    s3.refused("PreconditionFailed", rename("from", "to").header(prefix + "none-match", etag));
    s3.refused("PreconditionFailed", rename("from", "to").header(prefix + "none-match", "*"));
    s3.refused(
        "PreconditionFailed", rename("from", "to").header(prefix + "modified-since", FUTURE));
    s3.refused(
        "PreconditionFailed", rename("from", "to").header(prefix + "unmodified-since", PAST));
    assertNotRenamed();
    s3.ok(
        200,
        rename("from", "to")
            .header(prefix + "match", etag)
            .header(prefix + "modified-since", PAST));
  }

  @ParameterizedTest
  @CsvSource({
    "'', InvalidArgument",
    "/, InvalidArgument",
    "%, InvalidURI",
    "to, InvalidRequest",
    "/to, InvalidRequest",
    "none, NoSuchKey",
    "bkt/from, NoSuchKey"
  })
  void sourcesThatAreNone(String source, String code) throws Exception {
    s3.refused(code, rename(source, "to"));
    assertNotRenamed();
  }

  @Test
  void headersThatDoNotBelongToARename() throws Exception {
    s3.refused("InvalidArgument", TestS3.request("PUT", "/bkt/to?renameObject"));
    s3.refused("NotImplemented", rename("from", "to").header("x-amz-copy-source", "/bkt/from"));
    s3.refused("NotImplemented", rename("from", "to").header("x-amz-tagging", "a=1"));
    s3.refused("NotImplemented", rename("from", "to").header("If-Unmodified-Since", FUTURE));
    s3.refused("InvalidArgument", rename("from", "to").header("x-amz-client-token", ""));
    s3.refused("InvalidArgument", rename("from", "to").header("x-amz-client-token", "a b"));
    s3.refused(
        "InvalidArgument", rename("from", "to").header("x-amz-client-token", "x".repeat(65)));
    assertNotRenamed();
  }

  @Test
  void aRequestWithATokenCanBeRepeated() throws Exception {
    String token = "x-amz-client-token";
    s3.ok(200, rename("from", "to").header(token, "T1").header("If-None-Match", "*"));
    s3.ok(200, rename("from", "to").header(token, "T1").header("If-None-Match", "*"));
    s3.refused("NoSuchKey", rename("from", "to"));
    s3.refused("NoSuchKey", rename("from", "to").header(token, "T2"));
    TestAnswer mismatch = s3.send(rename("from", "to").header(token, "T1"));
    assertEquals("IdempotencyParameterMismatch", mismatch.code());
    assertEquals(400, mismatch.status());
    s3.ok(200, TestS3.request("PUT", "/bkt/from").body("another"));
    s3.ok(200, rename("from", "to").header(token, "T1").header("If-None-Match", "*"));
    assertEquals("content", s3.ok(200, "GET", "/bkt/to").text());
    assertEquals("another", s3.ok(200, "GET", "/bkt/from").text());
  }

  @Test
  void bucketsWithVersions() throws Exception {
    s3.metadata.require(
        Command.newBuilder()
            .setSetBucketVersioning(
                SetBucketVersioning.newBuilder()
                    .setBucket("bkt")
                    .setVersioning(Versioning.VERSIONING_ENABLED)));
    TestAnswer answer = s3.send(rename("from", "to"));
    assertEquals("InvalidBucketState", answer.code());
    assertEquals(409, answer.status());
    assertNotRenamed();
  }

  private static String allow(String actions, String key) {
    return "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Action\":["
        + actions
        + "],\"Resource\":\"arn:aws:s3:::bkt/"
        + key
        + "\"}]}";
  }

  @Test
  void tagsAndAclComeOnlyWhereTheyMayBeGiven() throws Exception {
    s3.ok(200, TestS3.request("PUT", "/bkt/from?acl").header("x-amz-acl", "public-read"));
    String all = "\"s3:GetObject\",\"s3:PutObject\",\"s3:DeleteObject\"";
    String tags = all + ",\"s3:PutObjectTagging\"";
    String acl = all + ",\"s3:PutObjectAcl\"";
    for (String policy : List.of(allow(all, "*"), allow(tags, "*"), allow(acl, "*"))) {
      s3.refused("AccessDenied", rename("from", "to").header("x-test-policy", policy));
    }
    String both = allow(tags + ",\"s3:PutObjectAcl\"", "*");
    String denied =
        both.replace(
            "]}",
            ",{\"Effect\":\"Deny\",\"Action\":\"s3:PutObject\",\"Resource\":\"*\","
                + "\"Condition\":{\"StringEquals\":{\"s3:RequestObjectTag/t\":\"1\"}}}]}");
    s3.refused("AccessDenied", rename("from", "to").header("x-test-policy", denied));
    assertNotRenamed();
    s3.ok(200, rename("from", "to").header("x-test-policy", both));
  }

  @Test
  void rightsToBothNamesAreNeeded() throws Exception {
    String all = "\"s3:GetObject\",\"s3:PutObject\",\"s3:DeleteObject\"";
    for (String policy :
        new String[] {
          allow(all, "to"),
          allow(all, "from"),
          allow("\"s3:GetObject\",\"s3:PutObject\"", "*"),
          allow("\"s3:DeleteObject\",\"s3:PutObject\"", "*"),
          allow("\"s3:DeleteObject\",\"s3:GetObject\"", "*")
        }) {
      s3.refused("AccessDenied", rename("from", "to").header("x-test-policy", policy));
      s3.refused(
          "AccessDenied",
          rename("from", "to")
              .header("x-test-policy", policy)
              .header("x-amz-client-token", "token"));
    }
    s3.refused("AccessDenied", rename("from", "to").header("x-test-owner", "other"));
    assertNotRenamed();
    // What is not there is not told to those who may not list.
    s3.refused("AccessDenied", rename("none", "to").header("x-test-policy", allow(all, "*")));
    String tagged = allow(all + ",\"s3:PutObjectTagging\"", "*");
    s3.ok(200, rename("from", "to").header("x-test-policy", tagged));
  }
}
