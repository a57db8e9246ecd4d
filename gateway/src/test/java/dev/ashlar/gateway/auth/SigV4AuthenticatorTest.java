package dev.ashlar.gateway.auth;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.access.Caller;
import dev.ashlar.gateway.http.TestServer;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SigV4AuthenticatorTest {
  private static final String UNSIGNED = "UNSIGNED-PAYLOAD";
  private static final String PRESIGNED =
      "GET /test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE"
          + "%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z"
          + "&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature="
          + "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404 HTTP/1.1\r\n"
          + "Host: examplebucket.s3.amazonaws.com\r\n\r\n";

  @SuppressWarnings("NullAway.Init")
  private AuthServer server;

  @BeforeEach
  void start() throws Exception {
    server = new AuthServer();
  }

  @AfterEach
  void stop() throws Exception {
    server.stop();
  }

  private static String get(String path, String query, Map<String, String> more) {
    Map<String, String> headers = new TreeMap<>(more);
    headers.putIfAbsent("x-amz-content-sha256", UNSIGNED);
    return new TestSigner().head("GET", path, query, headers);
  }

  @ParameterizedTest
  @CsvSource({
    "/bucket/../x//y/., ''",
    "/bucket/%C3%A4%20%2B%25%00, ''",
    "/bucket/key, 'acl='",
    "/bucket/key, 'a=%20%2F&a=1&a-b=&b=%C3%A4'",
    "/bucket/key, 'prefix=a%2Fb&prefix-x=1'",
  })
  void signedTextIsNotNormalised(String path, String query) throws Exception {
    server.accepts(get(path, query, Map.of()), "");
  }

  @ParameterizedTest
  @CsvSource({
    // what is on the wire, what the client signed
    "/b/a(1)!*'.txt, /b/a%281%29%21%2A%27.txt",
    "/b/%7Ea+b, /b/~a%2Bb",
    "/b/%c3%a4, /b/%C3%A4",
    "/b/a%2Fb, /b/a/b",
  })
  void escapingOnTheWireDoesNotMatter(String sent, String signed) throws Exception {
    server.accepts(get(signed, "", Map.of()).replace("GET " + signed, "GET " + sent), "");
  }

  @Test
  void queriesAreSortedAndPlusIsABlank() throws Exception {
    String request = get("/b", "a=x%20y&b=1&c=", Map.of());
    server.accepts(request.replace("?a=x%20y&b=1&c=", "?c&b=1&&a=x+y"), "");
  }

  @Test
  void changesOfDataAreSignedLikeAnythingElse() throws Exception {
    Map<String, String> headers = new TreeMap<>();
    headers.put("x-amz-content-sha256", UNSIGNED);
    headers.put("content-length", "3");
    for (String method : new String[] {"PUT", "POST"}) {
      String request = new TestSigner().head(method, "/b/k", "append=&position=5", headers);
      String sent = request.replace("?append=&position=5", "?append&position=5");
      server.accepts(sent + "abc", "abc");
      server.refuses(sent.replace("position=5", "position=6") + "abc", "SignatureDoesNotMatch");
    }
    headers.put("content-range", "bytes 5-7/*");
    String patch = new TestSigner().head("PATCH", "/b/k", "", headers);
    server.accepts(patch + "abc", "abc");
    server.refuses(patch.replace("5-7", "6-8") + "abc", "SignatureDoesNotMatch");
    headers.remove("content-range");
    String put = new TestSigner().head("PUT", "/b/k", "", headers);
    String added = put.replace("Authorization:", "x-amz-write-offset-bytes: 5\r\nAuthorization:");
    server.refuses(added + "abc", "AccessDenied");
  }

  @Test
  void headerValuesAreTrimmedFoldedAndJoined() throws Exception {
    String request = get("/b", "", Map.of("x-amz-meta-a", "one two,three"));
    server.accepts(
        request.replace("one two,three\r\n", "  one \t  two  \r\nX-Amz-Meta-A: three \r\n"), "");
  }

  @Test
  void rawBytesInHeadersAreSignedAsTheyAre() throws Exception {
    server.accepts(get("/b", "", Map.of("x-amz-meta-a", "\u00c3\u00a4")), "");
  }

  @Test
  void unsignedAmazonHeadersAreRefused() throws Exception {
    String request = get("/b", "", Map.of());
    String text =
        server.refuses(
            request.replace("\r\n\r\n", "\r\nX-Amz-Meta-Evil: 1\r\n\r\n"), "AccessDenied");
    assertTrue(text.toLowerCase(Locale.ROOT).contains("<headersnotsigned>x-amz-meta-evil"), text);
  }

  @Test
  void afterTooManyFailuresNoSecretIsLookedUp() throws Exception {
    AuthServer limited = new AuthServer(new FailedAttempts(3, () -> 0));
    try {
      String unknown = get("/b", "", Map.of()).replace(TestSigner.ACCESS_KEY, "AKIAUNKNOWN");
      String wrong = get("/b", "", Map.of()).replace("GET", "PUT");
      limited.refuses(unknown, "InvalidAccessKeyId");
      limited.refuses(wrong, "SignatureDoesNotMatch");
      limited.refuses(PRESIGNED.replace("/test.txt", "/other"), "SignatureDoesNotMatch");
      int before = limited.lookups.get();
      String text = limited.refuses(unknown, "SlowDown");
      assertTrue(text.contains("from 127.0.0.1"), text);
      limited.refuses(wrong, "SlowDown");
      limited.refuses(PRESIGNED, "SlowDown");
      assertEquals(before, limited.lookups.get());
      limited.answer("GET /b HTTP/1.1\r\nHost: localhost\r\n\r\n");
    } finally {
      limited.stop();
    }
  }

  @Test
  void aKeyThatHasSucceededIsServedWhileOthersAreRefused() throws Exception {
    AuthServer limited = new AuthServer(new FailedAttempts(3, () -> 0));
    try {
      String unknown = get("/b", "", Map.of()).replace(TestSigner.ACCESS_KEY, "AKIAUNKNOWN");
      limited.accepts(get("/b", "", Map.of()), "");
      for (int i = 0; i < 3; i++) {
        limited.refuses(unknown, "InvalidAccessKeyId");
      }
      limited.refuses(unknown, "SlowDown");
      limited.accepts(get("/b", "", Map.of()), "");
    } finally {
      limited.stop();
    }
  }

  @Test
  void aWrongSignatureTellsWhatWasSigned() throws Exception {
    String text =
        server.refuses(get("/b", "", Map.of()).replace("GET", "PUT"), "SignatureDoesNotMatch");
    assertTrue(text.contains("<StringToSign>AWS4-HMAC-SHA256\n20130524T000000Z\n"), text);
    assertTrue(text.contains("<CanonicalRequest>PUT\n/b\n\nhost:localhost\n"), text);
    assertTrue(text.contains("<AWSAccessKeyId>AKIAIOSFODNN7EXAMPLE<"), text);
    assertTrue(text.contains("<StringToSignBytes>41 57 53 34"), text);
  }

  @ParameterizedTest
  @CsvSource({
    "AKIAIOSFODNN7EXAMPLE/, AKIAUNKNOWN/, InvalidAccessKeyId",
    "us-east-1, eu-west-1, AuthorizationHeaderMalformed",
    "/s3/, /ec2/, AuthorizationHeaderMalformed",
    "aws4_request, aws3_request, AuthorizationHeaderMalformed",
    "/20130524/, /20130523/, AuthorizationHeaderMalformed",
    "/20130524/, //, AuthorizationHeaderMalformed",
    "/20130524/us-east-1/, /, AuthorizationHeaderMalformed",
    "SignedHeaders=, Signed=, AuthorizationHeaderMalformed",
    "Authorization: AWS4-HMAC-SHA256, Authorization: AWS, InvalidRequest",
    "Authorization: AWS4-HMAC-SHA256, Authorization: AWS4-ECDSA-P256-SHA256, NotImplemented",
    "Authorization: AWS4-HMAC-SHA256, Authorization: Bearer, InvalidArgument",
    "host;, '', AccessDenied",
    "x-amz-date: 20130524T000000Z, x-amz-date: 20130524T001501Z, RequestTimeTooSkewed",
    "x-amz-date: 20130524T000000Z, x-amz-date: 20130524T990000Z, AccessDenied",
    "x-amz-date: 20130524T000000Z, x-amz-dote: 1, AccessDenied",
    "x-amz-content-sha256:, x-amz-content-sha257:, InvalidRequest",
  })
  void flawedHeaders(String right, String wrong, String code) throws Exception {
    String request = get("/b", "", Map.of());
    assertTrue(request.contains(right));
    server.refuses(request.replaceFirst(right, wrong), code);
  }

  @Test
  void theWrongRegionNamesTheRightOne() throws Exception {
    String text = server.answer(get("/b", "", Map.of()).replace("us-east-1", "eu-west-1")).text();
    assertTrue(text.contains("<Region>us-east-1</Region>"), text);
  }

  @Test
  void theDateHeaderStandsInForTheAmazonOne() throws Exception {
    String request = get("/b", "", Map.of("date", "Fri, 24 May 2013 00:00:00 GMT"));
    // Signed over other headers than sent, so only the time can have been understood.
    server.refuses(
        request.replaceFirst("x-amz-date: [^\r]*\r\n", "").replace(";x-amz-date", ""),
        "SignatureDoesNotMatch");
  }

  @Test
  void sessionTokensAreRefused() throws Exception {
    server.refuses(get("/b", "", Map.of("x-amz-security-token", "t")), "InvalidToken");
    server.refuses(
        PRESIGNED.replace("&X-Amz-Signature", "&X-Amz-Security-Token=t&X-Amz-Signature"),
        "InvalidToken");
  }

  @ParameterizedTest
  @CsvSource({
    "X-Amz-Expires=86400, X-Amz-Expires=604801, AuthorizationQueryParametersError",
    "X-Amz-Expires=86400, X-Amz-Expires=-1, AuthorizationQueryParametersError",
    "X-Amz-Expires=86400, X-Amz-Expires=x, AuthorizationQueryParametersError",
    "X-Amz-Expires=86400, X-Amz-Expires=99999999999999999999, AuthorizationQueryParametersError",
    "X-Amz-Expires=86400&, '', AuthorizationQueryParametersError",
    "X-Amz-Signature, X-Amz-Signatur, AuthorizationQueryParametersError",
    "AWS4-HMAC-SHA256, AWS4-HMAC-SHA1, AuthorizationQueryParametersError",
    "AWS4-HMAC-SHA256, AWS4-ECDSA-P256-SHA256, NotImplemented",
    "Date=20130524T000000Z, Date=2013-05-24, AuthorizationQueryParametersError",
    "Date=20130524T000000Z, Date=20130523T000000Z, AuthorizationQueryParametersError",
    "us-east-1, eu-west-1, AuthorizationQueryParametersError",
    "%2F20130524%2Fus-east-1, '', AuthorizationQueryParametersError",
    "Date=20130524T000000Z, Date=20130524T001501Z, AccessDenied",
    "/test.txt, /test2.txt, SignatureDoesNotMatch",
    "/test.txt, /test%2, InvalidURI",
    "SignedHeaders=host, SignedHeaders=x, AccessDenied",
  })
  void flawedPresignedUrls(String right, String wrong, String code) throws Exception {
    assertTrue(PRESIGNED.contains(right));
    server.refuses(PRESIGNED.replace(right, wrong), code);
  }

  @Test
  void anExpiredUrlIsDenied() throws Exception {
    String expired =
        PRESIGNED
            .replace("20130524T000000Z", "20130523T000000Z")
            .replace("%2F20130524", "%2F20130523")
            .replace("86400", "86399");
    assertTrue(server.refuses(expired, "AccessDenied").contains("Request has expired"));
  }

  @Test
  void oldSignaturesAndDoubleOnesAreRefused() throws Exception {
    server.refuses(
        "GET /?AWSAccessKeyId=a&Signature=b&Expires=1 HTTP/1.1\r\nHost: h\r\n\r\n",
        "InvalidRequest");
    server.refuses(
        PRESIGNED.replace("\r\n\r\n", "\r\nAuthorization: AWS4-HMAC-SHA256 x\r\n\r\n"),
        "InvalidArgument");
  }

  @Test
  void whoSendsNoSignatureIsAnonymous() throws Exception {
    for (String head : new String[] {"", "x-amz-date: 20130524T000000Z\r\n", "X-Auth: a\r\n"}) {
      String text = server.answer("GET /b HTTP/1.1\r\nHost: h\r\n" + head + "\r\n").text();
      assertTrue(text.startsWith(Caller.ANONYMOUS_ID + TestServer.digestOf("")), text);
    }
  }

  @Test
  void aPartOfASignatureIsRefused() throws Exception {
    String get = "GET /b?%s HTTP/1.1\r\nHost: h\r\n\r\n";
    String incomplete = "AuthorizationQueryParametersError";
    server.refuses(get.formatted("X-Amz-Signature=a"), incomplete);
    server.refuses(get.formatted("X-Amz-Credential=a"), incomplete);
    server.refuses(get.formatted("X-Amz-Algorithm=AWS4-HMAC-SHA256"), incomplete);
    server.refuses(get.formatted("X-Amz-Security-Token=a"), "AccessDenied");
    server.refuses("GET /b HTTP/1.1\r\nHost: h\r\nx-amz-security-token: a\r\n\r\n", "AccessDenied");
  }

  @Test
  void anonymousBodiesAreVerifiedButHaveNoSignedChunks() throws Exception {
    String put = "PUT /b HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nx-amz-content-sha256: ";
    String right = put + TestSigner.sha256("data") + "\r\n\r\ndata";
    String text = server.answer(right).text();
    assertTrue(text.startsWith(Caller.ANONYMOUS_ID + TestServer.digestOf("data")), text);
    server.refuses(put + TestSigner.sha256("date") + "\r\n\r\ndata", "XAmzContentSHA256Mismatch");
    server.refuses(put + "STREAMING-AWS4-HMAC-SHA256-PAYLOAD\r\n\r\ndata", "AccessDenied");
  }

  @Test
  void payloadFormsAreChecked() throws Exception {
    for (String form :
        new String[] {
          "x", "e3b0", "STREAMING-FOO", TestSigner.sha256("").toUpperCase(Locale.ROOT)
        }) {
      server.refuses(get("/b", "", Map.of("x-amz-content-sha256", form)), "InvalidArgument");
    }
    String ecdsa = "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD";
    server.refuses(get("/b", "", Map.of("x-amz-content-sha256", ecdsa)), "NotImplemented");
    String streamed = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
    server.refuses(get("/b", "", Map.of("x-amz-content-sha256", streamed)), "MissingContentLength");
    assertEquals(
        411, server.answer(get("/b", "", Map.of("x-amz-content-sha256", streamed))).status());
  }
}
