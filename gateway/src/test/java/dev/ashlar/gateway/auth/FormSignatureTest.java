package dev.ashlar.gateway.auth;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.form.FormBody;
import dev.ashlar.gateway.form.FormExchange;
import dev.ashlar.gateway.s3.VirtualHosts;
import dev.ashlar.protocol.message.CredentialRow;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Signatures in the fields of forms. */
class FormSignatureTest {
  private static final String KEY = TestSigner.ACCESS_KEY;
  private static final String CREDENTIAL = KEY + "/20151229/us-east-1/s3/aws4_request";

  private Instant now = Instant.parse("2015-12-29T12:00:00Z");

  private SigV4Authenticator version4() {
    CredentialRow row =
        CredentialRow.newBuilder()
            .setAccessKey(KEY)
            .setSecretKey(TestSigner.SECRET)
            .setOwner("owner")
            .build();
    return new SigV4Authenticator(
        key -> key.equals(KEY) ? Optional.of(row) : Optional.empty(),
        "us-east-1",
        Clock.fixed(now, ZoneOffset.UTC));
  }

  private SigV2Authenticator version2() {
    return new SigV2Authenticator(
        version4(),
        new VirtualHosts(List.of()),
        Clock.fixed(now, ZoneOffset.UTC),
        FailedAttempts.unlimited());
  }

  private static String answer(Authenticator authenticator, Map<String, String> fields)
      throws Exception {
    FormBody form = new FormBody();
    fields.forEach(form::field);
    try {
      return authenticator
          .authenticateForm(FormExchange.read(form.file("a", "1")))
          .caller()
          .canonicalId();
    } catch (S3Exception e) {
      return e.error().code();
    }
  }

  private static String policy(String conditions) {
    String json =
        "{\"expiration\": \"2015-12-30T12:00:00Z\", \"conditions\": [{\"bucket\": \"bkt\"},"
            + "[\"starts-with\", \"$key\", \"\"]"
            + conditions
            + "]}";
    return Base64.getEncoder().encodeToString(json.getBytes(UTF_8));
  }

  private static byte[] hmac(String algorithm, byte[] key, String text) throws Exception {
    Mac mac = Mac.getInstance(algorithm);
    mac.init(new SecretKeySpec(key, algorithm));
    return mac.doFinal(text.getBytes(UTF_8));
  }

  /** Fields that are signed with version 4. */
  private static Map<String, String> signed4() throws Exception {
    String policy =
        policy(
            ", {\"x-amz-algorithm\": \"AWS4-HMAC-SHA256\"}, {\"x-amz-credential\": \""
                + CREDENTIAL
                + "\"}, {\"x-amz-date\": \"20151229T000000Z\"}");
    byte[] key = ("AWS4" + TestSigner.SECRET).getBytes(UTF_8);
    for (String step : "20151229/us-east-1/s3/aws4_request".split("/", -1)) {
      key = hmac("HmacSHA256", key, step);
    }
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put("key", "k");
    fields.put("x-amz-algorithm", "AWS4-HMAC-SHA256");
    fields.put("X-Amz-Credential", CREDENTIAL);
    fields.put("x-amz-date", "20151229T000000Z");
    fields.put("Policy", policy);
    fields.put("x-amz-signature", HexFormat.of().formatHex(hmac("HmacSHA256", key, policy)));
    return fields;
  }

  private static Map<String, String> signed2() throws Exception {
    String policy = policy("");
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put("key", "k");
    fields.put("AWSAccessKeyId", KEY);
    fields.put("policy", policy);
    fields.put(
        "signature",
        Base64.getEncoder()
            .encodeToString(hmac("HmacSHA1", TestSigner.SECRET.getBytes(UTF_8), policy)));
    return fields;
  }

  private static Map<String, String> with(Map<String, String> fields, String name, String value) {
    Map<String, String> changed = new LinkedHashMap<>(fields);
    changed.replace(name, value);
    return changed;
  }

  @Test
  void bothVersions() throws Exception {
    assertEquals("owner", answer(version4(), signed4()));
    assertEquals("owner", answer(version2(), signed4()));
    assertEquals("owner", answer(version2(), signed2()));
  }

  @Test
  void version2NeedsItsOption() throws Exception {
    assertEquals("InvalidRequest", answer(version4(), signed2()));
  }

  @Test
  void withoutAnyFieldOfASignatureItIsAnonymous() throws Exception {
    for (Authenticator each : List.of(version4(), version2())) {
      assertEquals(
          "65a011a29cdf8ec533ec3d1ccaae921c", answer(each, Map.of("key", "k", "acl", "private")));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"x-amz-algorithm", "X-Amz-Credential", "x-amz-date", "Policy", "x-amz-signature"})
  void fieldsOfVersion4ThatAreMissing(String name) throws Exception {
    Map<String, String> fields = signed4();
    fields.remove(name);
    assertEquals("InvalidArgument", answer(version4(), fields));
    assertEquals("InvalidArgument", answer(version2(), fields));
  }

  @ParameterizedTest
  @ValueSource(strings = {"AWSAccessKeyId", "policy", "signature"})
  void fieldsOfVersion2ThatAreMissing(String name) throws Exception {
    Map<String, String> fields = signed2();
    fields.remove(name);
    assertEquals("InvalidArgument", answer(version2(), fields));
  }

