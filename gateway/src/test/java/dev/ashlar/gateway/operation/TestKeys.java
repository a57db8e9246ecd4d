package dev.ashlar.gateway.operation;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.encryption.Encryptions;
import dev.ashlar.gateway.encryption.key.Encryption;
import dev.ashlar.gateway.encryption.key.KeyWrapping;
import dev.ashlar.gateway.encryption.key.KmsKeys;
import dev.ashlar.gateway.encryption.key.LocalKmsKeys;
import dev.ashlar.gateway.encryption.key.MasterKeys;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.EncryptedRun;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutObject;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;

/** Keys for encryption, and the headers that ask for it. */
final class TestKeys {
  static final String KMS_1 = "kms-1";
  static final String KMS_2 = "kms-2";

  private TestKeys() {}

  /** Of a server with a master key and two KMS keys, where nothing is encrypted by itself. */
  static Encryptions encryptions() {
    Map<String, byte[]> kms = new LinkedHashMap<>();
    kms.put(KMS_1, key(11));
    kms.put(KMS_2, key(12));
    return encryptions(new LocalKmsKeys(kms, new SecureRandom()));
  }

  /** Of a server with a master key only. */
  static Encryptions withoutKms() {
    return encryptions(KmsKeys.NONE);
  }

  private static Encryptions encryptions(KmsKeys kms) {
    MasterKeys masters = new MasterKeys(Map.of("m1", key(10)));
    return new Encryptions(
        new KeyWrapping(masters, kms, new SecureRandom(), new SimpleMeterRegistry()), false, false);
  }

  /** Stores an empty object of SSE-S3, without any handler. */
  static void putSealed(TestS3 s3, String bucket, String key) throws Exception {
    ObjectFacts facts =
        ObjectFacts.newBuilder()
            .setWrappedKey(encryptions().keys().create(new Encryption.Master()).wrapped())
            .addRuns(EncryptedRun.newBuilder().setId(ByteString.copyFrom(new byte[16])))
            .build();
    s3.metadata.require(
        Command.newBuilder()
            .setPutObject(
                PutObject.newBuilder()
                    .setBucket(bucket)
                    .setKey(key)
                    .setSummary(
                        ObjectSummary.newBuilder()
                            .setOwner("owner")
                            .setEtag("d41d8cd98f00b204e9800998ecf8427e"))
                    .setFacts(facts)));
  }

  static byte[] key(int seed) {
    byte[] key = new byte[32];
    Arrays.fill(key, (byte) seed);
    return key;
  }

  static TestRequest withMaster(TestRequest request) {
    return request.header("x-amz-server-side-encryption", "AES256");
  }

  static TestRequest withKms(TestRequest request, String id) {
    return request
        .header("x-amz-server-side-encryption", "aws:kms")
        .header("x-amz-server-side-encryption-aws-kms-key-id", id);
  }

  /** Brings a key of the client. */
  static TestRequest withCustomer(TestRequest request, int seed) {
    return customer(request, "x-amz-server-side-encryption-customer-", seed);
  }

  /** Brings the key of the source of a copy. */
  static TestRequest ofSource(TestRequest request, int seed) {
    return customer(request, "x-amz-copy-source-server-side-encryption-customer-", seed);
  }

  private static TestRequest customer(TestRequest request, String prefix, int seed) {
    byte[] key = key(seed);
    return request
        .header(prefix + "algorithm", "AES256")
        .header(prefix + "key", Base64.getEncoder().encodeToString(key))
        .header(
            prefix + "key-md5",
            Base64.getEncoder().encodeToString(TestAuthenticator.digest("MD5", key).toByteArray()));
  }
}
