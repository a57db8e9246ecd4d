package dev.ashlar.gateway.minio;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.HttpAnswer;
import dev.ashlar.gateway.iam.TestIam;
import dev.ashlar.gateway.iam.TestIam.AccessKey;
import dev.ashlar.gateway.iam.TestIam.Request;
import dev.ashlar.gateway.s3.VirtualHosts;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AdminInfoServiceTest {
  private static final int OF_S3 = 299;
  private static final String INFO = "/minio/admin/v3/info";
  private static final String NO_REGION = "/s3";

  private final TestIam iam;
  private final AdminInfoService service;
  private int asked;

  AdminInfoServiceTest() throws Exception {
    iam = new TestIam();
    service =
        new AdminInfoService(
            exchange -> new HttpAnswer(OF_S3, new DefaultHttpHeaders(), new HttpAnswer.Empty()),
            new VirtualHosts(List.of("s3.test")),
            iam.authenticator,
            TestIam.CANONICAL_ID,
            () -> {
              asked++;
              return "{}".getBytes(UTF_8);
            },
            iam.clock);
  }

  @BeforeEach
  void nobodyHasAsked() {
    asked = 0;
  }

  private Request signed(AccessKey key) {
    return iam.signed(NO_REGION, key, "GET", INFO, "metrics=false");
  }

  private void refused(String code, Request request) {
    S3Exception refusal = assertThrows(S3Exception.class, () -> service.handle(request));
    assertEquals(code, refusal.error().code());
    assertEquals(code.equals("NotImplemented") ? 501 : 403, refusal.error().status());
    assertEquals(0, asked);
  }

  private int status(Request request) throws Exception {
    return service.handle(request).status();
  }

  @Test
  void administratorsOfTheFirstAccountAreTold() throws Exception {
    AccessKey administrator = iam.user(TestIam.ROOT, "admin", TestIam.allow("*", "*"));
    for (AccessKey key : List.of(TestIam.ROOT, administrator)) {
      HttpAnswer answer = service.handle(signed(key));
      assertEquals(200, answer.status());
      assertEquals("application/json", answer.headers().get("content-type"));
      assertEquals("{}", new String(((HttpAnswer.Bytes) answer.body()).content(), UTF_8));
    }
    assertEquals(2, asked);
  }

  @Test
  void othersAreNot() throws Exception {
    refused("AccessDenied", new Request("GET", INFO, ""));
    refused("AccessDenied", new Request("GET", INFO, "metrics=false"));
    refused("AccessDenied", signed(iam.user(TestIam.ROOT, "nothing", null)));
    for (String rights : List.of("s3:*", "iam:*", "sts:*")) {
      String name = rights.substring(0, rights.indexOf(':'));
      refused("AccessDenied", signed(iam.user(TestIam.ROOT, name, TestIam.allow(rights, "*"))));
    }
    String inBucket = TestIam.allow("*", "arn:aws:s3:::bucket/*");
    refused("AccessDenied", signed(iam.user(TestIam.ROOT, "bucket", inBucket)));
    refused("AccessDenied", signed(TestIam.OTHER_ROOT));
    AccessKey tenant = iam.user(TestIam.OTHER_ROOT, "admin", TestIam.allow("*", "*"));
    refused("AccessDenied", signed(tenant));
    refused("InvalidAccessKeyId", signed(new AccessKey("NOBODY", "secret-of-root-1", null)));
    refused("SignatureDoesNotMatch", signed(new AccessKey(TestIam.ROOT.access(), "guessed", null)));
  }

  @Test
  void aSignatureIsForItsTimeAndPathOnly() throws Exception {
    Request late = signed(TestIam.ROOT);
    iam.advance(Duration.ofMinutes(16));
    refused("RequestTimeTooSkewed", late);
    Request other = iam.signed(NO_REGION, TestIam.ROOT, "GET", "/minio/admin/v3/other", "");
    Request moved = new Request("GET", INFO, "");
    other.headers().forEach(each -> moved.headers().set(each.getKey(), each.getValue()));
    refused("SignatureDoesNotMatch", moved);
  }

  @ParameterizedTest
  @CsvSource({
    "GET, /minio/admin/v3/list-users",
    "PUT, /minio/admin/v3/add-user",
    "POST, /minio/admin/v3/service",
    "DELETE, /minio/admin/v3/info",
    "HEAD, /minio/admin/v3/info",
    "GET, /minio/admin/v3/info/",
    "GET, /minio/admin/v3/inf%6F",
    "GET, /minio/admin/v4/info"
  })
  void theRestOfTheAdministrationIsNotImplemented(String method, String path) {
    refused("NotImplemented", iam.signed(NO_REGION, TestIam.ROOT, method, path, ""));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/minio/admin/v3/info", "/minio/admin/key", "/minio/health/live", "/minio/admin"})
  void objectsOfABucketOfThatNameAreLeftToS3(String path) throws Exception {
    for (String method : List.of("GET", "HEAD", "PUT", "DELETE")) {
      assertEquals(OF_S3, status(iam.signed("us-east-1/s3", TestIam.ROOT, method, path, "")));
    }
    assertEquals(OF_S3, status(new Request("PUT", path, "")));
    assertEquals(OF_S3, status(new Request("GET", path, "X-Amz-Signature=1")));
    Request hosted = signed(TestIam.ROOT);
    hosted.headers().set("host", "bucket.s3.test");
    assertEquals(OF_S3, status(hosted));
    assertFalse(asked > 0);
  }
}
