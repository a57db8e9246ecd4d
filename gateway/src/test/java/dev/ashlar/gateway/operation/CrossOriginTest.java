package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.form.FormBody;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What pages of other origins are told. */
class CrossOriginTest {
  private static final String ORIGIN = "https://app.test";
  private static final String ALLOW = "Access-Control-Allow-Origin";
  private static final String CORS =
      "<CORSConfiguration><CORSRule><AllowedHeader>x-amz-*</AllowedHeader>"
          + "<AllowedMethod>GET</AllowedMethod><AllowedMethod>POST</AllowedMethod>"
          + "<AllowedOrigin>https://app.test</AllowedOrigin><ExposeHeader>ETag</ExposeHeader>"
          + "</CORSRule></CORSConfiguration>";

  private final TestS3 s3 = new TestS3();

  @BeforeEach
  void storeSomething() throws Exception {
    s3.ok(200, "PUT", "/bkt");
    s3.ok(200, "PUT", "/none");
    s3.ok(200, TestS3.request("PUT", "/bkt/k").body("x"));
    s3.ok(200, put(CORS));
  }

  private static TestRequest put(String document) {
    return TestS3.request("PUT", "/bkt?cors").header("Content-MD5", "not looked at").body(document);
  }

  private static TestRequest from(String origin, TestRequest request) {
    return request.header("Origin", origin);
  }

  private static TestRequest preflight(String uri, String method) {
    return from(ORIGIN, TestS3.request("OPTIONS", uri))
        .header("Access-Control-Request-Method", method);
  }

  @Test
  void configuration() throws Exception {
    assertEquals(
        CORS,
        s3.ok(200, "GET", "/bkt?cors")
            .text()
            .replaceFirst("(?s).*<CORSConfiguration[^>]*>", "<CORSConfiguration>"));
    s3.refused("MalformedXML", put("<CORSConfiguration/>"));
    s3.refused("InvalidRequest", TestS3.request("PUT", "/bkt?cors").body(CORS));
    s3.ok(204, "DELETE", "/bkt?cors");
    s3.ok(204, "DELETE", "/bkt?cors");
    s3.refused("NoSuchCORSConfiguration", "GET", "/bkt?cors");
    s3.refused("AccessForbidden", preflight("/bkt/k", "GET"));
    s3.refused("NoSuchBucket", "GET", "/absent?cors");
  }

  @Test
  void preflightNeedsNoSignature() throws Exception {
    for (String owner : List.of("owner", "anonymous", "nobody")) {
      TestAnswer answer =
          s3.ok(
              200,
              preflight("/bkt/k", "GET")
                  .header("x-test-owner", owner)
                  .header("Access-Control-Request-Headers", "X-Amz-Date,x-amz-meta-a"));
      assertEquals(ORIGIN, answer.header(ALLOW));
      assertEquals("GET, POST", answer.header("Access-Control-Allow-Methods"));
      assertEquals("x-amz-date, x-amz-meta-a", answer.header("Access-Control-Allow-Headers"));
      assertEquals("true", answer.header("Access-Control-Allow-Credentials"));
      assertEquals(
          "Origin, Access-Control-Request-Headers, Access-Control-Request-Method",
          answer.header("Vary"));
      assertEquals("", answer.text());
    }
  }

  @Test
  void preflightIsAboutBucketsAndObjectsOfBothStyles() throws Exception {
    s3.ok(200, preflight("/bkt", "GET"));
    s3.ok(200, preflight("/bkt/absent?versionId=x", "GET"));
    TestRequest virtual = preflight("/k", "GET");
    virtual.headers().set("Host", "bkt.s3.test");
    s3.ok(200, virtual);
    TestAnswer refused = s3.send(preflight("/bkt/k", "DELETE"));
    assertEquals("AccessForbidden", refused.code());
    assertEquals(403, refused.status());
    assertEquals("DELETE", refused.detail("Method"));
    assertEquals("OBJECT", refused.detail("ResourceType"));
    assertEquals("BUCKET", s3.send(preflight("/bkt", "DELETE")).detail("ResourceType"));
    assertFalse(refused.headers().contains(ALLOW));
  }

  @Test
  void preflightDoesNotTellWhichBucketsThereAre() throws Exception {
    TestAnswer without = s3.send(preflight("/none/k", "GET"));
    TestAnswer absent = s3.send(preflight("/absent/k", "GET"));
    assertEquals("AccessForbidden", absent.code());
    S3Exception ofBucket = Objects.requireNonNull(without.error());
    S3Exception ofNone = Objects.requireNonNull(absent.error());
    assertEquals(ofBucket.getMessage(), ofNone.getMessage());
    assertEquals(ofBucket.details(), ofNone.details());
    s3.refused("AccessForbidden", preflight("/", "GET"));
  }

