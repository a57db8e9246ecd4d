package dev.ashlar.gateway.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.encryption.key.DataKey;
import dev.ashlar.gateway.encryption.key.KeyDescription;
import dev.ashlar.protocol.message.KeyProtection;
import dev.ashlar.protocol.message.ObjectRecord;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sealing data keys anew; the objects have no bytes. */
class ObjectEncryptionTest {
  private static final String KMS =
      "<SSE-KMS><KMSKeyArn>%s</KMSKeyArn><BucketKeyEnabled>%s</BucketKeyEnabled></SSE-KMS>";

  private final TestS3 s3 = new TestS3();

  @BeforeEach
  void storeSomething() throws Exception {
    s3.ok(200, "PUT", "/bkt");
    TestKeys.putSealed(s3, "bkt", "k");
  }

  private static TestRequest put(String content) {
    return TestS3.request("PUT", "/bkt/k?encryption")
        .body(
            "<ObjectEncryption xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
                + content
                + "</ObjectEncryption>");
  }

  private ObjectRecord object() throws Exception {
    return s3.metadata.object("bkt", "k").orElseThrow().object();
  }

  private ByteString wrapped() throws Exception {
    return object().getFacts().getWrappedKey();
  }

  private DataKey opened() throws Exception {
    return TestKeys.encryptions().keys().open(wrapped(), null);
  }

  @ParameterizedTest
  @CsvSource({
    "kms-1, true, kms-1",
    "kms-2, false, kms-2",
    "arn:aws:kms:us-east-1:123456789012:key/kms-2, true, kms-2"
  })
  void theKeyIsSealedAnewAndNothingElseChanges(String arn, boolean bucketKey, String expected)
      throws Exception {
    ObjectRecord before = object();
    DataKey key = opened();
    s3.ok(200, put(KMS.formatted(arn, bucketKey)));
    assertEquals(
        new KeyDescription(KeyProtection.KEY_PROTECTION_KMS, expected, ByteString.EMPTY, bucketKey),
        KeyDescription.of(wrapped()).orElseThrow());
    assertEquals(key, opened());
    assertEquals(before.getSummary(), object().getSummary());
    assertEquals(before.getVersion(), object().getVersion());
    assertEquals(before.getFacts().getRunsList(), object().getFacts().getRunsList());
    s3.ok(200, put("<SSE-S3/>"));
    assertEquals(
        KeyProtection.KEY_PROTECTION_MASTER,
        KeyDescription.of(wrapped()).orElseThrow().protection());
    assertEquals(key, opened());
  }

  @Test
  void versionsAreNamed() throws Exception {
    ByteString before = wrapped();
    String content = KMS.formatted("kms-1", true);
    s3.ok(200, put(content).to("/bkt/k?encryption&versionId=null"));
    assertNotEquals(before, wrapped());
    s3.refused(
        "NoSuchVersion", put(content).to("/bkt/k?encryption&versionId=" + "00000000000abcde"));
    s3.refused("NoSuchKey", put(content).to("/bkt/none?encryption"));
    s3.refused("NoSuchBucket", put(content).to("/none/k?encryption"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "<SSE-C/>",
        "<SSE-S3/><SSE-S3/>",
        "<SSE-KMS/>",
        "<SSE-KMS><KMSKeyArn> </KMSKeyArn></SSE-KMS>",
        "<SSE-KMS><KMSKeyArn>kms-1</KMSKeyArn><BucketKeyEnabled>1</BucketKeyEnabled></SSE-KMS>"
      })
  void typesThatAreNoneAreRefused(String content) throws Exception {
    ByteString before = wrapped();
    s3.refused("InvalidRequest", put(content));
    assertEquals(before, wrapped());
  }

  @Test
  void whatIsWrongChangesNothing() throws Exception {
    ByteString before = wrapped();
    s3.refused("KMS.NotFoundException", put(KMS.formatted("none", true)));
    s3.refused("MalformedXML", put("<SSE-KMS><Other/></SSE-KMS>"));
    for (String body : List.of("", "x", "<ObjectEncryption>", "<Other/>")) {
      s3.refused("MalformedXML", TestS3.request("PUT", "/bkt/k?encryption").body(body));
    }
    assertEquals(before, wrapped());
  }

  @Test
  void plainObjectsStayPlain() throws Exception {
    s3.ok(200, TestS3.request("PUT", "/bkt/k").body("x"));
    s3.refused("InvalidRequest", put(KMS.formatted("kms-1", true)));
    assertEquals(ByteString.EMPTY, wrapped());
    assertEquals("x", s3.ok(200, "GET", "/bkt/k").text());
  }
}
