package dev.ashlar.gateway.encryption;

import com.google.protobuf.ByteString;
import dev.ashlar.gateway.encryption.key.CustomerKey;
import dev.ashlar.gateway.encryption.key.CustomerKeyErrors;
import dev.ashlar.gateway.encryption.key.DataKey;
import dev.ashlar.gateway.encryption.key.Encryption;
import dev.ashlar.gateway.encryption.key.KeyFailures;
import dev.ashlar.gateway.encryption.key.KeyWrapping;
import dev.ashlar.gateway.encryption.key.KmsKeyArn;
import dev.ashlar.gateway.error.Denial;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.message.ObjectFacts;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Decides how objects are encrypted, and opens their keys. Thread-safe.
 *
 * @param isStandard whether objects are encrypted with SSE-S3 that nobody says anything else about
 * @param customerKeysNeedTls whether SSE-C is refused on connections without TLS
 */
public record Encryptions(KeyWrapping keys, boolean isStandard, boolean customerKeysNeedTls) {
  private static final String KMS = "aws:kms";
  private static final int KEY_ID_MAX = 256;

  /**
   * How an object is to be encrypted: as the request asks, else as the bucket says, else as the
   * server is configured. Null: not at all.
   *
   * @param bucket null: it says nothing
   * @throws S3Exception what is wrong with what is asked for, in the words of S3
   */
  public @Nullable Encryption chosen(EncryptionFields asked, @Nullable BucketEncryption bucket)
      throws S3Exception, InterruptedException {
    if (asked.customer().isGiven()) {
      return customer(asked, bucket);
    }
    Boolean bucketKey = asked.bucketKey() == null ? null : flag(asked.bucketKey());
    String algorithm = asked.algorithm();
    if (algorithm == null) {
      requireNoKmsFields(asked, bucket);
      return standard(asked, bucketKey, bucket);
    }
    return switch (algorithm.trim()) {
      case "AES256" -> {
        requireNone(EncryptionFields.KMS_KEY_ID.toString(), asked.kmsKeyId());
        requireNone(EncryptionFields.CONTEXT.toString(), asked.context());
        yield master();
      }
      case KMS -> kms(asked, bucketKey, bucket);
      case "aws:kms:dsse" ->
          throw S3Exception.unsupportedHeader(EncryptionFields.ALGORITHM.toString());
      default ->
          throw S3Exception.invalidArgument(
              "The encryption method specified is not supported",
              EncryptionFields.ALGORITHM.toString(),
              algorithm);
    };
  }

  /** Whether a request names SSE-KMS. */
  public static boolean asksForKms(EncryptionFields asked) {
    return asked.algorithm() != null && asked.algorithm().trim().equals(KMS);
  }

  private static Encryption customer(EncryptionFields asked, @Nullable BucketEncryption bucket)
      throws S3Exception {
    if (asked.algorithm() != null || asked.kmsKeyId() != null || asked.context() != null) {
      throw S3Exception.invalidArgument(
          "Server Side Encryption with Customer provided key is incompatible with the encryption"
              + " method specified",
          EncryptionFields.ALGORITHM.toString(),
          asked.algorithm() == null ? "" : asked.algorithm());
    }
    CustomerKey key = asked.customer().opened();
    if (bucket != null && bucket.blocksCustomerKeys()) {
      throw new S3Exception(S3Error.ACCESS_DENIED).deniedBy(Denial.OPERATION);
    }
    return new Encryption.Customer(Objects.requireNonNull(key));
  }

  private Encryption master() throws S3Exception {
    if (keys.masters().current() == null) {
      throw KeyWrapping.withoutMaster();
    }
    return new Encryption.Master();
  }

  /** The client asks for nothing that is not there: the server lacks what it needs. */
  private Encryption standardMaster() throws S3Exception {
    if (keys.masters().current() == null) {
      throw keys.withoutStandardMaster();
    }
    return new Encryption.Master();
  }

  /**
   * @param bucketKey null: the request does not say
   */
  private Encryption kms(
      EncryptionFields asked, @Nullable Boolean bucketKey, @Nullable BucketEncryption bucket)
      throws S3Exception, InterruptedException {
    String ofBucket = bucket == null ? "" : bucket.kmsKeyId();
    String written = asked.kmsKeyId() == null ? ofBucket : asked.kmsKeyId();
    String context = asked.context();
    return new Encryption.Kms(
        named(written),
        context == null ? ByteString.EMPTY : EncryptionContext.parse(context),
        bucketKey == null ? bucket != null && bucket.bucketKey() : bucketKey);
  }