  @ParameterizedTest
  @CsvSource({
    "x-amz-algorithm, AWS4-HMAC-SHA512, AuthorizationQueryParametersError",
    "x-amz-algorithm, AWS4-ECDSA-P256-SHA256, NotImplemented",
    "X-Amz-Credential, x, AuthorizationQueryParametersError",
    "X-Amz-Credential, OTHER/20151229/us-east-1/s3/aws4_request, InvalidAccessKeyId",
    "X-Amz-Credential, AK/20151229/eu-west-1/s3/aws4_request, AuthorizationQueryParametersError",
    "X-Amz-Credential, AK/20151229/us-east-1/iam/aws4_request, AuthorizationQueryParametersError",
    "x-amz-date, 20151228T000000Z, AuthorizationQueryParametersError",
    "x-amz-date, yesterday, AuthorizationQueryParametersError",
    "x-amz-signature, 00, SignatureDoesNotMatch",
    "x-amz-signature, '', SignatureDoesNotMatch",
    "Policy, '', SignatureDoesNotMatch"
  })
  void fieldsOfVersion4ThatAreWrong(String name, String value, String code) throws Exception {
    assertEquals(code, answer(version4(), with(signed4(), name, value.replace("AK/", KEY + "/"))));
  }

  @ParameterizedTest
  @CsvSource({
    "AWSAccessKeyId, OTHER, InvalidAccessKeyId",
    "signature, AAAA, SignatureDoesNotMatch",
    "policy, e30=, SignatureDoesNotMatch"
  })
  void fieldsOfVersion2ThatAreWrong(String name, String value, String code) throws Exception {
    assertEquals(code, answer(version2(), with(signed2(), name, value)));
  }

  @Test
  void tokensThatNobodyIssued() throws Exception {
    for (Map<String, String> fields : List.of(signed4(), signed2())) {
      fields.put("x-amz-security-token", "t");
      assertEquals("InvalidToken", answer(version2(), fields));
    }
    assertEquals(
        "InvalidArgument", answer(version4(), Map.of("key", "k", "x-amz-security-token", "t")));
  }

  @Test
  void policyDecidesOnlyIfItIsSigned() throws Exception {
    Map<String, String> fields = signed4();
    fields.put("acl", "public-read");
    assertEquals("AccessDenied", answer(version4(), fields));
    fields.put("x-amz-signature", "0".repeat(64));
    assertEquals("SignatureDoesNotMatch", answer(version4(), fields));
    now = Instant.parse("2015-12-30T12:00:00Z");
    assertEquals("AccessDenied", answer(version4(), signed4()));
    now = Instant.parse("2015-12-28T23:44:59Z");
    assertEquals("AccessDenied", answer(version4(), signed4()));
  }

  @Test
  void keysAreGoodForAWeek() throws Exception {
    now = Instant.parse("2016-01-05T00:00:01Z");
    FormBody form = new FormBody();
    signed4().forEach(form::field);
    S3Exception refused =
        assertThrows(
            S3Exception.class,
            () -> version4().authenticateForm(FormExchange.read(form.file("a", "1"))));
    assertEquals("Request has expired", refused.getMessage());
  }

  /** The example of "Browser-based upload using HTTP POST", Amazon S3 API Reference. */
  @Test
  void publishedSignature() throws Exception {
    String policy =
        "eyAiZXhwaXJhdGlvbiI6ICIyMDE1LTEyLTMwVDEyOjAwOjAwLjAwMFoiLA0KICAiY29uZGl0aW9ucyI6IFsNCiAgICB7"
            + "ImJ1Y2tldCI6ICJzaWd2NGV4YW1wbGVidWNrZXQifSwNCiAgICBbInN0YXJ0cy13aXRoIiwgIiRrZXkiLCAidXNl"
            + "ci91c2VyMS8iXSwNCiAgICB7ImFjbCI6ICJwdWJsaWMtcmVhZCJ9LA0KICAgIHsic3VjY2Vzc19hY3Rpb25fcmVk"
            + "aXJlY3QiOiAiaHR0cDovL3NpZ3Y0ZXhhbXBsZWJ1Y2tldC5zMy5hbWF6b25hd3MuY29tL3N1Y2Nlc3NmdWxfdXBs"
            + "b2FkLmh0bWwifSwNCiAgICBbInN0YXJ0cy13aXRoIiwgIiRDb250ZW50LVR5cGUiLCAiaW1hZ2UvIl0sDQogICAg"
            + "eyJ4LWFtei1tZXRhLXV1aWQiOiAiMTQzNjUxMjM2NTEyNzQifSwNCiAgICB7IngtYW16LXNlcnZlci1zaWRlLWVu"
            + "Y3J5cHRpb24iOiAiQUVTMjU2In0sDQogICAgWyJzdGFydHMtd2l0aCIsICIkeC1hbXotbWV0YS10YWciLCAiIl0s"
            + "DQoNCiAgICB7IngtYW16LWNyZWRlbnRpYWwiOiAiQUtJQUlPU0ZPRE5ON0VYQU1QTEUvMjAxNTEyMjkvdXMtZWFz"
            + "dC0xL3MzL2F3czRfcmVxdWVzdCJ9LA0KICAgIHsieC1hbXotYWxnb3JpdGhtIjogIkFXUzQtSE1BQy1TSEEyNTYi"
            + "fSwNCiAgICB7IngtYW16LWRhdGUiOiAiMjAxNTEyMjlUMDAwMDAwWiIgfQ0KICBdDQp9";
    Map<String, String> fields = with(signed4(), "Policy", policy);
    fields.replace(
        "x-amz-signature", "8afdbf4008c03f22c2cd3cdb72e4afbb1f6a588f3255ac628749a66d7f09699e");
    // The signature is right. The policy is for another bucket.
    assertEquals("AccessDenied", answer(version4(), fields));
  }
}
