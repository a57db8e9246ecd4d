package dev.ashlar.gateway.auth;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Instant;
import java.util.Base64;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Signatures of version 2, first those that the Amazon S3 user guide prints. */
class SigV2AuthenticatorTest {
  private static final String DATE = "Tue, 27 Mar 2007 19:42:00 +0000";
  private static final String KEY = TestSigner.ACCESS_KEY;

  @SuppressWarnings("NullAway.Init")
  private AuthServer server;

  @AfterEach
  void stop() throws Exception {
    server.stop();
  }

  private void startAt(String now) throws Exception {
    server = AuthServer.withVersion2(Instant.parse(now));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "GET /photos/puppy.jpg; Tue, 27 Mar 2007 19:36:42 +0000; qgk2+6Sv9/oM7G3qLEjTH1a1l1g=",
        "GET /?prefix=photos&max-keys=50&marker=puppy; Tue, 27 Mar 2007 19:42:41 +0000;"
            + " m0WP8eCtspQl5Ahe6L1SozdX9YA=",
        "GET /?acl; Tue, 27 Mar 2007 19:44:46 +0000; 82ZHiFIjc+WbcwFKGUVEQspPn+0="
      })
  void publishedReads(String line, String date, String signature) throws Exception {
    startAt("2007-03-27T19:42:00Z");
    String head =
        line
            + " HTTP/1.1\r\nHost: awsexamplebucket1.s3.amazonaws.com\r\nDate: "
            + date
            + "\r\nAuthorization: AWS "
            + KEY
            + ":";
    server.accepts(head + signature + "\r\n\r\n", "");
    server.refuses(head + "A" + signature.substring(1) + "\r\n\r\n", "SignatureDoesNotMatch");
    server.refuses(head.replace("2007", "2oo7") + signature + "\r\n\r\n", "AccessDenied");
  }

  @Test
  void publishedPut() throws Exception {
    startAt("2007-03-27T21:15:45Z");
    server.accepts(
        "PUT /photos/puppy.jpg HTTP/1.1\r\nContent-Type: image/jpeg\r\nContent-Length: 5\r\n"
            + "Host: awsexamplebucket1.s3.amazonaws.com\r\nDate: Tue, 27 Mar 2007 21:15:45 +0000\r\n"
            + "Authorization: AWS "
            + KEY
            + ":iqRzw+ileNPu1fhspnRs8nOjjIA=\r\n\r\nhello",
        "hello");
  }

  @Test
  void publishedPresignedUrl() throws Exception {
    startAt("2007-03-29T03:40:19Z");
    String line =
        "GET /photos/puppy.jpg?AWSAccessKeyId="
            + KEY
            + "&Signature=NpgCjnDzrM%2BWFzoENXmpNDUsSn8%3D&Expires=1175139620 HTTP/1.1\r\n"
            + "Host: johnsmith.s3.amazonaws.com\r\n";
    server.accepts(line + "\r\n", "");
    server.refuses(line + "x-amz-acl: public-read\r\n\r\n", "SignatureDoesNotMatch");
    server.refuses(line.replace("puppy", "puppe") + "\r\n", "SignatureDoesNotMatch");
    server.refuses(line.replace("39620", "39621") + "\r\n", "SignatureDoesNotMatch");
    server.refuses(line.replace("=1175139620", "=1175139619") + "\r\n", "AccessDenied");
    server.refuses(line.replace("=1175139620", "=11751396200") + "\r\n", "AccessDenied");
    server.refuses(line.replace("=1175139620", "=-1") + "\r\n", "AccessDenied");
    server.refuses(line.replace("&Expires=1175139620", "") + "\r\n", "AccessDenied");
    server.refuses(line.replace("GET", "DELETE") + "\r\n", "SignatureDoesNotMatch");
    server.refuses(
        line + "Authorization: AWS " + KEY + ":NpgCjnDzrM+WFzoENXmpNDUsSn8=\r\n\r\n",
        "InvalidArgument");
  }

  /** What version 2 does not sign and Ashlar would obey. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "append",
        "APPEND",
        "attributes",
        "encryption",
        "legal-hold",
        "ownershipControls",
        "policyStatus",
        "publicAccessBlock",
        "renameObject",
        "retention",
        "%72etention",
        "session",
        "x-amz-acl=public-read",
        "X-Amz-Copy-Source=/b/k",
        "x%2Damz-tagging=a%3Db",
      })
  void unsignedParametersAreRefused(String parameter) throws Exception {
    startAt("2007-03-27T19:42:00Z");
    String signature = sign("GET\n\n\n" + DATE + "\n/b/k");
    server.accepts(request("/b/k?unknown=1&x-id=GetObject", signature, ""), "");
    server.refuses(request("/b/k?" + parameter, signature, ""), "AccessDenied");
  }

  @Test
  void bucketInThePathMayBeSignedWithASlash() throws Exception {
    startAt("2007-03-27T19:42:00Z");
    String with = sign("GET\n\n\n" + DATE + "\n/b/");
    String without = sign("GET\n\n\n" + DATE + "\n/b");
    server.accepts(request("/b", with, ""), "");
    server.accepts(request("/b/", with, ""), "");
    server.accepts(request("/b", without, ""), "");
    server.refuses(request("/b/", without, ""), "SignatureDoesNotMatch");
    server.refuses(request("/b/k", with, ""), "SignatureDoesNotMatch");
  }

  @Test
  void presignedHeadersInTheQueryAreSigned() throws Exception {
    startAt("2007-03-27T19:42:00Z");
    String signature = sign("PUT\n\n\n1175139620\nx-amz-acl:private\n/b/k").replace("+", "%2B");
    String line =
        "PUT /b/k?AWSAccessKeyId=" + KEY + "&Expires=1175139620&Signature=" + signature + "&";
    String rest = " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n";
    server.accepts(line + "x-amz-acl=private" + rest + "\r\n", "");
    server.accepts(line + rest + "X-Amz-Acl: private\r\n\r\n", "");
    server.refuses(line + "x-amz-acl=public-read" + rest + "\r\n", "SignatureDoesNotMatch");
    server.refuses(line + rest + "\r\n", "SignatureDoesNotMatch");
    server.refuses(
        line + "x-amz-acl=private" + rest + "x-amz-meta-a: b\r\n\r\n", "SignatureDoesNotMatch");
    server.refuses(line + "x-amz-acl=private&tagging" + rest + "\r\n", "SignatureDoesNotMatch");
    server.refuses(line + "x-amz-acl=private&retention" + rest + "\r\n", "AccessDenied");
  }

  /** One text can stand for several requests where a value contains what separates values. */
  @Test
  void valuesDoNotSwallowWhatIsSigned() throws Exception {
    startAt("2007-03-27T19:42:00Z");
    String rest = " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n";
    String lines = "x-amz-date:D\nx-amz-tagging:a=b\n";
    String put = sign("PUT\n\n\n1175139620\n" + lines + "/b/k").replace("+", "%2B");
    String line = "PUT /b/k?AWSAccessKeyId=" + KEY + "&Expires=1175139620&Signature=" + put;
    server.accepts(line + "&x-amz-date=D&x-amz-tagging=a%3Db" + rest, "");
    server.refuses(line + "&x-amz-date=D%0Ax-amz-tagging:a%3Db" + rest, "AccessDenied");
    String signature =
        sign("GET\n\n\n" + DATE + "\n/b/k?response-content-type=text/plain&versionId=null");
    String path = "/b/k?response-content-type=text%2Fplain";
    server.accepts(request(path + "&versionId=null", signature, ""), "");
    server.refuses(request(path + "%26versionId=null", signature, ""), "AccessDenied");
  }

  @Test
  void headersOfAmazonAndOverridesAreSigned() throws Exception {
    startAt("2007-03-27T19:42:00Z");
    String signature =
        sign(
            "GET\n\n\n"
                + DATE
                + "\nx-amz-a:1,2\nx-amz-b:3\n/b/k?response-content-type=text/plain&versionId=null");
    String path = "/b/k?versionId=null&response-content-type=text%2Fplain";
    server.accepts(request(path, signature, "X-Amz-B: 3\r\nx-amz-a: 1\r\nx-amz-a: 2\r\n"), "");
    server.refuses(
        request(path, signature, "X-Amz-B: 3\r\nx-amz-a: 2\r\nx-amz-a: 1\r\n"),
        "SignatureDoesNotMatch");
    server.refuses(
        request(path + "x", signature, "X-Amz-B: 3\r\nx-amz-a: 1\r\nx-amz-a: 2\r\n"),
        "SignatureDoesNotMatch");
    server.refuses(
        request(path + "&versionId=other", signature, "X-Amz-B: 3\r\nx-amz-a: 1\r\nx-amz-a: 2\r\n"),
        "AccessDenied");
  }

  @Test
  void timesAndKeysAreChecked() throws Exception {
    startAt("2007-03-27T19:57:01Z");
    String signature = sign("GET\n\n\n" + DATE + "\n/b/k");
    server.refuses(request("/b/k", signature, ""), "RequestTimeTooSkewed");
    server.refuses(request("/b/k", signature, "").replace("Tue, 27", "Someday"), "AccessDenied");
    server.refuses(request("/b/k", signature, "").replace("Date:", "Other:"), "AccessDenied");
    for (String skewed : List.of("Tue, 07 Jul 2010 21:53:04 GMT", "07 Jul 9999 21:53:04 GMT")) {
      server.refuses(
          request("/b/k", signature, "x-amz-date: " + skewed + "\r\n"), "RequestTimeTooSkewed");
    }
    server.refuses(
        request("/b/k", signature, "x-amz-date: Tue, 07 Jul 1950 21:53:04 GMT\r\n"),
        "AccessDenied");
    server.refuses(request("/b/k", signature, "").replace(":" + signature, ""), "InvalidArgument");
    String now = "Tue, 27 Mar 2007 19:57:00 +0000";
    String amazonDate = sign("GET\n\n\n\nx-amz-date:" + now + "\n/b/k");
    server.accepts(request("/b/k", amazonDate, "x-amz-date: " + now + "\r\n"), "");
    server.refuses(
        request("/b/k", amazonDate, "x-amz-date: " + now + "\r\n").replace(KEY, "NOBODY"),
        "InvalidAccessKeyId");
  }

  @Test
  void version4IsLookedAtTooAndChunksNeedIt() throws Exception {
    startAt("2007-03-27T19:42:00Z");
    server.refuses(
        "GET /b/k HTTP/1.1\r\nHost: h\r\nAuthorization: AWS4-HMAC-SHA256 x\r\n\r\n",
        "AuthorizationHeaderMalformed");
    String streaming = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
    String signature = sign("PUT\n\n\n" + DATE + "\nx-amz-content-sha256:" + streaming + "\n/b/k");
    server.refuses(
        request(
                "/b/k",
                signature,
                "x-amz-content-sha256: " + streaming + "\r\nContent-Length: 0\r\n")
            .replace("GET", "PUT"),
        "AccessDenied");
  }

  private static String request(String target, String signature, String headers) {
    return "GET "
        + target
        + " HTTP/1.1\r\nHost: localhost\r\nDate: "
        + DATE
        + "\r\nAuthorization: AWS "
        + KEY
        + ":"
        + signature
        + "\r\n"
        + headers
        + "\r\n";
  }

  private static String sign(String text) throws Exception {
    Mac mac = Mac.getInstance("HmacSHA1");
    mac.init(new SecretKeySpec(TestSigner.SECRET.getBytes(UTF_8), "HmacSHA1"));
    return Base64.getEncoder().encodeToString(mac.doFinal(text.getBytes(UTF_8)));
  }
}
