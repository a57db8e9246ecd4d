package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.exchange.HttpExchange;
import dev.ashlar.gateway.exchange.HttpExchange.RequestHandler;
import dev.ashlar.gateway.operation.website.WebsiteService;
import dev.ashlar.gateway.website.SiteHosts;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Websites in buckets, as browsers see them. */
class WebsiteTest {
  private static final String INDEX = "<IndexDocument><Suffix>index.html</Suffix></IndexDocument>";
  private static final String ERROR = "<ErrorDocument><Key>error.html</Key></ErrorDocument>";
  private static final String READ =
      """
      {"Statement": {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", \
      "Resource": ["arn:aws:s3:::site/*.html", "arn:aws:s3:::site/a*", \
      "arn:aws:s3:::site/docs/*"]}}""";
  private static final String LIST =
      """
      {"Statement": {"Effect": "Allow", "Principal": "*", \
      "Action": ["s3:GetObject", "s3:ListBucket"], \
      "Resource": ["arn:aws:s3:::site", "arn:aws:s3:::site/*"]}}""";
  private static final Set<String> PASSED =
      Set.of(
          "host",
          "range",
          "if-none-match",
          "user-agent",
          "origin",
          "access-control-request-method",
          "access-control-request-headers",
          "x-test-owner");

  private final TestS3 s3 = new TestS3();
  private final RequestHandler service =
      new WebsiteService(
          this::anonymously,
          s3.handler(),
          s3.metadata,
          new SiteHosts(List.of("web.test", "www.my.test")));

  /** The authenticator of these tests needs a header where the real one needs none. */
  private HttpAnswer anonymously(HttpExchange exchange) throws S3Exception, InterruptedException {
    for (String name : exchange.headers().names()) {
      assertTrue(PASSED.contains(name.toLowerCase(Locale.ROOT)), name);
    }
    assertEquals("", exchange.rawQuery());
    exchange.headers().set("x-test-owner", "anonymous");
    return s3.handler().handle(exchange);
  }

  @BeforeEach
  void makeSite() throws Exception {
    s3.ok(200, "PUT", "/site");
    s3.ok(204, TestS3.request("PUT", "/site?policy").body(READ));
    for (String key :
        List.of("index.html", "folder/index.html", "a.txt", "error.html", "secret", "a%20b/c")) {
      s3.ok(
          200, TestS3.request("PUT", "/site/" + key).header("Content-Type", "text/html").body(key));
    }
  }

  private void configure(String content) throws Exception {
    s3.ok(
        200,
        TestS3.request("PUT", "/site?website")
            .body("<WebsiteConfiguration>" + content + "</WebsiteConfiguration>"));
  }

  private static TestRequest on(String host, String method, String uri) {
    TestRequest request = TestS3.request(method, uri);
    request.headers().set("Host", host);
    return request;
  }

  private TestAnswer send(TestRequest request) throws Exception {
    return s3.send(service, request);
  }

  private TestAnswer get(String uri) throws Exception {
    return send(on("site.web.test", "GET", uri));
  }

  private void redirects(int status, String location, TestAnswer answer) {
    assertEquals(status, answer.status(), answer::text);
    assertEquals(location, answer.header("Location"));
  }

  @Test
  void theConfigurationIsReturnedAndRemoved() throws Exception {
    s3.refused("NoSuchWebsiteConfiguration", "GET", "/site?website");
    s3.ok(204, "DELETE", "/site?website");
    configure(INDEX + ERROR);
    String text = s3.ok(200, "GET", "/site?website").text();
    assertTrue(text.contains(INDEX + ERROR), text);
    s3.refused("MalformedXML", TestS3.request("PUT", "/site?website").body("<Other/>"));
    s3.ok(204, "DELETE", "/site?website");
    s3.refused("NoSuchWebsiteConfiguration", "GET", "/site?website");
    assertEquals(404, get("/").status());
  }

  @Test
  void objectsSayWhereToGoInstead() throws Exception {
    configure(INDEX);
    for (String key : List.of("a.moved", "index.html")) {
      s3.ok(
          200,
          TestS3.request("PUT", "/site/" + key)
              .header("x-amz-website-redirect-location", "https://other.test/" + key)
              .body("x".repeat(100_000)));
    }
    redirects(301, "https://other.test/a.moved", get("/a.moved"));
    redirects(301, "https://other.test/index.html", get("/"));
    TestRequest unchanged = on("site.web.test", "GET", "/a.moved");
    unchanged.headers().set("If-None-Match", "*");
    redirects(301, "https://other.test/a.moved", send(unchanged));
    redirects(301, "https://other.test/a.moved", send(on("site.web.test", "HEAD", "/a.moved")));
    assertEquals("", get("/a.moved").text());
  }

