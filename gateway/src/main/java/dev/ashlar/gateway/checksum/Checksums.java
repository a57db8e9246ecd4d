package dev.ashlar.gateway.checksum;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumType;
import dev.ashlar.protocol.message.ChecksumValue;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Base64;
import java.util.List;
import java.util.Locale;

/** How S3 names and writes checksums in headers and documents. */
public final class Checksums {
  /** Everything but NONE. */
  public static final List<ChecksumAlgorithm> ALGORITHMS =
      List.of(
          ChecksumAlgorithm.CHECKSUM_CRC32,
          ChecksumAlgorithm.CHECKSUM_CRC32C,
          ChecksumAlgorithm.CHECKSUM_CRC64NVME,
          ChecksumAlgorithm.CHECKSUM_SHA1,
          ChecksumAlgorithm.CHECKSUM_SHA256);

  private Checksums() {}

  /** Like CRC32, the value of x-amz-checksum-algorithm. */
  public static String name(ChecksumAlgorithm algorithm) {
    return switch (algorithm) {
      case CHECKSUM_CRC32 -> "CRC32";
      case CHECKSUM_CRC32C -> "CRC32C";
      case CHECKSUM_CRC64NVME -> "CRC64NVME";
      case CHECKSUM_SHA1 -> "SHA1";
      case CHECKSUM_SHA256 -> "SHA256";
      case CHECKSUM_NONE, UNRECOGNIZED -> throw new IllegalArgumentException("" + algorithm);
    };
  }

  /** Like x-amz-checksum-crc32. */
  public static String header(ChecksumAlgorithm algorithm) {
    return switch (algorithm) {
      case CHECKSUM_CRC32 -> "x-amz-checksum-crc32";
      case CHECKSUM_CRC32C -> "x-amz-checksum-crc32c";
      case CHECKSUM_CRC64NVME -> "x-amz-checksum-crc64nvme";
      case CHECKSUM_SHA1 -> "x-amz-checksum-sha1";
      case CHECKSUM_SHA256 -> "x-amz-checksum-sha256";
      case CHECKSUM_NONE, UNRECOGNIZED -> throw new IllegalArgumentException("" + algorithm);
    };
  }

  /** Like ChecksumCRC32. */
  public static String element(ChecksumAlgorithm algorithm) {
    return "Checksum" + name(algorithm);
  }

  public static String typeName(ChecksumType type) {
    return type == ChecksumType.CHECKSUM_COMPOSITE ? "COMPOSITE" : "FULL_OBJECT";
  }

  /** The digest in Base64, with the number of parts behind a composite one. */
  public static String text(ChecksumValue checksum) {
    String digest = Base64.getEncoder().encodeToString(checksum.getValue().toByteArray());
    return checksum.getType() == ChecksumType.CHECKSUM_COMPOSITE && checksum.getPartCount() > 0
        ? digest + "-" + checksum.getPartCount()
        : digest;
  }

  /** What {@link #text} may give: the digest in Base64, perhaps a hyphen and the parts' number. */
  public static void requireWellFormed(ChecksumAlgorithm algorithm, String text)
      throws S3Exception {
    int hyphen = text.indexOf('-');
    boolean isCount =
        hyphen < 0
            || (hyphen + 1 < text.length()
                && text.chars().skip(hyphen + 1).allMatch(c -> c >= '0' && c <= '9'));
    if (!isCount || !isDigest(algorithm, hyphen < 0 ? text : text.substring(0, hyphen))) {
      throw new S3Exception(
          S3Error.INVALID_REQUEST, "Value for " + header(algorithm) + " header is invalid.");
    }
  }

