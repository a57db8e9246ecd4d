package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Deletes on the condition that the object has some size, or was written at some time. */
class DeleteConditionsTest {
  private static final String SIZE = "x-amz-if-match-size";
  private static final String TIME = "x-amz-if-match-last-modified-time";
  private static final String LONG_AGO = "Thu, 01 Jan 2015 00:00:00 GMT";

  private final TestS3 s3 = new TestS3();

  @BeforeEach
  void storeSomething() throws Exception {
    s3.ok(200, "PUT", "/bkt");
    s3.ok(200, TestS3.request("PUT", "/bkt/k").body("four"));
  }

  private String modified() throws Exception {
    return s3.ok(200, "HEAD", "/bkt/k").header("Last-Modified");
  }

  private static TestRequest delete(String name, String value) {
    return TestS3.request("DELETE", "/bkt/k").header(name, value);
  }

  @Test
  void sizeDecides() throws Exception {
    s3.refused("PreconditionFailed", delete(SIZE, "3"));
    s3.ok(200, "HEAD", "/bkt/k");
    s3.ok(204, delete(SIZE, "4"));
    s3.refused("PreconditionFailed", delete(SIZE, "4"));
  }

  @Test
  void timeDecides() throws Exception {
    s3.refused("PreconditionFailed", delete(TIME, LONG_AGO));
    s3.refused("PreconditionFailed", delete(TIME, modified()).header(SIZE, "3"));
    s3.ok(204, delete(TIME, modified()).header(SIZE, "4"));
  }

  @Test
  void newestVersionDecidesWhereVersionsAreKept() throws Exception {
    s3.ok(
        200,
        TestS3.request("PUT", "/bkt?versioning")
            .body("<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"));
    s3.ok(200, TestS3.request("PUT", "/bkt/k").body("sixsix"));
    s3.refused("PreconditionFailed", delete(SIZE, "4"));
    s3.ok(204, delete(SIZE, "6"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "x-amz-if-match-size; -1",
        "x-amz-if-match-size; four",
        "x-amz-if-match-size; 1234567890123456789",
        "x-amz-if-match-last-modified-time; yesterday",
        "x-amz-if-match-last-modified-time; Thu, 01 Jan 1970 00:00:00 GMT",
        "x-amz-if-match-last-modified-time; 2015-13-01T00:00:00Z"
      })
  void malformedConditionsAreRefused(String name, String value) throws Exception {
    s3.refused("InvalidArgument", delete(name, value));
    s3.ok(200, "HEAD", "/bkt/k");
  }

  @Test
  void otherRequestsDoNotTakeThem() throws Exception {
    for (TestRequest request :
        List.of(
            TestS3.request("DELETE", "/bkt"),
            TestS3.request("DELETE", "/bkt/k?tagging"),
            TestS3.request("GET", "/bkt/k"),
            TestS3.request("PUT", "/bkt/k").body("five!"))) {
      s3.refused("NotImplemented", request.header(SIZE, "4"));
    }
    assertEquals("four", s3.ok(200, "GET", "/bkt/k").text());
  }

  @Test
  void entriesOfDeleteObjectsHaveTheirOwn() throws Exception {
    for (String key : List.of("a", "b", "c")) {
      s3.ok(200, TestS3.request("PUT", "/bkt/" + key).body("four"));
    }
    String iso = Instant.ofEpochSecond(1_420_070_400).toString();
    String document =
        "<Delete><Object><Key>a</Key><Size>4</Size></Object>"
            + "<Object><Key>b</Key><Size>5</Size></Object>"
            + "<Object><Key>c</Key><LastModifiedTime>"
            + iso
            + "</LastModifiedTime></Object></Delete>";
    TestAnswer answer =
        s3.ok(
            200,
            TestS3.request("POST", "/bkt?delete")
                .header("Content-MD5", "not looked at here")
                .body(document));
    assertEquals(List.of("a"), answer.each("Deleted", "Key"));
    assertEquals(List.of("b", "c"), answer.each("Error", "Key"));
    assertEquals(List.of("PreconditionFailed", "PreconditionFailed"), answer.each("Error", "Code"));
  }
}
