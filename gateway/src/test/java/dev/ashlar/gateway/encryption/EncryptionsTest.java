package dev.ashlar.gateway.encryption;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.encryption.BucketEncryption.Standard;
import dev.ashlar.gateway.encryption.key.Encryption;
import dev.ashlar.gateway.encryption.key.KeyWrapping;
import dev.ashlar.gateway.encryption.key.KmsKeys;
import dev.ashlar.gateway.encryption.key.LocalKmsKeys;
import dev.ashlar.gateway.encryption.key.MasterKeys;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.message.EncryptedRun;
import dev.ashlar.protocol.message.ObjectFacts;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EncryptionsTest {
  private static final String SSE = "x-amz-server-side-encryption";
  private static final String KEY = "pO3upElrwuEXSoFwCfnZPdSsmt/xWeFa0N9KgDijwVs=";
  private static final String MD5 = "DWygnHRtgiJ77HCm+1rvHw==";
  private static final SecureRandom RANDOM = new SecureRandom();

  private static Encryptions of(boolean hasMaster, boolean hasKms, boolean isStandard) {
    Map<String, byte[]> kms = new LinkedHashMap<>();
    kms.put("kms-1", new byte[32]);
    kms.put("kms-2", new byte[32]);
    return new Encryptions(
        new KeyWrapping(
            hasMaster ? new MasterKeys(Map.of("m", new byte[32])) : MasterKeys.NONE,
            hasKms ? new LocalKmsKeys(kms, RANDOM) : KmsKeys.NONE,
            RANDOM,
            new SimpleMeterRegistry()),
        isStandard,
        false);
  }

  private static HttpHeaders headers(String list) {
    HttpHeaders headers = new DefaultHttpHeaders();
    for (String header : list.split(" ", -1)) {
      String[] pair = header.split("=", 2);
      if (pair.length == 2) {
        String name =
            switch (pair[0]) {
              case "sse" -> SSE;
              case "id" -> SSE + "-aws-kms-key-id";
              case "context" -> SSE + "-context";
              case "bucket" -> SSE + "-bucket-key-enabled";
              case "algorithm" -> SSE + "-customer-algorithm";
              case "key" -> SSE + "-customer-key";
              default -> SSE + "-customer-key-md5";
            };
        String value =
            switch (pair[1]) {
              case "KEY" -> KEY;
              case "MD5" -> MD5;
              default -> pair[1];
            };
        headers.add(name, value);
      }
    }
    return headers;
  }

  private static @Nullable Encryption chosen(
      Encryptions by, String headers, @Nullable BucketEncryption bucket) throws Exception {
    return by.chosen(EncryptionFields.of(headers(headers)), bucket);
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        // SSE-C
        "algorithm=AES256 key=KEY, INVALID_ARGUMENT",
        "algorithm=AES256 md5=MD5, INVALID_ARGUMENT",
        "algorithm=AES256, INVALID_ARGUMENT",
        "key=KEY md5=MD5, INVALID_ARGUMENT",
        "key=KEY, INVALID_ARGUMENT",
        "md5=MD5, INVALID_ARGUMENT",
        "algorithm=AES192 key=KEY md5=MD5, INVALID_ENCRYPTION_ALGORITHM_ERROR",
        "algorithm=aes256 key=KEY md5=MD5, INVALID_ENCRYPTION_ALGORITHM_ERROR",
        "algorithm=AES256 key=KEY md5=AAAAAAAAAAAAAAAAAAAAAA==, INVALID_ARGUMENT",
        "algorithm=AES256 key=KEY md5=?, INVALID_ARGUMENT",
        "algorithm=AES256 key=AAAA md5=MD5, INVALID_ARGUMENT",
        "algorithm=AES256 key=%%% md5=MD5, INVALID_ARGUMENT",
        "algorithm=AES256 key=KEY md5=MD5 sse=AES256, INVALID_ARGUMENT",
        "algorithm=AES256 key=KEY md5=MD5 sse=aws:kms, INVALID_ARGUMENT",
        "algorithm=AES256 key=KEY md5=MD5 id=kms-1, INVALID_ARGUMENT",
        // SSE-S3 and SSE-KMS
        "sse=AES192, INVALID_ARGUMENT",
        "sse=aes:kms, INVALID_ARGUMENT",
        "sse=, INVALID_ARGUMENT",
        "sse=aws:kms:dsse, NOT_IMPLEMENTED",
        "sse=AES256 id=kms-1, INVALID_ARGUMENT",
        "sse=AES256 context=e30=, INVALID_ARGUMENT",
        "id=kms-1, INVALID_ARGUMENT",
        "context=e30=, INVALID_ARGUMENT",
        "bucket=yes, INVALID_ARGUMENT",
        "sse=aws:kms context=?, INVALID_ARGUMENT",
      })
  void whatIsWrongIsRefused(String headers, S3Error expected) {
    S3Exception e =
        assertThrows(S3Exception.class, () -> chosen(of(true, true, true), headers, null));
    assertEquals(expected, e.error(), String.valueOf(e.getMessage()));
    // Not even to its sender.
    assertFalse((e.getMessage() + e.details()).contains(KEY), String.valueOf(e.details()));
  }

  @Test
  void requestsAreHeeded() throws Exception {
    Encryptions all = of(true, true, false);
    assertNull(chosen(all, "", null));
    assertNull(chosen(all, "bucket=true", null));
    assertEquals(new Encryption.Master(), chosen(all, "sse=AES256", null));
    assertEquals(kms("kms-1", "", false), chosen(all, "sse=aws:kms", null));
    assertEquals(kms("kms-2", "", false), chosen(all, "sse=aws:kms id=kms-2", null));
    assertEquals(
        kms("kms-2", "", true),
        chosen(
            all, "sse=aws:kms id=arn:aws:kms:eu-west-1:123456789012:key/kms-2 bucket=TRUE", null));
    assertInstanceOf(
        Encryption.Customer.class, chosen(all, "algorithm=AES256 key=KEY md5=MD5", null));
  }

  private static Encryption kms(String id, String context, boolean bucketKey) {
    return new Encryption.Kms(id, ByteString.copyFromUtf8(context), bucketKey);
  }

  @Test
  void equalContextsAreEqualBytes() throws Exception {
    for (String json :
        new String[] {"{\"b\":\"2\",\"a\":\"1\"}", " { \"a\" : \"\\u0031\", \"b\":\"2\" }"}) {
      String base64 = Base64.getEncoder().encodeToString(json.getBytes(StandardCharsets.UTF_8));
      assertEquals(
          kms("kms-1", "{\"a\":\"1\",\"b\":\"2\"}", false),
          chosen(of(false, true, false), "sse=aws:kms context=" + base64, null));
    }
    assertEquals(
        kms("kms-1", "", false), chosen(of(false, true, false), "sse=aws:kms context=e30=", null));
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = ';',
      value = {
        "{",
        "[]",
        "\"a\"",
        "{\"a\":1}",
        "{\"a\":{}}",
        "{\"a\":null}",
        "{\"a\":\"1\"} x",
        "{\"a\":\"1\",\"a\":\"2\"}",
        "``",
        "{\"a\":\"1\"}{}"
      })
  void contextsThatAreNoneAreRefused(String json) {
    String base64 = Base64.getEncoder().encodeToString(json.getBytes(StandardCharsets.UTF_8));
    S3Exception e =
        assertThrows(
            S3Exception.class,
            () -> chosen(of(false, true, false), "sse=aws:kms context=" + base64, null));
    assertEquals(S3Error.INVALID_ARGUMENT, e.error());
  }

  @Test
  void longContextsAreRefused() {
    String json = "{\"a\":\"" + "x".repeat(8200) + "\"}";
    String base64 = Base64.getEncoder().encodeToString(json.getBytes(StandardCharsets.UTF_8));
    assertThrows(
        S3Exception.class,
        () -> chosen(of(false, true, false), "sse=aws:kms context=" + base64, null));
  }

  @Test
  void theBucketDecidesWhereTheRequestDoesNot() throws Exception {
    Encryptions all = of(true, true, false);
    BucketEncryption master = new BucketEncryption(Standard.MASTER, "", false, false);
    BucketEncryption kms = new BucketEncryption(Standard.KMS, "kms-2", true, false);
    BucketEncryption first = new BucketEncryption(Standard.KMS, "", false, false);
    assertEquals(new Encryption.Master(), chosen(all, "", master));
    assertEquals(kms("kms-2", "", true), chosen(all, "", kms));
    assertEquals(kms("kms-2", "", false), chosen(all, "bucket=false", kms));
    assertEquals(kms("kms-2", "{\"a\":\"1\"}", true), chosen(all, "context=eyJhIjoiMSJ9", kms));
    assertEquals(kms("kms-1", "", false), chosen(all, "", first));
    assertEquals(kms("kms-2", "", true), chosen(all, "sse=aws:kms", kms));
    assertEquals(kms("kms-1", "", true), chosen(all, "sse=aws:kms id=kms-1", kms));
    assertEquals(new Encryption.Master(), chosen(all, "sse=AES256", kms));
    assertEquals(kms("kms-1", "", false), chosen(all, "sse=aws:kms", master));
  }

  @Test
  void theServerDecidesWhereTheBucketDoesNot() throws Exception {
    Encryptions standard = of(true, true, true);
    assertEquals(new Encryption.Master(), chosen(standard, "", null));
    assertEquals(
        new Encryption.Master(),
        chosen(standard, "", new BucketEncryption(Standard.NONE, "", false, true)));
    assertNull(
        chosen(of(true, true, false), "", new BucketEncryption(Standard.NONE, "", false, true)));
  }

  @Test
  void bucketsCanRefuseKeysOfClients() throws Exception {
    BucketEncryption blocking = new BucketEncryption(Standard.MASTER, "", false, true);
    S3Exception e =
        assertThrows(
            S3Exception.class,
            () -> chosen(of(true, true, false), "algorithm=AES256 key=KEY md5=MD5", blocking));
    assertEquals(S3Error.ACCESS_DENIED, e.error());
  }

  @Test
  void whatTheServerCannotGiveIsNotImplemented() {
    Encryptions none = of(false, false, false);
    for (String headers : new String[] {"sse=AES256", "sse=aws:kms"}) {
      assertEquals(
          S3Error.NOT_IMPLEMENTED,
          assertThrows(S3Exception.class, () -> chosen(none, headers, null)).error());
    }
  }

  /** The client asks for nothing. */
  @Test
  void aDefaultThatTheServerCannotGiveIsUnavailability() {
    BucketEncryption bucket = new BucketEncryption(Standard.MASTER, "", false, false);
    for (S3Exception e :
        List.of(
            assertThrows(S3Exception.class, () -> chosen(of(false, true, true), "", null)),
            assertThrows(S3Exception.class, () -> chosen(of(false, true, false), "", bucket)))) {
      assertEquals(S3Error.SERVICE_UNAVAILABLE, e.error());
    }
  }

  @Test
  void anEncryptionThatThisBuildDoesNotKnowIsNeverLeftOut() {
    BucketEncryption unknown = BucketEncryption.of(ByteString.copyFrom(new byte[] {8, 99}));
    BucketEncryption damaged = BucketEncryption.of(ByteString.copyFrom(new byte[] {1, 2, 3}));
    for (BucketEncryption each : new BucketEncryption[] {unknown, damaged}) {
      assertEquals(
          S3Error.SERVICE_UNAVAILABLE,
          assertThrows(S3Exception.class, () -> chosen(of(true, true, false), "", each)).error());
    }
  }

  @ParameterizedTest
  @CsvSource({"NONE, '', false, true", "MASTER, '', true, false", "KMS, kms-1, true, true"})
  void documentsOfBucketsAreReadAsWritten(
      Standard standard, String id, boolean bucketKey, boolean blocks) {
    BucketEncryption encryption = new BucketEncryption(standard, id, bucketKey, blocks);
    assertEquals(encryption, BucketEncryption.of(encryption.toDocument()));
  }

  private static CustomerFields customer(String headers) {
    return CustomerFields.of(headers(headers));
  }

  @Test
  void plainObjectsHaveNoKey() throws Exception {
    Encryptions all = of(true, true, true);
    ObjectFacts plain = ObjectFacts.getDefaultInstance();
    assertNull(all.open(plain, CustomerFields.NONE));
    assertNull(all.openUpload(plain, CustomerFields.NONE));
    CustomerFields given = customer("algorithm=AES256 key=KEY md5=MD5");
    assertEquals(
        S3Error.INVALID_REQUEST,
        assertThrows(S3Exception.class, () -> all.open(plain, given)).error());
    assertEquals(
        S3Error.INVALID_REQUEST,
        assertThrows(S3Exception.class, () -> all.openUpload(plain, given)).error());
  }

  @Test
  void objectsWithKeysOfClientsNeedThem() throws Exception {
    Encryptions all = of(true, true, true);
    CustomerFields given = customer("algorithm=AES256 key=KEY md5=MD5");
    Encryption how = chosen(all, "algorithm=AES256 key=KEY md5=MD5", null);
    assertNotNull(how);
    KeyWrapping.Created created = all.keys().create(how);
    ObjectFacts upload = ObjectFacts.newBuilder().setWrappedKey(created.wrapped()).build();
    ObjectFacts object = upload.toBuilder().addRuns(EncryptedRun.getDefaultInstance()).build();
    assertEquals(created.key(), all.open(object, given));
    assertEquals(created.key(), all.openUpload(upload, given));
    for (CustomerFields wrong :
        new CustomerFields[] {
          CustomerFields.NONE,
          customer("algorithm=AES256 key=KEY"),
          customer(
              "algorithm=AES256 key=6b+WOZ1T3cqZMxgThRcXAQBrS5mXKdDUphvpxptl9/4= md5=arxBvwY2V4SiOne6yppVPQ==")
        }) {
      assertEquals(
          400, assertThrows(S3Exception.class, () -> all.open(object, wrong)).error().status());
      assertEquals(
          400,
          assertThrows(S3Exception.class, () -> all.openUpload(upload, wrong)).error().status());
    }
  }

  @Test
  void answersTellOfTheEncryption() throws Exception {
    Encryptions all = of(true, true, false);
    assertEquals("{}", answer(all, ""));
    assertEquals("{x-amz-server-side-encryption=AES256}", answer(all, "sse=AES256"));
    assertEquals(
        "{x-amz-server-side-encryption=aws:kms, x-amz-server-side-encryption-aws-kms-key-id=kms-2,"
            + " x-amz-server-side-encryption-bucket-key-enabled=true,"
            + " x-amz-server-side-encryption-context=eyJhIjoiMSJ9}",
        answer(all, "sse=aws:kms id=kms-2 bucket=true context=eyJhIjoiMSJ9"));
    assertEquals(
        "{x-amz-server-side-encryption-customer-algorithm=AES256,"
            + " x-amz-server-side-encryption-customer-key-md5="
            + MD5
            + "}",
        answer(all, "algorithm=AES256 key=KEY md5=MD5"));
  }

  private static String answer(Encryptions by, String asked) throws Exception {
    Encryption how = chosen(by, asked, null);
    ObjectFacts facts =
        how == null
            ? ObjectFacts.getDefaultInstance()
            : ObjectFacts.newBuilder().setWrappedKey(by.keys().create(how).wrapped()).build();
    HttpHeaders headers = new DefaultHttpHeaders();
    EncryptionHeaders.addWritten(headers, facts, customer(asked));
    Map<String, String> sorted = new TreeMap<>();
    headers.forEach(header -> sorted.put(header.getKey(), header.getValue()));
    return sorted.toString();
  }

  @Test
  void fieldsThatAreNotThereCostNothing() {
    assertSame(EncryptionFields.NONE, EncryptionFields.of(new DefaultHttpHeaders()));
    assertSame(CustomerFields.NONE, CustomerFields.ofSource(new DefaultHttpHeaders()));
  }

  @Test
  void fieldsDoNotShowKeys() {
    EncryptionFields fields =
        EncryptionFields.of(headers("algorithm=AES256 key=KEY md5=MD5 sse=AES256"));
    assertFalse(fields.toString().contains(KEY), fields.toString());
  }
}