  private static final String ALLOW_ORIGIN = "Access-Control-Allow-Origin";

  private TestAnswer from(String origin, String method, String uri) throws Exception {
    TestRequest request = on("site.web.test", method, uri);
    request.headers().set("Origin", origin);
    request.headers().set("Access-Control-Request-Method", "GET");
    return send(request);
  }

  @Test
  void pagesOfOtherOriginsReadWhatTheBucketLetsThemRead() throws Exception {
    configure(INDEX + ERROR);
    String origin = "https://a.test";
    assertEquals(403, from(origin, "OPTIONS", "/a.txt").status());
    s3.ok(
        200,
        TestS3.request("PUT", "/site?cors")
            .header("Content-MD5", "not looked at")
            .body(
                "<CORSConfiguration><CORSRule><AllowedOrigin>https://a.test</AllowedOrigin>"
                    + "<AllowedMethod>GET</AllowedMethod></CORSRule></CORSConfiguration>"));
    assertEquals(origin, from(origin, "GET", "/a.txt").header(ALLOW_ORIGIN));
    TestAnswer missing = from(origin, "GET", "/absent");
    assertEquals(403, missing.status());
    assertEquals(origin, missing.header(ALLOW_ORIGIN));
    TestAnswer folder = from(origin, "GET", "/folder");
    redirects(302, "/folder/", folder);
    assertEquals(origin, folder.header(ALLOW_ORIGIN));
    TestAnswer preflight = from(origin, "OPTIONS", "/a.txt");
    assertEquals(200, preflight.status());
    assertEquals(origin, preflight.header(ALLOW_ORIGIN));
    assertEquals("", from("https://b.test", "GET", "/a.txt").header(ALLOW_ORIGIN));
    assertEquals(403, from("https://b.test", "OPTIONS", "/a.txt").status());
    s3.ok(204, "DELETE", "/site?cors");
    assertEquals("", from(origin, "GET", "/a.txt").header(ALLOW_ORIGIN), "counts at once");
  }

  @Test
  void pagesAndIndexes() throws Exception {
    configure(INDEX);
    assertEquals("index.html", get("/").text());
    assertEquals("text/html", get("/").header("Content-Type"));
    assertEquals("folder/index.html", get("/folder/").text());
    assertEquals("a.txt", get("/a.txt?any=query&acl").text());
    assertEquals("a%20b/c", get("/a%20b/c").text());
    TestAnswer head = send(on("site.web.test", "HEAD", "/a.txt"));
    assertEquals(200, head.status());
    assertEquals("5", head.header("Content-Length"));
    TestAnswer range = send(on("site.web.test", "GET", "/a.txt").header("Range", "bytes=2-3"));
    assertEquals(206, range.status());
    assertEquals("tx", range.text());
    TestRequest known =
        on("site.web.test", "GET", "/a.txt").header("If-None-Match", head.header("ETag"));
    assertEquals(304, send(known).status());
  }

  @Test
  void foldersWithoutASlashAreRedirected() throws Exception {
    configure(INDEX + ERROR);
    redirects(302, "/folder/", get("/folder"));
    assertEquals(403, get("/nothing").status());
    s3.ok(200, TestS3.request("PUT", "/site//evil.test/index.html").body("x"));
    redirects(302, "/%2Fevil.test/", get("//evil.test"));
  }

  @Test
  void errorsAreHtml() throws Exception {
    configure(INDEX);
    TestAnswer denied = get("/none%3Cscript%3E");
    assertEquals(403, denied.status());
    assertEquals("text/html; charset=utf-8", denied.header("Content-Type"));
    assertEquals("AccessDenied", denied.header("x-amz-error-code"));
    assertTrue(denied.text().contains("<h1>403 Forbidden</h1>"), denied.text());
    s3.ok(204, TestS3.request("PUT", "/site?policy").body(LIST));
    TestAnswer none = get("/none%3Cscript%3E");
    assertEquals(404, none.status());
    assertTrue(none.text().contains("<li>Code: NoSuchKey</li>"), none.text());
    assertTrue(none.text().contains("none&lt;script&gt;"), none.text());
    assertFalse(none.text().contains("<script>"), none.text());
    assertEquals(400, get("/%zz").status());
    assertEquals(400, get("/" + "x".repeat(1025)).status());
    assertEquals(
        416, send(on("site.web.test", "GET", "/a.txt").header("Range", "bytes=99-")).status());
    assertEquals(404, send(on("none.web.test", "GET", "/")).status());
    assertEquals(404, send(on("x_y.web.test", "GET", "/")).status());
  }

