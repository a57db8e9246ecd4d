package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.gateway.form.FormBody;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Buckets whose requesters pay. */
class RequestPaymentTest {
  private static final String OPEN =
      """
      {"Statement": {"Effect": "Allow", "Principal": "*", "Action": "s3:*", \
      "Resource": ["arn:aws:s3:::bkt", "arn:aws:s3:::bkt/*"]}}""";
  private static final String KEYS = "<Delete><Object><Key>k</Key></Object></Delete>";

  private final TestS3 s3 = new TestS3();

  @BeforeEach
  void storeSomething() throws Exception {
    s3.ok(200, "PUT", "/bkt");
    s3.ok(200, TestS3.request("PUT", "/bkt/k").body("data"));
    s3.ok(204, TestS3.request("PUT", "/bkt?policy").body(OPEN));
  }

  private void payer(String payer) throws Exception {
    String document =
        "<RequestPaymentConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Payer>"
            + payer
            + "</Payer></RequestPaymentConfiguration>";
    s3.ok(200, TestS3.request("PUT", "/bkt?requestPayment").body(document));
  }

  private String payer() throws Exception {
    return s3.ok(200, "GET", "/bkt?requestPayment").element("Payer");
  }

  private static TestRequest as(String who, String method, String uri) {
    return TestS3.request(method, uri).header("x-test-owner", who);
  }

  private static TestRequest paying(String who, String method, String uri) {
    return as(who, method, uri).header("x-amz-request-payer", "requester");
  }

  private static void assertCharged(TestAnswer answer) {
    assertEquals("requester", answer.header("x-amz-request-charged"));
  }

  private static void assertFree(TestAnswer answer) {
    assertEquals(null, answer.headers().get("x-amz-request-charged"));
  }

