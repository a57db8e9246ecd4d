package dev.ashlar.gateway.checksum;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.gateway.exchange.AmzHeaderNames;
import dev.ashlar.protocol.message.ChecksumAlgorithm;
import dev.ashlar.protocol.message.ChecksumType;
import dev.ashlar.protocol.message.ChecksumValue;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import java.util.Base64;
import java.util.Locale;

/** How S3 writes checksums in headers and documents. */
public final class Checksums {
  private Checksums() {}

  public static String typeName(ChecksumType type) {
    return type == ChecksumType.CHECKSUM_COMPOSITE ? "COMPOSITE" : "FULL_OBJECT";
  }

  /** The digest in Base64, with the number of parts behind a composite one. */
  public static String text(ChecksumValue checksum) {
    String digest = digestText(checksum);
    return checksum.getType() == ChecksumType.CHECKSUM_COMPOSITE && checksum.getPartCount() > 0
        ? digest + "-" + checksum.getPartCount()
        : digest;
  }

  /** The digest in Base64. */
  public static String digestText(ChecksumValue checksum) {
    return Base64.getEncoder().encodeToString(checksum.getValue().toByteArray());
  }

  /** Requires the form of {@link #text}. */
  public static void requireWellFormed(ChecksumKind kind, String text) throws S3Exception {
    int hyphen = text.indexOf('-');
    boolean isCount =
        hyphen < 0
            || (hyphen + 1 < text.length()
                && text.chars().skip(hyphen + 1).allMatch(c -> c >= '0' && c <= '9'));
    if (!isCount || kind.decode(hyphen < 0 ? text : text.substring(0, hyphen)) == null) {
      throw new S3Exception(
          S3Error.MALFORMED_CHECKSUM, "Value for " + kind.header() + " header is invalid.");
    }
  }

  public static boolean isPresent(ChecksumValue checksum) {
    return checksum.getAlgorithm() != ChecksumAlgorithm.CHECKSUM_NONE;
  }

  /** Whether it is a CRC of all bytes of an object: only those can be carried on and combined. */
  public static boolean isFullObjectCrc(ChecksumValue checksum) {
    return isPresent(checksum)
        && checksum.getType() == ChecksumType.CHECKSUM_FULL_OBJECT
        && ChecksumKind.of(checksum.getAlgorithm()).isCrc();
  }

  /** The algorithm of an x-amz-checksum-algorithm header. */
  public static ChecksumAlgorithm named(String name) throws S3Exception {
    String wanted = name.trim().toUpperCase(Locale.ROOT);
    for (ChecksumKind kind : ChecksumKind.ALL) {
      if (kind.name().equals(wanted)) {
        return kind.algorithm();
      }
    }
    throw S3Exception.invalidRequest(
        "Checksum algorithm provided is unsupported. Please try again with any of the valid types:"
            + " "
            + ChecksumKind.ALL);
  }

  /** The type that S3 gives a multipart upload whose creator names none. */
  public static ChecksumType defaultType(ChecksumAlgorithm algorithm) {
    return switch (algorithm) {
      case CHECKSUM_NONE, CHECKSUM_CRC64NVME, UNRECOGNIZED -> ChecksumType.CHECKSUM_FULL_OBJECT;
      default -> ChecksumType.CHECKSUM_COMPOSITE;
    };
  }

  /** Whether a header has a digest of the body, or announces one behind it. */
  public static boolean hasDigest(HttpHeaders headers) {
    return headers.contains(HttpHeaderNames.CONTENT_MD5)
        || announced(headers) != ChecksumAlgorithm.CHECKSUM_NONE;
  }

  /** Only CRCs of parts can be combined to that of the whole, and CRC64NVME always is. */
  public static void requireCompatible(ChecksumAlgorithm algorithm, ChecksumType type)
      throws S3Exception {
    boolean isRefused =
        switch (algorithm) {
          case CHECKSUM_CRC64NVME -> type == ChecksumType.CHECKSUM_COMPOSITE;
          case CHECKSUM_NONE, CHECKSUM_CRC32, CHECKSUM_CRC32C, UNRECOGNIZED -> false;
          default -> type == ChecksumType.CHECKSUM_FULL_OBJECT;
        };
    if (isRefused) {
      throw S3Exception.invalidRequest(
          "The "
              + typeName(type)
              + " checksum type cannot be used with the "
              + ChecksumKind.of(algorithm).lowerCaseName()
              + " checksum algorithm.");
    }
  }

  /** The error for a checksum of another algorithm than was agreed on. */
  public static S3Exception mismatch(ChecksumAlgorithm expected, ChecksumAlgorithm actual) {
    return S3Exception.invalidRequest(
        "Checksum Type mismatch occurred, expected checksum Type: "
            + ChecksumKind.of(expected).lowerCaseName()
            + ", actual checksum Type: "
            + ChecksumKind.of(actual).lowerCaseName());
  }

  /** The algorithm of the checksum that comes with the body, in a header or in a trailer. */
  public static ChecksumAlgorithm announced(HttpHeaders headers) {
    String trailers = headers.get(AmzHeaderNames.TRAILER);
    for (ChecksumKind kind : ChecksumKind.ALL) {
      boolean inTrailer = trailers != null && namesHeader(trailers, kind.header());
      if (inTrailer || kind.in(headers) != null) {
        return kind.algorithm();
      }
    }
    return ChecksumAlgorithm.CHECKSUM_NONE;
  }

  private static boolean namesHeader(String list, String header) {
    for (String name : list.split(",", -1)) {
      if (name.trim().equalsIgnoreCase(header)) {
        return true;
      }
    }
    return false;
  }
}
