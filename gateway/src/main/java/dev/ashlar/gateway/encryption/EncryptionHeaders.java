package dev.ashlar.gateway.encryption;

import dev.ashlar.gateway.encryption.key.KeyDescription;
import dev.ashlar.protocol.message.KeyProtection;
import dev.ashlar.protocol.message.ObjectFacts;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Base64;

/** What answers say about the encryption of an object or an upload. */
public final class EncryptionHeaders {
  private EncryptionHeaders() {}

  /**
   * Adds the headers of answers to reads and to uploads of parts. Nothing for plain bytes.
   *
   * @param facts of the object or the upload
   * @param given that opened the key
   */
  public static void add(HttpHeaders headers, ObjectFacts facts, CustomerFields given) {
    if (!facts.getWrappedKey().isEmpty()) {
      KeyDescription.of(facts.getWrappedKey()).ifPresent(key -> add(headers, key, given));
    }
  }

  /** Those of answers to writes that make an object or an upload: the context of KMS, too. */
  public static void addWritten(HttpHeaders headers, ObjectFacts facts, CustomerFields given) {
    add(headers, facts, given);
    if (!facts.getWrappedKey().isEmpty()) {
      KeyDescription.of(facts.getWrappedKey())
          .map(KeyDescription::context)
          .filter(context -> !context.isEmpty())
          .ifPresent(
              context ->
                  headers.set(
                      EncryptionFields.CONTEXT,
                      Base64.getEncoder().encodeToString(context.toByteArray())));
    }
  }

  private static void add(HttpHeaders headers, KeyDescription key, CustomerFields given) {
    switch (key.protection()) {
      case KEY_PROTECTION_MASTER -> headers.set(EncryptionFields.ALGORITHM, "AES256");
      case KEY_PROTECTION_KMS -> {
        headers.set(EncryptionFields.ALGORITHM, "aws:kms");
        headers.set(EncryptionFields.KMS_KEY_ID, key.keyId());
        if (key.bucketKey()) {
          headers.set(EncryptionFields.BUCKET_KEY, "true");
        }
      }
      case KEY_PROTECTION_CUSTOMER -> {
        headers.set(CustomerFields.OBJECT.algorithm(), CustomerFields.ALGORITHM);
        if (given.md5() != null) {
          headers.set(CustomerFields.OBJECT.md5(), given.md5().trim());
        }
      }
      case KEY_PROTECTION_NONE, UNRECOGNIZED -> {}
    }
  }

  /** Whether each request about its bytes has to bring the key of the client. */
  public static boolean isOfCustomer(ObjectFacts facts) {
    return KeyDescription.of(facts.getWrappedKey())
        .filter(key -> key.protection() == KeyProtection.KEY_PROTECTION_CUSTOMER)
        .isPresent();
  }

  /** Whether the ETag of the object is the MD5 of its bytes: of plain ones and with SSE-S3. */
  public static boolean hasMd5AsEtag(ObjectFacts facts) {
    return facts.getWrappedKey().isEmpty()
        || KeyDescription.of(facts.getWrappedKey())
            .filter(key -> key.protection() == KeyProtection.KEY_PROTECTION_MASTER)
            .isPresent();
  }
}