  /**
   * The id of the key that is used: as it is written, or at the end of an ARN.
   *
   * @param written empty: none is named
   * @throws S3Exception KMS.NotFoundException if no key can have it; NotImplemented if none is
   *     named, and none is configured for that
   */
  public String named(String written) throws S3Exception {
    String text = written.trim();
    if (!text.isEmpty()) {
      String id = KmsKeyArn.id(text);
      if (id.length() > KEY_ID_MAX) {
        throw KeyFailures.unknownKmsKey(id);
      }
      return id;
    }
    return keys.kms()
        .standard()
        .orElseThrow(
            () ->
                new S3Exception(
                    S3Error.NOT_IMPLEMENTED,
                    "Server side encryption is specified, but no KMS key is named, and the server"
                        + " has none for that."));
  }

  private @Nullable Encryption standard(
      EncryptionFields asked, @Nullable Boolean bucketKey, @Nullable BucketEncryption bucket)
      throws S3Exception, InterruptedException {
    if (bucket == null) {
      return isStandard ? standardMaster() : null;
    }
    return switch (bucket.standard()) {
      case NONE -> isStandard ? standardMaster() : null;
      case MASTER -> standardMaster();
      case KMS -> kms(asked, bucketKey, bucket);
      case UNKNOWN ->
          throw new S3Exception(
              S3Error.SERVICE_UNAVAILABLE,
              "The encryption of the bucket is not known to this server.");
    };
  }

  /** Without an algorithm, only the default of the bucket can be one of KMS. */
  private static void requireNoKmsFields(EncryptionFields asked, @Nullable BucketEncryption bucket)
      throws S3Exception {
    boolean isStandardKms = bucket != null && bucket.standard() == BucketEncryption.Standard.KMS;
    requireNone(EncryptionFields.KMS_KEY_ID.toString(), asked.kmsKeyId());
    if (!isStandardKms) {
      requireNone(EncryptionFields.CONTEXT.toString(), asked.context());
    }
  }

  private static void requireNone(String header, @Nullable String value) throws S3Exception {
    if (value != null) {
      throw S3Exception.invalidArgument(
          "Server Side Encryption with AWS KMS managed key requires HTTP header"
              + " x-amz-server-side-encryption : aws:kms",
          header,
          value);
    }
  }

  private static boolean flag(String value) throws S3Exception {
    return switch (value.trim().toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default ->
          throw S3Exception.invalidArgument(
              "The value of the header must be true or false.",
              EncryptionFields.BUCKET_KEY.toString(),
              value);
    };
  }

  /**
   * The key of the bytes of an object; null: they are plain.
   *
   * @param given what the request brings for SSE-C
   * @throws S3Exception InvalidRequest or InvalidArgument if it does not fit the object,
   *     ServiceUnavailable if the key cannot be opened
   */
  public @Nullable DataKey open(ObjectFacts facts, CustomerFields given)
      throws S3Exception, InterruptedException {
    CustomerKey customer = given.opened();
    if (facts.getRunsCount() == 0) {
      if (customer != null) {
        throw CustomerKeyErrors.notApplicable();
      }
      return null;
    }
    return keys.open(facts.getWrappedKey(), customer);
  }

  /**
   * The key that the parts of an upload are encrypted with; null: they are plain.
   *
   * @param facts of the upload
   * @throws S3Exception as {@link #open}
   */
  public @Nullable DataKey openUpload(ObjectFacts facts, CustomerFields given)
      throws S3Exception, InterruptedException {
    CustomerKey customer = given.opened();
    if (facts.getWrappedKey().isEmpty()) {
      if (customer != null) {
        throw S3Exception.invalidRequest(
            "The multipart upload initiate did not request encryption. Please resend the request"
                + " without specifying encryption parameters.");
      }
      return null;
    }
    if (customer == null && EncryptionHeaders.isOfCustomer(facts)) {
      throw S3Exception.invalidRequest(
          "The multipart upload initiate requested encryption. Subsequent part requests must"
              + " include the appropriate encryption parameters.");
    }
    return keys.open(facts.getWrappedKey(), customer);
  }
}
