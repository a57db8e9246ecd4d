package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tags of buckets and objects, and policies that ask about them. */
class TaggingTest {
  private final TestS3 s3 = new TestS3();

  @BeforeEach
  void createObject() throws Exception {
    s3.ok(200, "PUT", "/bkt");
    s3.ok(200, TestS3.request("PUT", "/bkt/k").body("x"));
  }

  /** A document with these tags, keys and values in turn. */
  private static String tags(String... keysAndValues) {
    StringBuilder xml = new StringBuilder("<Tagging><TagSet>");
    for (int i = 0; i < keysAndValues.length; i += 2) {
      xml.append("<Tag><Key>" + keysAndValues[i] + "</Key>");
      xml.append("<Value>" + keysAndValues[i + 1] + "</Value></Tag>");
    }
    return xml + "</TagSet></Tagging>";
  }

  private static String manyTags(int count) {
    return tags(IntStream.range(0, 2 * count).mapToObj(i -> "t" + i).toArray(String[]::new));
  }

  private String tagsOf(String path) throws Exception {
    return s3.ok(200, "GET", path + "?tagging").xml().children().get(0).children().stream()
        .map(tag -> tag.childText("Key") + "=" + tag.childText("Value"))
        .collect(Collectors.joining("&"));
  }

  private TestRequest putTags(String path, String document) {
    return TestS3.request("PUT", path + "?tagging").body(document);
  }

  @Test
  void tagsOfABucket() throws Exception {
    TestAnswer none = s3.send("GET", "/bkt?tagging");
    assertEquals("NoSuchTagSet", none.code());
    assertEquals("bkt", none.detail("BucketName"));
    s3.ok(204, putTags("/bkt", tags("a", "1", "b c", "", "ä", "+-=._:/@")));
    assertEquals("a=1&b c=&ä=+-=._:/@", tagsOf("/bkt"));
    s3.ok(204, putTags("/bkt", tags("z", "1")));
    assertEquals("z=1", tagsOf("/bkt"));
    s3.ok(204, "DELETE", "/bkt?tagging");
    s3.ok(204, "DELETE", "/bkt?tagging");
    s3.refused("NoSuchTagSet", "GET", "/bkt?tagging");
    s3.refused("NoSuchBucket", putTags("/none", tags("a", "1")));
    s3.ok(204, putTags("/bkt", manyTags(50)));
    s3.refused("InvalidTag", putTags("/bkt", manyTags(51)));
    // A new bucket of the same name has no tags.
    s3.ok(204, "DELETE", "/bkt/k");
    s3.ok(204, "DELETE", "/bkt");
    s3.ok(200, "PUT", "/bkt");
    s3.refused("NoSuchTagSet", "GET", "/bkt?tagging");
  }

