package dev.ashlar.gateway.encryption;

import dev.ashlar.gateway.encryption.key.CustomerKey;
import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.util.AsciiString;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The three headers of SSE-C as a request has them. They are judged only after it is clear that the
 * sender may do what it asks for, since policies judge them, too.
 */
public record CustomerFields(
    @Nullable String algorithm, @Nullable String key, @Nullable String md5) {
  public static final CustomerFields NONE = new CustomerFields(null, null, null);

  /** The only algorithm. */
  static final String ALGORITHM = "AES256";

  /**
   * The names of the three headers.
   *
   * @param key the one that has the key itself
   */
  record Names(AsciiString algorithm, AsciiString key, AsciiString md5) {
    static Names of(String prefix) {
      return new Names(
          AsciiString.cached(prefix + "algorithm"),
          AsciiString.cached(prefix + "key"),
          AsciiString.cached(prefix + "key-md5"));
    }

    List<AsciiString> all() {
      return List.of(algorithm, key, md5);
    }

    private void requireAbsent(HttpHeaders headers) throws S3Exception {
      for (AsciiString name : all()) {
        if (headers.contains(name)) {
          throw named(name + " header is not supported for this operation.", name);
        }
      }
    }
  }

  /** Of the object that the request reads or writes. */
  static final Names OBJECT = Names.of("x-amz-server-side-encryption-customer-");

  /** Of the object that the request copies. */
  static final Names SOURCE = Names.of("x-amz-copy-source-server-side-encryption-customer-");

  /** Whether a header has a key, which must never be written down. In lower case. */
  public static boolean isKey(String name) {
    return OBJECT.key().contentEquals(name) || SOURCE.key().contentEquals(name);
  }

  /** Whether a request brings a key. */
  public static boolean haveKey(HttpHeaders headers) {
    return headers.contains(OBJECT.key()) || headers.contains(SOURCE.key());
  }

  /**
   * Refuses headers that the request cannot heed.
   *
   * @param isRead whether it reads or writes an object
   * @param isCopy whether it copies one
   * @throws S3Exception InvalidArgument
   */
  public static void requireHeeded(HttpHeaders headers, boolean isRead, boolean isCopy)
      throws S3Exception {
    if (!isRead) {
      OBJECT.requireAbsent(headers);
    }
    if (!isCopy) {
      SOURCE.requireAbsent(headers);
    }
  }

  /** Those of the object that the request reads or writes. */
  public static CustomerFields of(HttpHeaders headers) {
    return of(headers, OBJECT);
  }

  /** Those of the object that the request copies. */
  public static CustomerFields ofSource(HttpHeaders headers) {
    return of(headers, SOURCE);
  }

  private static CustomerFields of(HttpHeaders headers, Names names) {
    String algorithm = headers.get(names.algorithm());
    String key = headers.get(names.key());
    String md5 = headers.get(names.md5());
    return algorithm == null && key == null && md5 == null
        ? NONE
        : new CustomerFields(algorithm, key, md5);
  }

  public boolean isGiven() {
    return algorithm != null || key != null || md5 != null;
  }

  /**
   * The key that the request brings; null: none.
   *
   * @throws S3Exception InvalidEncryptionAlgorithmError, or InvalidArgument if one of the three is
   *     missing or wrong
   */
  public @Nullable CustomerKey opened() throws S3Exception {
    if (!isGiven()) {
      return null;
    }
    if (algorithm == null) {
      throw invalid("a valid encryption algorithm.", OBJECT.algorithm());
    }
    if (!algorithm.trim().equals(ALGORITHM)) {
      throw new S3Exception(S3Error.INVALID_ENCRYPTION_ALGORITHM_ERROR);
    }
    if (key == null) {
      throw invalid("an appropriate secret key.", OBJECT.key());
    }
    byte[] bytes = decoded(key);
    if (bytes == null || bytes.length != CustomerKey.BYTES) {
      throw named("The secret key was invalid for the specified algorithm.", OBJECT.key());
    }
    if (md5 == null) {
      throw invalid("the client calculated MD5 of the secret key.", OBJECT.md5());
    }
    byte[] told = decoded(md5);
    if (told == null || !MessageDigest.isEqual(told, md5(bytes))) {
      throw named(
          "The calculated MD5 hash of the key did not match the hash that was provided.",
          OBJECT.md5());
    }
    return new CustomerKey(bytes, md5.trim());
  }

  private static byte @Nullable [] decoded(String base64) {
    try {
      return Base64.getDecoder().decode(base64.trim());
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  private static byte[] md5(byte[] key) {
    try {
      return MessageDigest.getInstance("MD5").digest(key);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private static S3Exception invalid(String what, AsciiString header) {
    return named(
        "Requests specifying Server Side Encryption with Customer provided keys must provide "
            + what,
        header);
  }

  /** Without the value, which may be a key. */
  private static S3Exception named(String message, AsciiString header) {
    return new S3Exception(S3Error.INVALID_ARGUMENT, message)
        .with("ArgumentName", header.toString());
  }

  /** Without the key. */
  @Override
  public String toString() {
    return "CustomerFields[algorithm="
        + algorithm
        + ", key is "
        + (key == null ? "none]" : "given]");
  }
}