  private static boolean isDigest(ChecksumAlgorithm algorithm, String base64) {
    try {
      return Base64.getDecoder().decode(base64).length == bytes(algorithm);
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private static int bytes(ChecksumAlgorithm algorithm) {
    return switch (algorithm) {
      case CHECKSUM_CRC32, CHECKSUM_CRC32C -> 4;
      case CHECKSUM_CRC64NVME -> 8;
      case CHECKSUM_SHA1 -> 20;
      case CHECKSUM_SHA256 -> 32;
      case CHECKSUM_NONE, UNRECOGNIZED -> throw new IllegalArgumentException("" + algorithm);
    };
  }

  public static boolean isPresent(ChecksumValue checksum) {
    return checksum.getAlgorithm() != ChecksumAlgorithm.CHECKSUM_NONE;
  }

  /** The algorithm of an x-amz-checksum-algorithm header. */
  public static ChecksumAlgorithm named(String name) throws S3Exception {
    String wanted = name.trim().toUpperCase(Locale.ROOT);
    for (ChecksumAlgorithm algorithm : ALGORITHMS) {
      if (name(algorithm).equals(wanted)) {
        return algorithm;
      }
    }
    throw new S3Exception(
        S3Error.INVALID_REQUEST,
        "Checksum algorithm provided is unsupported. Please try again with any of the valid types:"
            + " [CRC32, CRC32C, CRC64NVME, SHA1, SHA256]");
  }

  /** What S3 makes of a multipart upload whose creator names no type. */
  public static ChecksumType usualType(ChecksumAlgorithm algorithm) {
    return switch (algorithm) {
      case CHECKSUM_NONE, CHECKSUM_CRC64NVME, UNRECOGNIZED -> ChecksumType.CHECKSUM_FULL_OBJECT;
      case CHECKSUM_CRC32, CHECKSUM_CRC32C, CHECKSUM_SHA1, CHECKSUM_SHA256 ->
          ChecksumType.CHECKSUM_COMPOSITE;
    };
  }

  /** Only CRCs of parts can be combined to that of the whole, and CRC64NVME always is. */
  public static void requireCompatible(ChecksumAlgorithm algorithm, ChecksumType type)
      throws S3Exception {
    boolean isRefused =
        switch (algorithm) {
          case CHECKSUM_CRC64NVME -> type == ChecksumType.CHECKSUM_COMPOSITE;
          case CHECKSUM_SHA1, CHECKSUM_SHA256 -> type == ChecksumType.CHECKSUM_FULL_OBJECT;
          case CHECKSUM_NONE, CHECKSUM_CRC32, CHECKSUM_CRC32C, UNRECOGNIZED -> false;
        };
    if (isRefused) {
      throw new S3Exception(
          S3Error.INVALID_REQUEST,
          "The "
              + typeName(type)
              + " checksum type cannot be used with the "
              + name(algorithm).toLowerCase(Locale.ROOT)
              + " checksum algorithm.");
    }
  }

  /** One algorithm was agreed on and another one came. */
  public static S3Exception mismatch(ChecksumAlgorithm expected, ChecksumAlgorithm actual) {
    return new S3Exception(
        S3Error.INVALID_REQUEST,
        "Checksum Type mismatch occurred, expected checksum Type: "
            + name(expected).toLowerCase(Locale.ROOT)
            + ", actual checksum Type: "
            + name(actual).toLowerCase(Locale.ROOT));
  }

  /** The algorithm of the checksum that comes with the body, in a header or in a trailer. */
  public static ChecksumAlgorithm announced(HttpHeaders headers) {
    String trailers = headers.get("x-amz-trailer", "");
    for (ChecksumAlgorithm algorithm : ALGORITHMS) {
      String header = header(algorithm);
      if (namesHeader(trailers, header) || headers.contains(header)) {
        return algorithm;
      }
    }
    return ChecksumAlgorithm.CHECKSUM_NONE;
  }

  private static boolean namesHeader(String list, String header) {
    for (int start = 0; start <= list.length(); ) {
      int end = list.indexOf(',', start);
      end = end < 0 ? list.length() : end;
      if (list.substring(start, end).trim().equalsIgnoreCase(header)) {
        return true;
      }
      start = end + 1;
    }
    return false;
  }
}