  @Test
  void thePayerIsReturnedAsItWasPut() throws Exception {
    assertEquals("BucketOwner", payer());
    payer("Requester");
    assertEquals("Requester", payer());
    payer("BucketOwner");
    assertEquals("BucketOwner", payer());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "<RequestPaymentConfiguration/>",
        "<RequestPaymentConfiguration><Payer>Somebody</Payer></RequestPaymentConfiguration>",
        "<RequestPaymentConfiguration><Payer/></RequestPaymentConfiguration>",
        "<RequestPaymentConfiguration><Payer>Requester</Payer><Payer>BucketOwner</Payer>"
            + "</RequestPaymentConfiguration>",
        "<Payer>Requester</Payer>",
        "<RequestPaymentConfiguration><Payer>Requester"
      })
  void otherDocumentsAreRefused(String document) throws Exception {
    s3.refused("MalformedXML", TestS3.request("PUT", "/bkt?requestPayment").body(document));
    assertEquals("BucketOwner", payer());
  }

  @ParameterizedTest
  @CsvSource({
    "GET, /bkt/k",
    "HEAD, /bkt/k",
    "GET, /bkt/none",
    "PUT, /bkt/k",
    "DELETE, /bkt/k",
    "GET, /bkt",
    "HEAD, /bkt",
    "GET, /bkt?uploads",
    "GET, /bkt/k?tagging",
    "GET, /bkt?policy",
    "GET, /bkt?requestPayment",
    "PUT, /bkt?requestPayment",
    "POST, /bkt/k?uploads",
    "POST, /bkt?delete"
  })
  void othersHaveToAgree(String method, String uri) throws Exception {
    payer("Requester");
    for (String who : List.of("other", "anonymous")) {
      s3.refused("AccessDenied", as(who, method, uri).body(KEYS).header("Content-MD5", "x"));
    }
    TestRequest unknown = paying("anonymous", method, uri);
    s3.refused("AccessDenied", unknown.body(KEYS).header("Content-MD5", "x"));
    assertEquals("data", s3.ok(200, "GET", "/bkt/k").text());
    assertEquals("Requester", payer());
  }

  @Test
  void whoAgreesIsServedAndCharged() throws Exception {
    payer("Requester");
    TestAnswer get = s3.ok(200, paying("other", "GET", "/bkt/k"));
    assertEquals("data", get.text());
    assertCharged(get);
    assertCharged(s3.ok(200, as("other", "GET", "/bkt/k?x-amz-request-payer=requester")));
    assertCharged(s3.ok(200, paying("other", "HEAD", "/bkt/k")));
    assertCharged(s3.ok(200, paying("other", "GET", "/bkt?list-type=2")));
    assertCharged(s3.ok(200, paying("other", "PUT", "/bkt/new").body("x")));
    assertCharged(s3.ok(204, paying("other", "DELETE", "/bkt/new")));
    TestAnswer deleted =
        s3.ok(200, paying("other", "POST", "/bkt?delete").body(KEYS).header("Content-MD5", "x"));
    assertCharged(deleted);
    assertEquals(List.of("k"), deleted.each("Deleted", "Key"));
    s3.refused("NoSuchKey", paying("other", "GET", "/bkt/k"));
  }

  @Test
  void toAgreeGivesNoRight() throws Exception {
    payer("Requester");
    s3.ok(204, "DELETE", "/bkt?policy");
    s3.refused("AccessDenied", paying("other", "GET", "/bkt/k"));
    s3.refused("AccessDenied", paying("other", "PUT", "/bkt/k").body("x"));
    s3.refused("AccessDenied", as("other", "GET", "/bkt/k"));
  }

  @Test
  void theOwnersAccountNeedNotAgree() throws Exception {
    payer("Requester");
    assertFree(s3.ok(200, "GET", "/bkt/k"));
    assertFree(s3.ok(200, paying("owner", "GET", "/bkt/k")));
    String all = "{\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"s3:*\",\"Resource\":\"*\"}]}";
    assertFree(s3.ok(200, TestS3.request("GET", "/bkt/k").header("x-test-policy", all)));
  }

  @Test
  void nobodyIsChargedWhereTheOwnerPays() throws Exception {
    assertFree(s3.ok(200, paying("other", "GET", "/bkt/k")));
    payer("Requester");
    payer("BucketOwner");
    assertFree(s3.ok(200, as("other", "GET", "/bkt/k")));
    assertFree(s3.ok(200, as("anonymous", "GET", "/bkt/k")));
    s3.refused("NotImplemented", as("other", "GET", "/bkt/k").header("x-amz-request-payer", "me"));
  }

  @Test
  void whoCopiesPaysForTheSource() throws Exception {
    payer("Requester");
    s3.ok(200, as("other", "PUT", "/own"));
    s3.refused(
        "AccessDenied", as("other", "PUT", "/own/copy").header("x-amz-copy-source", "/bkt/k"));
    assertCharged(
        s3.ok(200, paying("other", "PUT", "/own/copy").header("x-amz-copy-source", "/bkt/k")));
    assertFree(
        s3.ok(200, paying("other", "PUT", "/own/2").header("x-amz-copy-source", "/own/copy")));
    String id = s3.ok(200, as("other", "POST", "/own/m?uploads")).element("UploadId");
    String part = "/own/m?partNumber=1&uploadId=" + id;
    s3.refused("AccessDenied", as("other", "PUT", part).header("x-amz-copy-source", "/bkt/k"));
    assertCharged(s3.ok(200, paying("other", "PUT", part).header("x-amz-copy-source", "/bkt/k")));
  }

  @Test
  void aBucketThatIsCreatedAgainIsPaidByItsOwner() throws Exception {
    payer("Requester");
    s3.ok(204, "DELETE", "/bkt/k");
    s3.ok(204, "DELETE", "/bkt");
    s3.ok(200, "PUT", "/bkt");
    assertEquals("BucketOwner", payer());
  }

  @Test
  void formsAgreeToPayInAField() throws Exception {
    payer("Requester");
    FormBody form = new FormBody().field("key", "f");
    s3.refused("AccessDenied", as("other", "POST", "/bkt").form(form.file("x", "1")));
    FormBody paying =
        new FormBody().field("key", "f").field("x-amz-request-payer", "requester").file("x", "1");
    s3.ok(204, as("other", "POST", "/bkt").form(paying));
  }
}