  @Test
  void methodThatIsNamedCountsInsteadOfTheRequests() throws Exception {
    TestRequest named = from(ORIGIN, TestS3.request("DELETE", "/bkt/absent"));
    assertFalse(s3.send(named).headers().contains(ALLOW));
    named.header("Access-Control-Request-Method", "GET");
    assertEquals(ORIGIN, s3.send(named).header(ALLOW));
    TestRequest other = from(ORIGIN, TestS3.request("GET", "/bkt/k"));
    other.header("Access-Control-Request-Method", "DELETE");
    assertFalse(s3.send(other).headers().contains(ALLOW));
  }

  @Test
  void preflightThatIsNone() throws Exception {
    TestRequest request = TestS3.request("OPTIONS", "/bkt/k");
    s3.refused("BadRequest", request);
    s3.refused("BadRequest", from(ORIGIN, request));
    s3.refused("BadRequest", preflight("/bkt/k", "OPTIONS"));
    s3.refused("BadRequest", preflight("/bkt/k", "get"));
    s3.refused("BadRequest", preflight("/bkt/k", ""));
    s3.refused("InvalidURI", preflight("/bkt/%", "GET"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "null",
        "https://app.test.evil",
        "https://APP.test",
        "http://app.test",
        "https://app.test:8443",
        "*",
        "https://app.test, https://app.test"
      })
  void originsThatAreNotAllowed(String origin) throws Exception {
    TestRequest preflight = preflight("/bkt/k", "GET");
    preflight.headers().set("Origin", origin);
    s3.refused("AccessForbidden", preflight);
    TestAnswer answer = s3.ok(200, from(origin, TestS3.request("GET", "/bkt/k")));
    assertFalse(answer.headers().contains(ALLOW));
    assertFalse(answer.headers().contains("Vary"));
  }

  @Test
  void requestedHeadersAreBounded() throws Exception {
    s3.ok(
        200,
        preflight("/bkt/k", "GET")
            .header("Access-Control-Request-Headers", "x-amz-a,".repeat(100)));
    s3.refused(
        "AccessForbidden",
        preflight("/bkt/k", "GET")
            .header("Access-Control-Request-Headers", "x-amz-a,".repeat(101)));
    s3.refused(
        "AccessForbidden",
        preflight("/bkt/k", "GET").header("Access-Control-Request-Headers", "x-other"));
  }

  @Test
  void answersToRequests() throws Exception {
    TestAnswer answer = s3.ok(200, from(ORIGIN, TestS3.request("GET", "/bkt/k")));
    assertEquals("x", answer.text());
    assertEquals(ORIGIN, answer.header(ALLOW));
    assertEquals("ETag", answer.header("Access-Control-Expose-Headers"));
    assertEquals("GET, POST", answer.header("Access-Control-Allow-Methods"));
    assertFalse(answer.headers().contains("Access-Control-Allow-Headers"));
    assertEquals(ORIGIN, s3.ok(200, from(ORIGIN, TestS3.request("GET", "/bkt"))).header(ALLOW));
    assertEquals(
        ORIGIN,
        s3.ok(
                204,
                from(ORIGIN, TestS3.request("POST", "/bkt"))
                    .form(new FormBody().field("key", "form").file("x", "1")))
            .header(ALLOW));
    // The rule allows neither.
    assertEquals("", s3.ok(200, from(ORIGIN, TestS3.request("HEAD", "/bkt/k"))).header(ALLOW));
    assertEquals(
        "", s3.ok(200, from(ORIGIN, TestS3.request("PUT", "/bkt/k")).body("x")).header(ALLOW));
    assertEquals("", s3.ok(200, "GET", "/bkt/k").header("Vary"));
  }

  @ParameterizedTest
  @CsvSource({
    "/bkt/absent, owner, NoSuchKey",
    "/bkt/k, anonymous, AccessDenied",
    "/bkt/k, nobody, SignatureDoesNotMatch",
    "/bkt?inventory, owner, NotImplemented",
    "/bkt/k?versionId=!, owner, InvalidArgument"
  })
  void errorsAreReadable(String uri, String owner, String code) throws Exception {
    TestAnswer refused =
        s3.send(from(ORIGIN, TestS3.request("GET", uri)).header("x-test-owner", owner));
    assertEquals(code, refused.code());
    assertEquals(ORIGIN, refused.header(ALLOW));
    assertEquals("ETag", refused.header("Access-Control-Expose-Headers"));
  }

  /** Of an object that is not read before its answer begins. */
  @ParameterizedTest
  @CsvSource({"TOO_FEW_DRIVES, 503", "GONE, 200"})
  void answersThatReplaceAnotherAreReadable(Reason fault, int status) throws Exception {
    s3.ok(200, TestS3.request("PUT", "/bkt/large").body(TestS3.randomBytes(5 << 20, 1)));
    s3.store.failReads(fault, 0, status == 200 ? 1 : 10);
    TestAnswer answer = s3.ok(status, from(ORIGIN, TestS3.request("GET", "/bkt/large")));
    assertEquals(ORIGIN, answer.header(ALLOW));
    assertEquals("ETag", answer.header("Access-Control-Expose-Headers"));
  }
}
