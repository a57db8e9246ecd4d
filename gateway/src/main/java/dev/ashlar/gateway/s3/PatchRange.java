package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.layout.ByteRange;
import org.jspecify.annotations.Nullable;

/**
 * The Content-Range of a PATCH: {@code bytes first-last/*}. The complete length is not looked at,
 * and the last byte may be left away.
 *
 * @param last the last byte, or -1 for where the body ends
 */
public record PatchRange(long first, long last) {
  private static final String UNIT = "bytes ";

  static PatchRange parse(@Nullable String header) throws S3Exception {
    if (header == null) {
      throw new S3Exception(S3Error.MISSING_CONTENT_RANGE);
    }
    int slash = header.indexOf('/');
    int dash = header.indexOf('-');
    if (!header.regionMatches(true, 0, UNIT, 0, UNIT.length())
        || dash < UNIT.length()
        || slash < dash
        || !isCompleteLength(header.substring(slash + 1).trim())) {
      throw malformed(header);
    }
    String from = header.substring(UNIT.length(), dash).trim();
    String to = header.substring(dash + 1, slash).trim();
    long first = from.isEmpty() ? -1 : RangeSpec.number(from);
    long last = to.isEmpty() ? -1 : RangeSpec.number(to);
    if (first < 0 || (!to.isEmpty() && last < first)) {
      throw malformed(header);
    }
    return new PatchRange(first, last);
  }

  private static boolean isCompleteLength(String text) {
    return text.equals("*") || (!text.isEmpty() && RangeSpec.number(text) >= 0);
  }

  /**
   * The bytes that a body of this length changes or appends.
   *
   * @param size of the object
   * @throws S3Exception InvalidRange if they begin behind its end
   */
  public ByteRange resolve(long length, long size) throws S3Exception {
    if (last >= 0 && last - first != length - 1) {
      throw S3Exception.invalidArgument(
          "The Content-Length must be the length of the Content-Range.",
          "Content-Range",
          toString());
    }
    if (first > size) {
      throw new S3Exception(S3Error.INVALID_RANGE)
          .with("RangeRequested", toString())
          .with("ActualObjectSize", size);
    }
    return new ByteRange(first, length);
  }

  private static S3Exception malformed(String header) {
    return new S3Exception(
            S3Error.INVALID_RANGE, "The Content-Range must be of the form bytes first-last/*")
        .with("RangeRequested", header);
  }

  @Override
  public String toString() {
    return UNIT + first + "-" + (last < 0 ? "" : Long.toString(last)) + "/*";
  }
}