  @Test
  void tagsOfAnObject() throws Exception {
    assertEquals("", tagsOf("/bkt/k"));
    TestAnswer before = s3.ok(200, "HEAD", "/bkt/k");
    s3.ok(200, putTags("/bkt/k", tags("b", "2", "a", "1")));
    assertEquals("a=1&b=2", tagsOf("/bkt/k"));
    TestAnswer after = s3.ok(200, "GET", "/bkt/k");
    assertEquals("2", after.header("x-amz-tagging-count"));
    assertEquals("2", s3.ok(200, "HEAD", "/bkt/k").header("x-amz-tagging-count"));
    assertEquals(before.header("Last-Modified"), after.header("Last-Modified"));
    assertEquals(before.header("ETag"), after.header("ETag"));
    s3.ok(204, "DELETE", "/bkt/k?tagging");
    assertEquals("", tagsOf("/bkt/k"));
    assertFalse(s3.ok(200, "GET", "/bkt/k").headers().contains("x-amz-tagging-count"));
    s3.refused("NoSuchKey", "GET", "/bkt/none?tagging");
    s3.refused("NoSuchKey", "DELETE", "/bkt/none?tagging");
    s3.refused("NoSuchKey", putTags("/bkt/none", tags("a", "1")));
    s3.ok(200, putTags("/bkt/k", manyTags(10)));
    s3.refused("InvalidTag", putTags("/bkt/k", manyTags(11)));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "<Tagging/>",
        "<Tagging></Tagging>",
        "<Tagging><Tag><Key>a</Key><Value>b</Value></Tag></Tagging>",
        "<Tagging><TagSet/><TagSet/></Tagging>",
        "<Tagging><TagSet><Tag><Key>a</Key></Tag></TagSet></Tagging>",
        "<Tagging><TagSet><Tag><Key>a</Key><Value/><Value/></Tag></TagSet></Tagging>",
        "<Tagging><TagSet><Label><Key>a</Key><Value/></Label></TagSet></Tagging>",
        "<TagSet/>"
      })
  void malformedDocuments(String document) throws Exception {
    s3.ok(200, putTags("/bkt/k", tags("a", "1")));
    s3.refused("MalformedXML", putTags("/bkt/k", document));
    s3.refused("MalformedXML", putTags("/bkt", document));
    assertEquals("a=1", tagsOf("/bkt/k"));
    s3.refused("NoSuchTagSet", "GET", "/bkt?tagging");
  }

  @ParameterizedTest
  @CsvSource({
    "'', 1",
    "a{, 1",
    "a, 1!",
    "aws:a, 1",
    "AWS:a, 1",
    "'a\tb', 1",
  })
  void invalidTags(String key, String value) throws Exception {
    s3.refused("InvalidTag", putTags("/bkt/k", tags(key, value)));
    s3.refused("InvalidTag", putTags("/bkt", tags(key, value)));
  }

  @Test
  void lengthsOfTagsAndKeysThatComeTwice() throws Exception {
    String longest = "k".repeat(128);
    s3.ok(200, putTags("/bkt/k", tags(longest, "v".repeat(256))));
    s3.refused("InvalidTag", putTags("/bkt/k", tags(longest + "k", "")));
    s3.refused("InvalidTag", putTags("/bkt/k", tags("k", "v".repeat(257))));
    s3.refused("InvalidTag", putTags("/bkt/k", tags("a", "1", "a", "2")));
    s3.refused("InvalidTag", putTags("/bkt", tags("a", "1", "a", "2")));
    s3.ok(200, putTags("/bkt/k", tags("a", "1", "A", "2")));
  }

  private static TestRequest tagged(String path, String tagging) {
    return TestS3.request("PUT", path).header("x-amz-tagging", tagging).body("y");
  }

  @Test
  void tagsOfNewObjects() throws Exception {
    s3.ok(200, tagged("/bkt/k", "a=1&b+c=%C3%A4&d&e="));
    assertEquals("a=1&b c=ä&d=&e=", tagsOf("/bkt/k"));
    s3.ok(200, TestS3.request("PUT", "/bkt/k?x-amz-tagging=a%3Db").body("y"));
    assertEquals("a=b", tagsOf("/bkt/k"));
    s3.ok(200, TestS3.request("PUT", "/bkt/k").body("y"));
    assertEquals("", tagsOf("/bkt/k"));
  }

  @ParameterizedTest
  @CsvSource({
    "a=1&a=2, InvalidArgument",
    "a=%, InvalidArgument",
    "a=%ff, InvalidArgument",
    "=1, InvalidTag",
    "aws:a=1, InvalidTag",
    "a=<, InvalidTag",
    "0&1&2&3&4&5&6&7&8&9&10, InvalidTag"
  })
  void malformedHeaders(String header, String code) throws Exception {
    s3.refused(code, tagged("/bkt/k", header));
    s3.refused(code, TestS3.request("POST", "/bkt/k?uploads").header("x-amz-tagging", header));
    assertEquals("x", s3.ok(200, "GET", "/bkt/k").text());
  }

  @Test
  void headersThatComeTwice() throws Exception {
    s3.refused("InvalidArgument", tagged("/bkt/k", "a=1").header("x-amz-tagging", "b=2"));
  }

  @Test
  void tagsOfCopies() throws Exception {
    s3.ok(200, putTags("/bkt/k", tags("a", "1")));
    s3.ok(200, copy());
    assertEquals("a=1", tagsOf("/bkt/c"));
    s3.ok(200, copy().header("x-amz-tagging", "b=2"));
    assertEquals("a=1", tagsOf("/bkt/c"));
    s3.ok(200, copy().header("x-amz-tagging-directive", "REPLACE").header("x-amz-tagging", "b=2"));
    assertEquals("b=2", tagsOf("/bkt/c"));
    s3.ok(200, copy().header("x-amz-tagging-directive", "REPLACE"));
    assertEquals("", tagsOf("/bkt/c"));
  }

  private static TestRequest copy() {
    return TestS3.request("PUT", "/bkt/c").header("x-amz-copy-source", "bkt/k");
  }

  @Test
  void tagsOfUploads() throws Exception {
    String id =
        s3.ok(200, TestS3.request("POST", "/bkt/m?uploads").header("x-amz-tagging", "a=1"))
            .element("UploadId");
    String etag =
        s3.ok(200, TestS3.request("PUT", "/bkt/m?partNumber=1&uploadId=" + id).body("part"))
            .header("ETag");
    s3.ok(
        200,
        TestS3.request("POST", "/bkt/m?uploadId=" + id)
            .body(
                "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"
                    + etag
                    + "</ETag></Part></CompleteMultipartUpload>"));
    assertEquals("a=1", tagsOf("/bkt/m"));
  }

  /** A policy that allows actions, with a condition. */
  private static String allow(List<String> actions, String condition) {
    String names = actions.stream().map(a -> "\"s3:" + a + "\"").collect(Collectors.joining(","));
    return "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Action\":["
        + names
        + "],\"Resource\":\"*\""
        + (condition.isEmpty() ? "" : ",\"Condition\":" + condition)
        + "}]}";
  }

  private static TestRequest as(String policy, TestRequest request) {
    return request.header("x-test-policy", policy);
  }

  @Test
  void puttingTagsNeedsARight() throws Exception {
    String put = allow(List.of("PutObject", "GetObject"), "");
    String both = allow(List.of("PutObject", "PutObjectTagging"), "");
    s3.refused("AccessDenied", as(put, tagged("/bkt/k", "a=1")));
    s3.refused("AccessDenied", as(put, putTags("/bkt/k", tags("a", "1"))));
    s3.refused("AccessDenied", as(put, TestS3.request("DELETE", "/bkt/k?tagging")));
    s3.refused("AccessDenied", as(put, TestS3.request("GET", "/bkt/k?tagging")));
    s3.refused("AccessDenied", as(put, putTags("/bkt", tags("a", "1"))));
    s3.refused("AccessDenied", as(put, TestS3.request("DELETE", "/bkt?tagging")));
    s3.refused("AccessDenied", as(put, TestS3.request("GET", "/bkt?tagging")));
    s3.refused(
        "AccessDenied",
        as(put, TestS3.request("POST", "/bkt/m?uploads").header("x-amz-tagging", "a=1")));
    assertEquals("x", s3.ok(200, "GET", "/bkt/k").text());
    assertEquals("", tagsOf("/bkt/k"));
    s3.ok(200, as(both, tagged("/bkt/k", "a=1")));
    s3.ok(200, as(put, TestS3.request("PUT", "/bkt/other").body("x")));
    s3.refused("AccessDenied", as(both, TestS3.request("GET", "/bkt/k?tagging")));
  }

  @Test
  void copyingTagsNeedsRightsOnBothSides() throws Exception {
    s3.ok(200, putTags("/bkt/k", tags("a", "1")));
    s3.refused("AccessDenied", as(allow(List.of("GetObject", "PutObject"), ""), copy()));
    s3.refused(
        "AccessDenied",
        as(allow(List.of("GetObject", "PutObject", "GetObjectTagging"), ""), copy()));
    s3.refused(
        "AccessDenied",
        as(allow(List.of("GetObject", "PutObject", "PutObjectTagging"), ""), copy()));
    s3.refused("NoSuchKey", "GET", "/bkt/c");
    // Without tags there is nothing to copy.
    s3.ok(
        200,
        as(
            allow(List.of("GetObject", "PutObject"), ""),
            copy().header("x-amz-tagging-directive", "REPLACE")));
    s3.ok(
        200,
        as(
            allow(List.of("GetObject", "PutObject", "GetObjectTagging", "PutObjectTagging"), ""),
            copy()));
    assertEquals("a=1", tagsOf("/bkt/c"));
  }

  @Test
  void theNumberOfTagsIsToldToThoseWhoMayReadThem() throws Exception {
    s3.ok(200, putTags("/bkt/k", tags("a", "1")));
    for (String method : List.of("GET", "HEAD")) {
      String read = allow(List.of("GetObject"), "");
      TestAnswer answer = s3.ok(200, as(read, TestS3.request(method, "/bkt/k")));
      assertFalse(answer.headers().contains("x-amz-tagging-count"));
      String both = allow(List.of("GetObject", "GetObjectTagging"), "");
      answer = s3.ok(200, as(both, TestS3.request(method, "/bkt/k")));
      assertEquals("1", answer.header("x-amz-tagging-count"));
    }
  }

  @Test
  void policiesAskAboutTagsOfObjects() throws Exception {
    String policy =
        allow(
            List.of("GetObject", "PutObjectTagging", "GetObjectTagging"),
            "{\"StringEquals\":{\"s3:ExistingObjectTag/Team\":\"red\"}}");
    s3.refused("AccessDenied", as(policy, TestS3.request("GET", "/bkt/k")));
    s3.ok(200, putTags("/bkt/k", tags("Team", "blue")));
    s3.refused("AccessDenied", as(policy, TestS3.request("GET", "/bkt/k")));
    s3.refused("AccessDenied", as(policy, copy()));
    s3.refused("AccessDenied", as(policy, putTags("/bkt/k", tags("Team", "red"))));
    s3.ok(200, putTags("/bkt/k", tags("Team", "red")));
    s3.ok(200, as(policy, TestS3.request("GET", "/bkt/k")));
    s3.ok(200, as(policy, TestS3.request("GET", "/bkt/k?tagging")));
    s3.ok(200, as(policy, putTags("/bkt/k", tags("Team", "blue"))));
    s3.refused("AccessDenied", as(policy, putTags("/bkt/k", tags("Team", "red"))));
  }

  @Test
  void policiesAskAboutTagsOfRequests() throws Exception {
    String policy =
        allow(
            List.of("GetObject", "PutObject", "PutObjectTagging", "GetObjectTagging"),
            "{\"StringEquals\":{\"s3:RequestObjectTag/Team\":\"red\"},"
                + "\"ForAllValues:StringEquals\":{\"s3:RequestObjectTagKeys\":[\"Team\",\"Cost\"]}}");
    s3.ok(200, as(policy, tagged("/bkt/k", "Team=red")));
    s3.ok(200, as(policy, tagged("/bkt/k", "Team=red&Cost=1")));
    s3.refused("AccessDenied", as(policy, tagged("/bkt/k", "Team=blue")));
    s3.refused("AccessDenied", as(policy, tagged("/bkt/k", "Team=red&More=1")));
    s3.refused("AccessDenied", as(policy, TestS3.request("PUT", "/bkt/k").body("x")));
    s3.ok(200, as(policy, putTags("/bkt/k", tags("Team", "red"))));
    s3.refused("AccessDenied", as(policy, putTags("/bkt/k", tags("Team", "blue"))));
    s3.refused("AccessDenied", as(policy, putTags("/bkt/k", tags("Cost", "1"))));
    assertEquals("Team=red", tagsOf("/bkt/k"));
  }

  @Test
  void whatIsMissingIsNotToldThroughTags() throws Exception {
    String tagging = allow(List.of("PutObjectTagging", "GetObjectTagging"), "");
    s3.refused("AccessDenied", as(tagging, putTags("/bkt/none", tags("a", "1"))));
    s3.refused("AccessDenied", as(tagging, TestS3.request("GET", "/bkt/none?tagging")));
  }

  @Test
  void tagsBelongToVersions() throws Exception {
    s3.ok(
        200,
        TestS3.request("PUT", "/bkt?versioning")
            .body("<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"));
    String first = s3.ok(200, tagged("/bkt/v", "a=1")).header("x-amz-version-id");
    String second = s3.ok(200, tagged("/bkt/v", "a=2")).header("x-amz-version-id");
    String of = "/bkt/v?tagging&versionId=";
    TestAnswer tagged =
        s3.ok(200, TestS3.request("PUT", of + first).body(tags("b", "1", "c", "1")));
    assertEquals(first, tagged.header("x-amz-version-id"));
    assertEquals(first, s3.ok(200, "GET", of + first).header("x-amz-version-id"));
    assertEquals(second, s3.ok(200, "GET", "/bkt/v?tagging").header("x-amz-version-id"));
    assertEquals("a=2", tagsOf("/bkt/v"));
    assertEquals("2", s3.ok(200, "GET", "/bkt/v?versionId=" + first).header("x-amz-tagging-count"));
    TestRequest copy = TestS3.request("PUT", "/bkt/c");
    s3.ok(200, copy.header("x-amz-copy-source", "bkt/v?versionId=" + first));
    assertEquals("b=1&c=1", tagsOf("/bkt/c"));
    s3.ok(204, "DELETE", of + first);
    assertEquals("", s3.ok(200, "GET", of + first).element("TagSet"));
    s3.refused("NoSuchVersion", "GET", of + "00000000000000ff");
    s3.refused("InvalidArgument", "GET", of + "x");
    // Versions have actions of their own.
    String plain =
        allow(List.of("GetObjectTagging", "PutObjectTagging", "DeleteObjectTagging"), "");
    s3.ok(200, as(plain, TestS3.request("GET", "/bkt/v?tagging")));
    s3.refused("AccessDenied", as(plain, TestS3.request("GET", of + second)));
    s3.refused("AccessDenied", as(plain, TestS3.request("DELETE", of + second)));
    s3.refused("AccessDenied", as(plain, TestS3.request("PUT", of + second).body(tags("b", "1"))));
    String versions = allow(List.of("GetObjectVersionTagging", "PutObjectVersionTagging"), "");
    s3.ok(200, as(versions, TestS3.request("GET", of + second)));
    s3.ok(200, as(versions, TestS3.request("PUT", of + second).body(tags("b", "1"))));
    assertEquals("b=1", tagsOf("/bkt/v"));
  }
}