  @Test
  void theErrorDocumentIsShownWithTheStatusOfTheError() throws Exception {
    configure(INDEX + ERROR);
    TestAnswer answer = send(on("site.web.test", "GET", "/none").header("Range", "bytes=0-1"));
    assertEquals(403, answer.status());
    assertEquals("error.html", answer.text());
    assertEquals("text/html", answer.header("Content-Type"));
    s3.ok(204, TestS3.request("PUT", "/site?policy").body(LIST));
    assertEquals(404, get("/none").status());
    assertEquals("error.html", get("/none/").text());
    assertEquals(404, send(on("site.web.test", "HEAD", "/none")).status());
    s3.ok(204, "DELETE", "/site/error.html");
    assertTrue(get("/none").text().contains("NoSuchKey"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"PUT", "POST", "DELETE", "PATCH", "LINK"})
  void onlyReadsAreServed(String method) throws Exception {
    configure(INDEX);
    TestAnswer answer = send(on("site.web.test", method, "/a.txt"));
    assertEquals(405, answer.status());
    assertEquals("GET, HEAD, OPTIONS", answer.header("Allow"));
    assertEquals("a.txt", get("/a.txt").text());
  }

  @Test
  void everybodyIsAnonymous() throws Exception {
    configure(INDEX);
    s3.ok(200, "GET", "/site/secret");
    TestRequest signed =
        on("site.web.test", "GET", "/secret")
            .header("Authorization", "AWS4-HMAC-SHA256 Credential=x")
            .header("x-amz-request-payer", "requester")
            .header("x-test-owner", "owner");
    assertEquals(403, send(signed).status());
    assertEquals(403, get("/secret?X-Amz-Signature=x&x-test-owner=owner").status());
    s3.ok(204, "DELETE", "/site?policy");
    assertEquals(403, get("/").status());
    assertEquals(403, get("/folder").status());
  }

  @Test
  void otherHostsAreLeftToS3() throws Exception {
    configure(INDEX);
    assertEquals(200, send(TestS3.request("GET", "/site?website")).status());
    assertEquals(200, send(on("site.s3.test", "GET", "/?acl")).status());
    assertEquals("NoSuchKey", send(on("site.s3.test", "GET", "/folder/")).code());
  }

  @Test
  void aDomainIsTheBucketOfItsName() throws Exception {
    s3.ok(200, "PUT", "/www.my.test");
    s3.ok(
        200,
        TestS3.request("PUT", "/www.my.test?website")
            .body(
                "<WebsiteConfiguration><RedirectAllRequestsTo><HostName>site.web.test</HostName>"
                    + "<Protocol>https</Protocol></RedirectAllRequestsTo></WebsiteConfiguration>"));
    redirects(301, "https://site.web.test/a/b%20c", send(on("www.my.test", "GET", "/a/b%20c?d")));
    redirects(301, "https://site.web.test/", send(on("WWW.my.test:9000", "HEAD", "/")));
  }

  @Test
  void routingRules() throws Exception {
    configure(
        INDEX
            + ERROR
            + "<RoutingRules>"
            + "<RoutingRule><Condition><KeyPrefixEquals>old/</KeyPrefixEquals></Condition>"
            + "<Redirect><ReplaceKeyPrefixWith>new/</ReplaceKeyPrefixWith></Redirect></RoutingRule>"
            + "<RoutingRule><Condition><KeyPrefixEquals>docs/</KeyPrefixEquals>"
            + "<HttpErrorCodeReturnedEquals>403</HttpErrorCodeReturnedEquals></Condition>"
            + "<Redirect><HostName>docs.test</HostName><HttpRedirectCode>307</HttpRedirectCode>"
            + "<ReplaceKeyWith>lost</ReplaceKeyWith></Redirect></RoutingRule>"
            + "</RoutingRules>");
    redirects(301, "/new/x%20y", get("/old/x%20y"));
    redirects(307, "http://docs.test/lost", get("/docs/none"));
    assertEquals("error.html", get("/none").text());
    s3.ok(200, TestS3.request("PUT", "/site/docs/there").body("there"));
    assertEquals("there", get("/docs/there").text());
    assertEquals("index.html", get("/").text());
  }

  @Test
  void aBucketWhoseRequestersPayShowsNothing() throws Exception {
    configure(INDEX);
    s3.ok(
        200,
        TestS3.request("PUT", "/site?requestPayment")
            .body(
                "<RequestPaymentConfiguration><Payer>Requester</Payer>"
                    + "</RequestPaymentConfiguration>"));
    assertEquals(403, get("/").status());
  }
}
