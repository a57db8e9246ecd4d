package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Where websites redirect is stored with objects and returned with them. */
class RedirectLocationTest {
  private static final String HEADER = "x-amz-website-redirect-location";

  private final TestS3 s3 = new TestS3();

  @BeforeEach
  void makeBucket() throws Exception {
    s3.ok(200, "PUT", "/bkt");
    s3.ok(200, TestS3.request("PUT", "/bkt/k").header(HEADER, "/other").body("x"));
  }

  /** Empty: none. */
  private String location(String key) throws Exception {
    String told = s3.ok(200, "HEAD", "/bkt/" + key).header(HEADER);
    assertEquals(told, s3.ok(200, "GET", "/bkt/" + key).header(HEADER));
    return told;
  }

  private static TestRequest copy(String to) {
    return TestS3.request("PUT", "/bkt/" + to).header("x-amz-copy-source", "bkt/k");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "//x", "http://h/a?b#c", "https://h"})
  void itIsReturned(String location) throws Exception {
    s3.ok(200, TestS3.request("PUT", "/bkt/new").header(HEADER, location).body("x"));
    assertEquals(location, location("new"));
    s3.ok(200, TestS3.request("PUT", "/bkt/new").body("x"));
    assertEquals("", location("new"));
  }

  @ParameterizedTest
  @CsvSource({"''", "other", "ftp://h", "HTTP://h", "https:/h"})
  void anotherOneIsRefused(String location) throws Exception {
    s3.refused(
        "InvalidRedirectLocation",
        TestS3.request("PUT", "/bkt/new").header(HEADER, location).body("x"));
    s3.refused("NoSuchKey", "GET", "/bkt/new");
  }

  @Test
  void itsLengthIsBounded() throws Exception {
    String longest = "/" + "x".repeat(2047);
    s3.ok(200, TestS3.request("PUT", "/bkt/new").header(HEADER, longest).body("x"));
    s3.refused(
        "InvalidRedirectLocation",
        TestS3.request("PUT", "/bkt/new").header(HEADER, longest + "x").body("x"));
    assertEquals(longest, location("new"));
  }

  @Test
  void copiesDoNotTakeItOverButMayGetOne() throws Exception {
    s3.ok(200, copy("copy"));
    assertEquals("", location("copy"));
    s3.ok(200, copy("copy").header(HEADER, "/third"));
    assertEquals("/third", location("copy"));
    s3.ok(200, copy("copy").header("x-amz-metadata-directive", "REPLACE"));
    assertEquals("", location("copy"));
    s3.ok(
        200, copy("copy").header("x-amz-metadata-directive", "REPLACE").header(HEADER, "/fourth"));
    assertEquals("/fourth", location("copy"));
    s3.refused("InvalidRequest", copy("k"));
    s3.ok(200, copy("k").header(HEADER, "/self"));
    assertEquals("/self", location("k"));
    s3.refused("InvalidRedirectLocation", copy("copy").header(HEADER, "other"));
  }

  @ParameterizedTest
  @CsvSource({
    "GET, /bkt/k",
    "DELETE, /bkt/k",
    "PUT, /bkt/k?append&position=1",
    "PUT, /bkt/k?tagging"
  })
  void requestsThatDoNotHeedItRefuseIt(String method, String uri) throws Exception {
    s3.refused("NotImplemented", TestS3.request(method, uri).header(HEADER, "/x"));
    assertEquals("/other", location("k"));
  }

  @Test
  void policiesDecideByIt() throws Exception {
    s3.ok(
        204,
        TestS3.request("PUT", "/bkt?policy")
            .body(
                "{\"Statement\":{\"Effect\":\"Deny\",\"Principal\":\"*\","
                    + "\"Action\":\"s3:PutObject\",\"Resource\":\"arn:aws:s3:::bkt/*\","
                    + "\"Condition\":{\"StringLike\":"
                    + "{\"s3:x-amz-website-redirect-location\":\"http*\"}}}}"));
    s3.refused(
        "AccessDenied", TestS3.request("PUT", "/bkt/new").header(HEADER, "http://h").body("x"));
    s3.ok(200, TestS3.request("PUT", "/bkt/new").header(HEADER, "/x").body("x"));
  }
}
