package dev.ashlar.gateway.operation.shared;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.access.BucketConfig;
import dev.ashlar.gateway.encryption.BucketEncryption;
import dev.ashlar.gateway.encryption.EncryptionFields;
import dev.ashlar.gateway.encryption.EncryptionHeaders;
import dev.ashlar.gateway.encryption.Encryptions;
import dev.ashlar.gateway.encryption.key.DataKey;
import dev.ashlar.gateway.encryption.key.Encryption;
import dev.ashlar.gateway.encryption.key.KeyWrapping;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.EncryptedRun;
import dev.ashlar.protocol.message.ObjectFacts;
import org.jspecify.annotations.Nullable;

/**
 * The key that new bytes are encrypted with.
 *
 * @param wrapped as it is stored
 */
public record NewKey(DataKey key, ByteString wrapped) {
  /**
   * A key for a new object; null: it is not to be encrypted.
   *
   * @throws S3Exception if what the request or the bucket asks for cannot be had, or not yet
   */
  public static @Nullable NewKey chosen(
      Backend backend, EncryptionFields asked, BucketConfig bucket)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    return create(backend, how(backend, asked, bucket));
  }

  /** How a new object is to be encrypted; null: not at all. */
  public static @Nullable Encryption how(
      Backend backend, EncryptionFields asked, BucketConfig bucket)
      throws S3Exception, InterruptedException {
    BucketEncryption standard = bucket.encryption();
    if (backend.config().answers().kmsNeedsKeyId()
        && !asked.customer().isGiven()
        && Encryptions.asksForKms(asked)
        && !namesKey(asked, standard)) {
      throw S3Exception.invalidArgument(
          "Server Side Encryption with KMS managed key requires the id of a key.",
          EncryptionFields.KMS_KEY_ID.toString(),
          "");
    }
    return backend.encryptions().chosen(asked, standard);
  }

  private static boolean namesKey(EncryptionFields asked, @Nullable BucketEncryption standard) {
    String id = asked.kmsKeyId();
    return id == null ? standard != null && !standard.kmsKeyId().isEmpty() : !id.isBlank();
  }

  /**
   * The same if it is known how.
   *
   * @param how null: not at all
   */
  public static @Nullable NewKey create(Backend backend, @Nullable Encryption how)
      throws S3Exception, MetadataUnavailableException, InterruptedException {
    if (how == null) {
      return null;
    }
    backend.encryptionStart().require();
    KeyWrapping.Created created = backend.encryptions().keys().create(how);
    return new NewKey(created.key(), created.wrapped());
  }

  /** Whether the ETag of what it encrypts is the MD5 of the plain bytes. */
  public boolean hasMd5AsEtag() {
    return EncryptionHeaders.hasMd5AsEtag(ObjectFacts.newBuilder().setWrappedKey(wrapped).build());
  }

  /**
   * The facts of an object with this key.
   *
   * @param key null: it is not encrypted
   * @param run null likewise
   */
  public static ObjectFacts addTo(
      ObjectFacts facts, @Nullable NewKey key, @Nullable EncryptedRun run) {
    return key == null || run == null
        ? facts
        : facts.toBuilder().setWrappedKey(key.wrapped).addRuns(run).build();
  }

  /** Without the key. */
  @Override
  public String toString() {
    return "NewKey";
  }
}
