package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Versions of objects. */
class VersioningTest {
  private static final String ID = "x-amz-version-id";
  private static final String MARKER = "x-amz-delete-marker";
  private static final String UNKNOWN = "00000000000abcde";

  private final TestS3 s3 = new TestS3();

  @BeforeEach
  void createBucket() throws Exception {
    s3.ok(200, "PUT", "/bkt");
  }

  private static TestRequest versioning(String bucket, String content) {
    return TestS3.request("PUT", "/" + bucket + "?versioning")
        .body("<VersioningConfiguration>" + content + "</VersioningConfiguration>");
  }

  private void set(String status) throws Exception {
    s3.ok(200, versioning("bkt", "<Status>" + status + "</Status>"));
  }

  private static TestRequest put(String key, String body) {
    return TestS3.request("PUT", "/bkt/" + key).body(body);
  }

  /** Puts an object and returns the id of its version; empty for none. */
  private String putVersion(String key, String body) throws Exception {
    return s3.ok(200, put(key, body)).header(ID);
  }

  private String get(String key, String id) throws Exception {
    TestAnswer answer = s3.ok(200, "GET", "/bkt/" + key + "?versionId=" + id);
    assertEquals(id, answer.header(ID));
    return answer.text();
  }

  /** Key, id, whether it is the latest, and M for a marker, of all versions. */
  private List<String> versions() throws Exception {
    return rows(s3.ok(200, "GET", "/bkt?versions"));
  }

  private static List<String> rows(TestAnswer answer) throws Exception {
    return answer.xml().children().stream()
        .filter(it -> it.name().equals("Version") || it.name().equals("DeleteMarker"))
        .map(
            it ->
                it.childText("Key")
                    + " "
                    + it.childText("VersionId")
                    + ("true".equals(it.childText("IsLatest")) ? " latest" : "")
                    + (it.name().equals("DeleteMarker") ? " M" : ""))
        .toList();
  }

  // ---- The configuration ----

  @Test
  void versioningIsEnabledAndSuspended() throws Exception {
    String empty = s3.ok(200, "GET", "/bkt?versioning").text();
    assertFalse(empty.contains("Status"), empty);
    for (String status : List.of("Suspended", "Enabled", "Enabled", "Suspended")) {
      set(status);
      assertEquals(status, s3.ok(200, "GET", "/bkt?versioning").element("Status"));
    }
    s3.refused("NoSuchBucket", versioning("none", "<Status>Enabled</Status>"));
    s3.refused("NoSuchBucket", "GET", "/none?versioning");
  }

  @ParameterizedTest
  @CsvSource({
    "'', IllegalVersioningConfigurationException",
    "<Status/>, IllegalVersioningConfigurationException",
    "<Status>enabled</Status>, IllegalVersioningConfigurationException",
    "<Status>Off</Status>, IllegalVersioningConfigurationException",
    "<Status>Enabled</Status><MfaDelete>Enabled</MfaDelete>, NotImplemented",
    "<Status>Enabled</Status><MfaDelete>Maybe</MfaDelete>, MalformedXML",
  })
  void otherConfigurationsAreRefusedAndChangeNothing(String content, String code) throws Exception {
    s3.refused(code, versioning("bkt", content));
    assertEquals("(absent)", s3.ok(200, "GET", "/bkt?versioning").element("Status"));
    s3.ok(200, versioning("bkt", "<Status>Enabled</Status><MfaDelete>Disabled</MfaDelete>"));
    s3.refused("MalformedXML", TestS3.request("PUT", "/bkt?versioning").body("<Other/>"));
  }

  // ---- Reads ----

  @Test
  void bucketsThatNeverHadVersionsAnswerWithoutIds() throws Exception {
    assertEquals("", putVersion("k", "x"));
    for (String uri : List.of("/bkt/k", "/bkt/k?versionId=null")) {
      assertEquals("", s3.ok(200, "GET", uri).header(ID));
      assertEquals("", s3.ok(200, "HEAD", uri).header(ID));
    }
    s3.refused("NoSuchVersion", "GET", "/bkt/k?versionId=" + UNKNOWN);
    TestAnswer deleted = s3.ok(204, "DELETE", "/bkt/k");
    assertEquals("", deleted.header(ID) + deleted.header(MARKER));
    assertEquals(List.of(), versions());
  }

