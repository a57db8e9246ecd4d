package dev.ashlar.gateway.encryption;

import dev.ashlar.gateway.error.S3Exception;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The headers of a write that say how its object is to be encrypted, as the request has them. They
 * are judged by {@link Encryptions#chosen}.
 *
 * @param algorithm x-amz-server-side-encryption; null: none is asked for
 * @param customer of SSE-C
 */
public record EncryptionFields(
    @Nullable String algorithm,
    @Nullable String kmsKeyId,
    @Nullable String context,
    @Nullable String bucketKey,
    CustomerFields customer) {
  public static final EncryptionFields NONE =
      new EncryptionFields(null, null, null, null, CustomerFields.NONE);

  public static final AsciiString ALGORITHM = AsciiString.cached("x-amz-server-side-encryption");
  public static final AsciiString KMS_KEY_ID =
      AsciiString.cached("x-amz-server-side-encryption-aws-kms-key-id");
  static final AsciiString CONTEXT = AsciiString.cached("x-amz-server-side-encryption-context");
  static final AsciiString BUCKET_KEY =
      AsciiString.cached("x-amz-server-side-encryption-bucket-key-enabled");

  /** Those that have a meaning for writes of whole objects only. */
  private static final List<AsciiString> OF_WRITES =
      List.of(ALGORITHM, KMS_KEY_ID, CONTEXT, BUCKET_KEY);

  private static final Set<String> NAMES =
      Stream.of(OF_WRITES, CustomerFields.OBJECT.all(), CustomerFields.SOURCE.all())
          .flatMap(List::stream)
          .map(AsciiString::toString)
          .collect(Collectors.toUnmodifiableSet());

  /** Whether a header is about encryption. In lower case. */
  public static boolean isName(String name) {
    return NAMES.contains(name);
  }

  public static EncryptionFields of(HttpHeaders headers) {
    String algorithm = headers.get(ALGORITHM);
    String kmsKeyId = headers.get(KMS_KEY_ID);
    String context = headers.get(CONTEXT);
    String bucketKey = headers.get(BUCKET_KEY);
    CustomerFields customer = CustomerFields.of(headers);
    return algorithm == null
            && kmsKeyId == null
            && context == null
            && bucketKey == null
            && !customer.isGiven()
        ? NONE
        : new EncryptionFields(algorithm, kmsKeyId, context, bucketKey, customer);
  }

  /** Whether anything is asked for. */
  public boolean isGiven() {
    return !equals(NONE);
  }

  /**
   * Refuses the headers in requests that they cannot have a meaning for.
   *
   * @throws S3Exception InvalidArgument
   */
  public static void requireAbsent(HttpHeaders headers) throws S3Exception {
    for (AsciiString name : OF_WRITES) {
      if (headers.contains(name)) {
        throw S3Exception.invalidArgument(
            name + " header is not supported for this operation.",
            name.toString(),
            headers.get(name, ""));
      }
    }
  }
}