  @Test
  void eachVersionIsReadByItsId() throws Exception {
    putVersion("k", "zero");
    set("Enabled");
    String one = putVersion("k", "one");
    String two = putVersion("k", "two!");
    assertTrue(one.matches("[A-Za-z0-9_-]{1,64}") && one.compareTo(two) < 0, one + two);
    assertEquals("two!", s3.ok(200, "GET", "/bkt/k").text());
    assertEquals(two, s3.ok(200, "GET", "/bkt/k").header(ID));
    assertEquals("zero", get("k", "null"));
    assertEquals("one", get("k", one));
    assertEquals("two!", get("k", two));
    TestAnswer head = s3.ok(200, "HEAD", "/bkt/k?versionId=" + one);
    assertEquals("3", head.header("Content-Length"));
    assertEquals(one, head.header(ID));
    TestAnswer range =
        s3.ok(206, TestS3.request("GET", "/bkt/k?versionId=null").header("Range", "bytes=1-2"));
    assertEquals("er", range.text());
    TestAnswer attributes =
        s3.ok(
            200,
            TestS3.request("GET", "/bkt/k?attributes&versionId=" + one)
                .header("x-amz-object-attributes", "ObjectSize"));
    assertEquals("3", attributes.element("ObjectSize"));
    assertEquals(one, attributes.header(ID));
    s3.ok(200, "GET", "/bkt/k?acl&versionId=" + one);
    s3.ok(200, "GET", "/bkt/k?tagging&versionId=" + one);
    assertEquals(List.of("k " + two + " latest", "k " + one, "k null"), versions());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "0000000000000000",
        "NULL",
        "abc",
        "00000000000ABCDE",
        "0x00000000000abc",
        "00000000000abcde0",
        "%2e%2e%2f",
        "null%00"
      })
  void malformedIdsAreInvalidArguments(String id) throws Exception {
    set("Enabled");
    putVersion("k", "x");
    List<String> before = versions();
    for (String method : List.of("GET", "HEAD", "DELETE")) {
      s3.refused("InvalidArgument", method, "/bkt/k?versionId=" + id);
    }
    s3.refused("InvalidArgument", "GET", "/bkt/k?acl&versionId=" + id);
    s3.refused(
        "InvalidArgument", put("copy", "").header("x-amz-copy-source", "/bkt/k?versionId=" + id));
    assertEquals(before, versions());
  }

  @Test
  void unknownVersionsAreMissing() throws Exception {
    set("Enabled");
    String id = putVersion("k", "x");
    for (String method : List.of("GET", "HEAD")) {
      s3.refused("NoSuchVersion", method, "/bkt/k?versionId=" + UNKNOWN);
      s3.refused("NoSuchVersion", method, "/bkt/k?versionId=null");
    }
    TestAnswer missing = s3.send("GET", "/bkt/k?versionId=" + UNKNOWN);
    assertEquals("k", missing.detail("Key"));
    assertEquals(UNKNOWN, missing.detail("VersionId"));
    s3.ok(200, TestS3.request("PUT", "/bkt2"));
    s3.ok(200, versioning("bkt2", "<Status>Enabled</Status>"));
    putVersion("other", "y");
    // An id names a version of its key only.
    for (String uri : List.of("/bkt/other", "/bkt/none", "/bkt2/k")) {
      s3.refused("NoSuchVersion", "GET", uri + "?versionId=" + id);
      s3.refused(
          "NoSuchVersion", put("copy", "").header("x-amz-copy-source", uri + "?versionId=" + id));
      s3.ok(204, "DELETE", uri + "?versionId=" + id);
    }
    assertEquals("x", get("k", id));
  }

  @Test
  void operationsWithoutVersionsRefuseAnId() throws Exception {
    set("Enabled");
    String id = putVersion("k", "x");
    List<String> before = versions();
    for (String query : List.of("versionId=" + id, "versionId=null")) {
      s3.refused("InvalidArgument", put("k?" + query, "y"));
      s3.refused("InvalidArgument", "POST", "/bkt/k?uploads&" + query);
      s3.refused("InvalidArgument", put("k?partNumber=1&uploadId=u&" + query, "y"));
      s3.refused("InvalidArgument", "DELETE", "/bkt/k?uploadId=u&" + query);
      s3.refused(
          "InvalidArgument",
          TestS3.request("PATCH", "/bkt/k?" + query)
              .body("y")
              .header("Content-Range", "bytes 0-0/*"));
      s3.refused("MethodNotAllowed", "GET", "/bkt?versions&" + query);
    }
    assertEquals(before, versions());
  }

  // ---- Deletion ----

  @Test
  void deletionWithoutIdMakesMarkers() throws Exception {
    set("Enabled");
    String version = putVersion("k", "x");
    TestAnswer deleted = s3.ok(204, "DELETE", "/bkt/k");
    String marker = deleted.header(ID);
    assertEquals("true", deleted.header(MARKER));
    assertNotEquals(version, marker);
    for (String method : List.of("GET", "HEAD")) {
      TestAnswer missing = s3.send(method, "/bkt/k");
      assertEquals("NoSuchKey", missing.code());
      assertEquals("true", missing.header(MARKER));
      assertEquals(marker, missing.header(ID));
      TestAnswer named = s3.send(method, "/bkt/k?versionId=" + marker);
      assertEquals("MethodNotAllowed", named.code());
      assertEquals("DELETE", named.header("Allow"));
      assertEquals("true", named.header(MARKER));
      assertEquals(marker, named.header(ID));
      assertTrue(named.header("Last-Modified").endsWith(" GMT"));
    }
    assertEquals("x", get("k", version));
    assertEquals(List.of(), s3.ok(200, "GET", "/bkt").each("Contents", "Key"));
    String second = s3.ok(204, "DELETE", "/bkt/k").header(ID);
    String never = s3.ok(204, "DELETE", "/bkt/never").header(ID);
    assertEquals(
        List.of(
            "k " + second + " latest M",
            "k " + marker + " M",
            "k " + version,
            "never " + never + " latest M"),
        versions());
  }

  @Test
  void versionsAndMarkersAreDeletedForGood() throws Exception {
    set("Enabled");
    String one = putVersion("k", "one");
    String two = putVersion("k", "two");
    String marker = s3.ok(204, "DELETE", "/bkt/k").header(ID);
    TestAnswer undeleted = s3.ok(204, "DELETE", "/bkt/k?versionId=" + marker);
    assertEquals("true", undeleted.header(MARKER));
    assertEquals(marker, undeleted.header(ID));
    assertEquals("two", s3.ok(200, "GET", "/bkt/k").text());
    TestAnswer deleted = s3.ok(204, "DELETE", "/bkt/k?versionId=" + two);
    assertEquals("", deleted.header(MARKER));
    assertEquals(two, deleted.header(ID));
    assertEquals("one", s3.ok(200, "GET", "/bkt/k").text());
    assertEquals(List.of("k " + one + " latest"), versions());
    // Again, and of what never was: as S3, nothing happens.
    assertEquals(two, s3.ok(204, "DELETE", "/bkt/k?versionId=" + two).header(ID));
    s3.ok(204, "DELETE", "/bkt/k?versionId=null");
    assertEquals(List.of("k " + one + " latest"), versions());
    s3.ok(204, "DELETE", "/bkt/k?versionId=" + one);
    assertEquals(List.of(), versions());
    s3.refused("NoSuchKey", "GET", "/bkt/k");
    assertEquals("", s3.send("GET", "/bkt/k").header(MARKER));
  }

  @Test
  void suspendedBucketsReplaceTheNullVersion() throws Exception {
    putVersion("k", "before");
    set("Enabled");
    String one = putVersion("k", "one");
    set("Suspended");
    assertEquals("", putVersion("k", "null 1"));
    assertEquals(List.of("k null latest", "k " + one), versions());
    assertEquals("null", s3.ok(200, "GET", "/bkt/k").header(ID));
    putVersion("k", "null 2");
    assertEquals("null 2", get("k", "null"));
    TestAnswer deleted = s3.ok(204, "DELETE", "/bkt/k");
    assertEquals("null true", deleted.header(ID) + " " + deleted.header(MARKER));
    s3.ok(204, "DELETE", "/bkt/k");
    assertEquals(List.of("k null latest M", "k " + one), versions());
    TestAnswer named = s3.send("GET", "/bkt/k?versionId=null");
    assertEquals("MethodNotAllowed null", named.code() + " " + named.header(ID));
    putVersion("k", "null 3");
    assertEquals(List.of("k null latest", "k " + one), versions());
    set("Enabled");
    String two = putVersion("k", "two");
    assertEquals(List.of("k " + two + " latest", "k null", "k " + one), versions());
    assertEquals("null", s3.ok(204, "DELETE", "/bkt/k?versionId=null").header(ID));
    assertEquals(List.of("k " + two + " latest", "k " + one), versions());
  }

  private TestAnswer deleteObjects(String objects) throws Exception {
    return s3.ok(200, deleteRequest(objects));
  }

  private static TestRequest deleteRequest(String objects) {
    return TestS3.request("POST", "/bkt?delete")
        .body("<Delete>" + objects + "</Delete>")
        .header("Content-MD5", "checked by the authenticator");
  }

  private static String object(String key, String rest) {
    return "<Object><Key>" + key + "</Key>" + rest + "</Object>";
  }

  private static String object(String key) {
    return object(key, "");
  }

  private static String version(String key, String id) {
    return object(key, "<VersionId>" + id + "</VersionId>");
  }

  @Test
  void manyVersionsAreDeletedTogether() throws Exception {
    set("Enabled");
    String one = putVersion("k", "one");
    String two = putVersion("k", "two");
    TestAnswer marked = deleteObjects(object("k") + object("none"));
    assertEquals(List.of("k", "none"), marked.each("Deleted", "Key"));
    assertEquals(List.of("true", "true"), marked.each("Deleted", "DeleteMarker"));
    List<String> markers = marked.each("Deleted", "DeleteMarkerVersionId");
    assertFalse(marked.text().contains("<VersionId>"));
    assertEquals(
        List.of(
            "k " + markers.get(0) + " latest M",
            "k " + two,
            "k " + one,
            "none " + markers.get(1) + " latest M"),
        versions());
    TestAnswer deleted =
        deleteObjects(
            version("k", markers.get(0))
                + version("k", one)
                + version("k", UNKNOWN)
                + version("k", "no id")
                + version("none", two));
    assertEquals(List.of(markers.get(0), one, UNKNOWN, two), deleted.each("Deleted", "VersionId"));
    assertEquals(1, deleted.text().split("<DeleteMarker>", -1).length - 1);
    assertTrue(
        deleted
            .text()
            .contains("<DeleteMarkerVersionId>" + markers.get(0) + "</DeleteMarkerVersionId>"));
    assertEquals(List.of("NoSuchVersion"), deleted.each("Error", "Code"));
    assertEquals(List.of("no id"), deleted.each("Error", "VersionId"));
    assertEquals(
        List.of("k " + two + " latest", "none " + markers.get(1) + " latest M"), versions());
  }

  @Test
  void aKeyThatIsNamedTwiceGetsOneMarker() throws Exception {
    for (String status : List.of("Enabled", "Suspended")) {
      set(status);
      putVersion("k", "x");
      TestAnswer answer = deleteObjects(object("k") + object("k"));
      List<String> markers = answer.each("Deleted", "DeleteMarkerVersionId");
      assertEquals(markers.getFirst(), markers.getLast());
      assertEquals(
          1, versions().stream().filter(row -> row.contains(markers.getFirst() + " ")).count());
      assertEquals(versions().size(), s3.metadata.bucketUsage("bkt").orElseThrow().getObjects());
    }
  }

  @Test
  void conditionsOfManyDeletionsAreOfThePresentVersion() throws Exception {
    set("Enabled");
    putVersion("gone", "x");
    s3.ok(204, "DELETE", "/bkt/gone");
    String etag = s3.ok(200, put("k", "x")).header("ETag");
    TestAnswer answer =
        deleteObjects(
            object("gone", "<ETag>" + etag + "</ETag>")
                + object("k", "<ETag>other</ETag>")
                + object("k", "<ETag>" + etag + "</ETag>"));
    assertEquals(List.of("NoSuchKey", "PreconditionFailed"), answer.each("Error", "Code"));
    assertEquals(List.of("k"), answer.each("Deleted", "Key"));
    s3.refused("NoSuchKey", "GET", "/bkt/k");
  }

  @Test
  void thousandVersionsAreDeletedAtOnce() throws Exception {
    set("Enabled");
    StringBuilder objects = new StringBuilder();
    for (int i = 0; i < 1000; i++) {
      objects.append(version("k", putVersion("k", "x")));
    }
    assertEquals(1000, deleteObjects(objects.toString()).each("Deleted", "VersionId").size());
    assertEquals(List.of(), versions());
    s3.ok(204, "DELETE", "/bkt");
  }

  @Test
  void bucketsWithVersionsOrMarkersAreNotEmpty() throws Exception {
    set("Enabled");
    String version = putVersion("k", "x");
    String marker = s3.ok(204, "DELETE", "/bkt/k").header(ID);
    s3.refused("BucketNotEmpty", "DELETE", "/bkt");
    s3.ok(204, "DELETE", "/bkt/k?versionId=" + version);
    s3.refused("BucketNotEmpty", "DELETE", "/bkt");
    s3.ok(204, "DELETE", "/bkt/k?versionId=" + marker);
    s3.ok(204, "DELETE", "/bkt");
    s3.ok(200, "PUT", "/bkt");
    assertEquals("(absent)", s3.ok(200, "GET", "/bkt?versioning").element("Status"));
  }

  // ---- Writes ----

  @Test
  void copiesNameBothVersions() throws Exception {
    set("Enabled");
    String one = putVersion("k", "one");
    String two = putVersion("k", "two");
    TestAnswer copied =
        s3.ok(200, put("copy", "").header("x-amz-copy-source", "/bkt/k?versionId=" + one));
    assertEquals(one, copied.header("x-amz-copy-source-version-id"));
    assertEquals("one", get("copy", copied.header(ID)));
    TestAnswer present = s3.ok(200, put("copy", "").header("x-amz-copy-source", "/bkt/k"));
    assertEquals(two, present.header("x-amz-copy-source-version-id"));
    // The way to restore an older version: the same key, nothing replaced.
    TestAnswer restored =
        s3.ok(200, put("k", "").header("x-amz-copy-source", "bkt/k?versionId=" + one));
    assertEquals("one", get("k", restored.header(ID)));
    assertEquals("one", s3.ok(200, "GET", "/bkt/k").text());
    s3.refused("InvalidRequest", put("k", "").header("x-amz-copy-source", "/bkt/k"));
    String marker = s3.ok(204, "DELETE", "/bkt/k").header(ID);
    s3.refused("NoSuchKey", put("copy", "").header("x-amz-copy-source", "/bkt/k"));
    s3.refused(
        "InvalidRequest",
        put("copy", "").header("x-amz-copy-source", "/bkt/k?versionId=" + marker));
    s3.ok(200, "PUT", "/plain");
    TestAnswer toPlain =
        s3.ok(
            200,
            TestS3.request("PUT", "/plain/k")
                .header("x-amz-copy-source", "/bkt/k?versionId=" + two));
    assertEquals("", toPlain.header(ID));
    assertEquals("two", s3.ok(200, "GET", "/plain/k").text());
    TestAnswer fromPlain = s3.ok(200, put("copy", "").header("x-amz-copy-source", "/plain/k"));
    assertEquals("", fromPlain.header("x-amz-copy-source-version-id"));
    assertNotEquals("", fromPlain.header(ID));
  }

  @Test
  void uploadsMakeVersionsOfCopiedParts() throws Exception {
    set("Enabled");
    String one = putVersion("k", "one");
    putVersion("k", "two");
    String upload = s3.ok(200, "POST", "/bkt/m?uploads").element("UploadId");
    TestAnswer part =
        s3.ok(
            200,
            put("m?partNumber=1&uploadId=" + upload, "")
                .header("x-amz-copy-source", "/bkt/k?versionId=" + one));
    assertEquals(one, part.header("x-amz-copy-source-version-id"));
    s3.refused(
        "NoSuchVersion",
        put("m?partNumber=1&uploadId=" + upload, "")
            .header("x-amz-copy-source", "/bkt/k?versionId=" + UNKNOWN));
    TestRequest complete =
        TestS3.request("POST", "/bkt/m?uploadId=" + upload)
            .body(
                "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"
                    + part.element("ETag")
                    + "</ETag></Part></CompleteMultipartUpload>");
    String id = s3.ok(200, complete).header(ID);
    assertEquals("one", get("m", id));
    TestRequest again = TestS3.request("POST", complete.rawPath() + "?" + complete.rawQuery());
    again.body(
        "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"
            + part.element("ETag")
            + "</ETag></Part></CompleteMultipartUpload>");
    assertEquals(id, s3.ok(200, again).header(ID));
    assertEquals(1, versions().stream().filter(row -> row.startsWith("m ")).count());
  }

  private static TestRequest completion(String upload, String etag) {
    return TestS3.request("POST", "/bkt/m?uploadId=" + upload)
        .body(
            "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"
                + etag
                + "</ETag></Part></CompleteMultipartUpload>");
  }

  @ParameterizedTest
  @ValueSource(strings = {"PUT", "DELETE"})
  void aRepeatedCompletionFindsItsVersionBehindNewerOnes(String method) throws Exception {
    set("Enabled");
    String upload = s3.ok(200, "POST", "/bkt/m?uploads").element("UploadId");
    String etag = s3.ok(200, put("m?partNumber=1&uploadId=" + upload, "part")).header("ETag");
    TestAnswer first = s3.ok(200, completion(upload, etag));
    putVersion("m2", "a key behind");
    s3.ok(method.equals("PUT") ? 200 : 204, method, "/bkt/m");
    TestAnswer again = s3.ok(200, completion(upload, etag));
    assertEquals(first.header(ID), again.header(ID));
    assertEquals(first.text(), again.text());
    s3.refused("NoSuchUpload", completion(upload, "\"" + "0".repeat(32) + "\""));
    s3.refused("NoSuchUpload", completion(upload, "no MD5"));
    s3.refused("NoSuchUpload", completion("unknown", etag));
    s3.ok(204, "DELETE", "/bkt/m?versionId=" + first.header(ID));
    s3.refused("NoSuchUpload", completion(upload, etag));
  }

  @Test
  void conditionsAreOfThePresentVersion() throws Exception {
    set("Enabled");
    String etag = s3.ok(200, put("k", "one")).header("ETag");
    String one = s3.ok(200, "HEAD", "/bkt/k").header(ID);
    putVersion("k", "two");
    s3.refused("PreconditionFailed", put("k", "y").header("If-Match", etag));
    s3.refused("PreconditionFailed", put("k", "y").header("If-None-Match", "*"));
    s3.refused("PreconditionFailed", TestS3.request("DELETE", "/bkt/k").header("If-Match", etag));
    s3.refused(
        "PreconditionFailed",
        TestS3.request("DELETE", "/bkt/k?versionId=" + one).header("If-Match", etag));
    s3.ok(204, "DELETE", "/bkt/k");
    // The key has no present version now.
    s3.refused("NoSuchKey", put("k", "y").header("If-Match", etag));
    s3.refused("NoSuchKey", put("k", "y").header("If-Match", "*"));
    s3.refused("NoSuchKey", TestS3.request("DELETE", "/bkt/k").header("If-Match", "*"));
    s3.ok(200, put("k", "three").header("If-None-Match", "*"));
    assertEquals(4, versions().size());
    TestRequest unmodified =
        TestS3.request("GET", "/bkt/k?versionId=" + one).header("If-None-Match", etag);
    assertEquals(one, s3.ok(304, unmodified).header(ID));
  }

  @ParameterizedTest
  @ValueSource(strings = {"Enabled", "Suspended"})
  void whereVersionsAreKeptNothingIsAppendedOrPatched(String status) throws Exception {
    putVersion("k", "data");
    set(status);
    List<String> before = versions();
    for (String key : List.of("k", "new")) {
      s3.refused("InvalidBucketState", put(key, "x").header("x-amz-write-offset-bytes", "4"));
      s3.refused("InvalidBucketState", put(key + "?append&position=4", "x"));
      s3.refused(
          "InvalidBucketState",
          TestS3.request("POST", "/bkt/" + key + "?append&position=0").body("x"));
    }
    s3.refused(
        "InvalidBucketState",
        TestS3.request("PATCH", "/bkt/k").body("x").header("Content-Range", "bytes 0-0/*"));
    assertEquals(before, versions());
    assertEquals("data", s3.ok(200, "GET", "/bkt/k").text());
  }

  // ---- Listings ----

  @Test
  void entriesHaveTheFieldsOfS3() throws Exception {
    set("Enabled");
    putVersion("k", "x");
    s3.ok(204, "DELETE", "/bkt/k");
    TestAnswer page = s3.ok(200, "GET", "/bkt?versions");
    assertEquals("ListVersionsResult", page.xml().name());
    assertEquals("bkt", page.element("Name"));
    assertEquals("", page.element("KeyMarker"));
    assertEquals("", page.element("VersionIdMarker"));
    assertEquals("1000", page.element("MaxKeys"));
    assertEquals("false", page.element("IsTruncated"));
    assertEquals(List.of("1"), page.each("Version", "Size"));
    assertEquals(List.of("STANDARD"), page.each("Version", "StorageClass"));
    assertEquals(List.of("false"), page.each("Version", "IsLatest"));
    assertTrue(page.each("DeleteMarker", "LastModified").getFirst().endsWith(".000Z"));
    assertEquals(2, page.text().split("<Owner><ID>owner</ID>", -1).length - 1);
  }

  @Test
  void pagesContinueWithinAKey() throws Exception {
    set("Enabled");
    for (int i = 0; i < 3; i++) {
      putVersion("a", "x");
      putVersion("b", "x");
      s3.ok(204, "DELETE", "/bkt/b");
    }
    putVersion("dir/1", "x");
    putVersion("dir/2", "x");
    putVersion("z", "x");
    List<String> all = versions();
    for (int max = 1; max <= 4; max++) {
      assertEquals(all, paged("max-keys=" + max));
      assertEquals(
          all.stream().filter(row -> !row.startsWith("dir/")).toList(),
          paged("delimiter=/&max-keys=" + max));
    }
    assertEquals(
        all.stream().filter(row -> row.startsWith("dir/")).toList(),
        paged("prefix=dir/&max-keys=1"));
    TestAnswer rolled = s3.ok(200, "GET", "/bkt?versions&delimiter=/&max-keys=10");
    assertEquals(List.of("dir/"), rolled.each("CommonPrefixes", "Prefix"));
    assertEquals("dir/", rolled.element("NextKeyMarker"));
    assertEquals("(absent)", rolled.element("NextVersionIdMarker"));
    TestAnswer none = s3.ok(200, "GET", "/bkt?versions&max-keys=0");
    assertEquals("false", none.element("IsTruncated"));
    assertEquals(List.of(), rows(none));
  }

  private List<String> paged(String query) throws Exception {
    List<String> rows = new ArrayList<>();
    String markers = "";
    while (true) {
      TestAnswer page = s3.ok(200, "GET", "/bkt?versions&" + query + markers);
      rows.addAll(rows(page));
      if (page.element("IsTruncated").equals("false")) {
        return rows;
      }
      String version = page.element("NextVersionIdMarker");
      markers =
          "&key-marker="
              + page.element("NextKeyMarker")
              + (version.equals("(absent)") ? "" : "&version-id-marker=" + version);
    }
  }

  /** As clients empty a bucket: they delete a page, then ask for the next. */
  @Test
  void pagesContinueBehindANullVersionThatWasDeleted() throws Exception {
    set("Enabled");
    putVersion("k", "x");
    putVersion("k", "y");
    set("Suspended");
    putVersion("k", "null");
    TestAnswer page = s3.ok(200, "GET", "/bkt?versions&max-keys=1");
    assertEquals(List.of("k null latest"), rows(page));
    s3.ok(204, "DELETE", "/bkt/k?versionId=null");
    TestAnswer next =
        s3.ok(
            200,
            "GET",
            "/bkt?versions&key-marker=k&version-id-marker=" + page.element("NextVersionIdMarker"));
    assertEquals(2, rows(next).size());
  }

  @Test
  void markersAreCheckedAndNamesEncoded() throws Exception {
    set("Enabled");
    putVersion("a%20b", "x");
    String second = putVersion("a%20b", "y");
    s3.refused("InvalidArgument", "GET", "/bkt?versions&version-id-marker=" + second);
    s3.refused("InvalidArgument", "GET", "/bkt?versions&key-marker=k&version-id-marker=zzz");
    TestAnswer page = s3.ok(200, "GET", "/bkt?versions&max-keys=1&encoding-type=url");
    assertEquals(List.of("a%20b"), page.each("Version", "Key"));
    assertEquals("a%20b", page.element("NextKeyMarker"));
    assertEquals(second, page.element("NextVersionIdMarker"));
    assertEquals(2, rows(s3.ok(200, "GET", "/bkt?versions&key-marker=&version-id-marker=")).size());
  }

  // ---- Rights ----

  private static String allow(String... actions) {
    return policy("Allow", List.of(actions), "");
  }

  private static String policy(String effect, List<String> actions, String rest) {
    String quoted = String.join("\",\"", actions);
    return "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"%s\",\"Action\":[\"%s\"],"
            .formatted(effect, quoted)
        + "\"Resource\":\"*\"%s}]}".formatted(rest);
  }

  /** Requests about a version, and the only action that lets them pass. */
  static Stream<List<String>> needs() {
    return Stream.of(
        List.of("GET", "/bkt/k?versionId=ID", "s3:GetObjectVersion"),
        List.of("HEAD", "/bkt/k?versionId=ID", "s3:GetObjectVersion"),
        List.of("GET", "/bkt/k?versionId=null", "s3:GetObjectVersion"),
        List.of("GET", "/bkt/k?acl&versionId=ID", "s3:GetObjectVersionAcl"),
        List.of("GET", "/bkt/k?tagging&versionId=ID", "s3:GetObjectVersionTagging"),
        List.of("GET", "/bkt?versions", "s3:ListBucketVersions"),
        List.of("GET", "/bkt?versioning", "s3:GetBucketVersioning"),
        List.of("PUT", "/bkt?versioning", "s3:PutBucketVersioning"),
        List.of("DELETE", "/bkt/k?versionId=ID", "s3:DeleteObjectVersion"),
        List.of("DELETE", "/bkt/k?versionId=null", "s3:DeleteObjectVersion"));
  }

  @ParameterizedTest
  @MethodSource("needs")
  void versionsNeedARightOfTheirOwn(List<String> need) throws Exception {
    putVersion("k", "null");
    set("Enabled");
    String id = putVersion("k", "one");
    putVersion("k", "two");
    List<String> before = versions();
    String everythingElse =
        "{\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"*\",\"Resource\":\"*\"},"
            + "{\"Effect\":\"Deny\",\"Action\":\"%s\",\"Resource\":\"*\"}]}".formatted(need.get(2));
    String withoutVersions =
        allow(
            "s3:GetObject",
            "s3:GetObjectAcl",
            "s3:GetObjectTagging",
            "s3:DeleteObject",
            "s3:PutObject",
            "s3:ListBucket");
    for (String policy : List.of(everythingElse, withoutVersions)) {
      s3.refused("AccessDenied", request(need, id).header("x-test-policy", policy));
    }
    s3.refused("AccessDenied", request(need, id).header("x-test-owner", "other"));
    s3.refused("AccessDenied", request(need, id).header("x-test-owner", "anonymous"));
    assertEquals(before, versions());
    TestAnswer allowed = s3.send(request(need, id).header("x-test-policy", allow(need.get(2))));
    assertTrue(allowed.status() < 300, allowed.code());
  }

  private static TestRequest request(List<String> need, String id) {
    TestRequest request = TestS3.request(need.get(0), need.get(1).replace("ID", id));
    return need.get(0).equals("PUT")
        ? request.body(
            "<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>")
        : request;
  }

  @Test
  void versionsAreNotReadByWayOfCopiesOrMarkersWithoutTheRight() throws Exception {
    set("Enabled");
    String id = putVersion("k", "secret");
    String marker = s3.ok(204, "DELETE", "/bkt/k").header(ID);
    List<String> before = versions();
    String plain = allow("s3:GetObject", "s3:PutObject", "s3:ListBucket");
    s3.refused(
        "AccessDenied",
        put("copy", "")
            .header("x-amz-copy-source", "/bkt/k?versionId=" + id)
            .header("x-test-policy", plain));
    // Nor does anybody learn which versions there are.
    for (String some : List.of(id, marker, UNKNOWN)) {
      s3.refused(
          "AccessDenied",
          TestS3.request("GET", "/bkt/k?versionId=" + some).header("x-test-policy", plain));
    }
    s3.refused("NoSuchKey", TestS3.request("GET", "/bkt/k").header("x-test-policy", plain));
    String reader = allow("s3:GetObject", "s3:GetObjectVersion");
    TestAnswer hidden = s3.send(TestS3.request("GET", "/bkt/k").header("x-test-policy", reader));
    assertEquals("AccessDenied", hidden.code());
    assertEquals("", hidden.header(MARKER) + hidden.header(ID));
    assertEquals(before, versions());
    s3.ok(
        200,
        put("copy", "")
            .header("x-amz-copy-source", "/bkt/k?versionId=" + id)
            .header("x-test-policy", allow("s3:GetObjectVersion", "s3:PutObject")));
  }

  @Test
  void conditionsOnVersionsHoldHoweverTheVersionIsNamed() throws Exception {
    set("Enabled");
    String kept = putVersion("k", "one");
    String other = putVersion("k", "two");
    String policy =
        "{\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"s3:*\",\"Resource\":\"*\"},"
            + "{\"Effect\":\"Deny\",\"Action\":[\"s3:GetObjectVersion\","
            + "\"s3:DeleteObjectVersion\"],\"Resource\":\"*\",\"Condition\":"
            + "{\"StringEquals\":{\"s3:VersionId\":\"%s\"}}}]}".formatted(kept);
    for (String method : List.of("GET", "DELETE")) {
      s3.refused(
          "AccessDenied",
          TestS3.request(method, "/bkt/k?versionId=" + kept).header("x-test-policy", policy));
    }
    s3.refused(
        "AccessDenied",
        put("copy", "")
            .header("x-amz-copy-source", "/bkt/k?versionId=" + kept)
            .header("x-test-policy", policy));
    TestAnswer deleted =
        s3.ok(
            200,
            deleteRequest(version("k", kept) + version("k", other))
                .header("x-test-policy", policy));
    assertEquals(List.of("AccessDenied"), deleted.each("Error", "Code"));
    assertEquals(List.of(kept), deleted.each("Error", "VersionId"));
    assertEquals(List.of("k " + kept + " latest"), versions());
  }

  @Test
  void eachOfManyDeletionsNeedsItsRight() throws Exception {
    set("Enabled");
    String id = putVersion("k", "x");
    TestAnswer marks =
        s3.ok(
            200,
            deleteRequest(object("k") + version("k", id))
                .header("x-test-policy", allow("s3:DeleteObject")));
    assertEquals(List.of("AccessDenied"), marks.each("Error", "Code"));
    assertEquals(1, marks.each("Deleted", "Key").size());
    TestAnswer removes =
        s3.ok(
            200,
            deleteRequest(object("k") + version("k", id))
                .header("x-test-policy", allow("s3:DeleteObjectVersion")));
    assertEquals(List.of("AccessDenied"), removes.each("Error", "Code"));
    assertEquals(List.of(id), removes.each("Deleted", "VersionId"));
    assertEquals(1, versions().size());
  }

  @Test
  void conditionsOnETagsNeedTheRightToRead() throws Exception {
    set("Enabled");
    String etag = s3.ok(200, put("k", "x")).header("ETag");
    String delete = allow("s3:DeleteObject");
    s3.refused(
        "AccessDenied",
        TestS3.request("DELETE", "/bkt/k")
            .header("If-Match", etag)
            .header("x-test-policy", delete));
    TestAnswer many =
        s3.ok(
            200,
            deleteRequest(object("k", "<ETag>" + etag + "</ETag>"))
                .header("x-test-policy", delete));
    assertEquals(List.of("AccessDenied"), many.each("Error", "Code"));
    s3.ok(
        204,
        TestS3.request("DELETE", "/bkt/k").header("If-Match", "*").header("x-test-policy", delete));
    TestAnswer any =
        s3.ok(200, deleteRequest(object("x", "<ETag>*</ETag>")).header("x-test-policy", delete));
    assertEquals(List.of("NoSuchKey"), any.each("Error", "Code"));
  }

  /** The condition is on the present version, whichever is deleted. */
  @Test
  void conditionsOfDeletedVersionsNeedTheRightToReadThePresentOne() throws Exception {
    set("Enabled");
    String id = putVersion("k", "one");
    String etag = s3.ok(200, put("k", "two")).header("ETag");
    TestRequest delete =
        TestS3.request("DELETE", "/bkt/k?versionId=" + id).header("If-Match", etag);
    s3.refused(
        "AccessDenied",
        delete.header("x-test-policy", allow("s3:DeleteObjectVersion", "s3:GetObjectVersion")));
    s3.ok(
        204,
        TestS3.request("DELETE", "/bkt/k?versionId=" + id)
            .header("If-Match", etag)
            .header("x-test-policy", allow("s3:DeleteObjectVersion", "s3:GetObject")));
  }
}
