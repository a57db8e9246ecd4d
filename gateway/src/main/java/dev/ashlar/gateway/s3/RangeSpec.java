package dev.ashlar.gateway.s3;

import dev.ashlar.gateway.error.S3Error;
import dev.ashlar.gateway.error.S3Exception;
import dev.ashlar.protocol.layout.ByteRange;
import org.jspecify.annotations.Nullable;

/**
 * One range of a Range header.
 *
 * @param first the first byte, or -1 for the last {@code last} bytes
 * @param last the last byte, {@link Long#MAX_VALUE} for the end
 */
public record RangeSpec(long first, long last) {
  private static final String UNIT = "bytes=";

  /**
   * A header that does not parse, names several ranges, or ends before it begins is ignored: S3
   * answers with the whole object.
   */
  static @Nullable RangeSpec parse(@Nullable String header) {
    if (header == null || !header.regionMatches(true, 0, UNIT, 0, UNIT.length())) {
      return null;
    }
    int dash = header.indexOf('-', UNIT.length());
    if (dash < 0) {
      return null;
    }
    String from = header.substring(UNIT.length(), dash).trim();
    String to = header.substring(dash + 1).trim();
    long first = from.isEmpty() ? -1 : number(from);
    long last = to.isEmpty() ? Long.MAX_VALUE : number(to);
    boolean isBroken =
        (from.isEmpty() && to.isEmpty()) || (!from.isEmpty() && first < 0) || last < 0;
    return isBroken || (first >= 0 && last < first) ? null : new RangeSpec(first, last);
  }

  /** Digits only; -1 for anything else. What exceeds a long is beyond any object. */
  static long number(String digits) {
    long value = 0;
    for (int i = 0; i < digits.length(); i++) {
      int digit = digits.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      value = value > (Long.MAX_VALUE - digit) / 10 ? Long.MAX_VALUE : value * 10 + digit;
    }
    return value;
  }

  /** The bytes of an object of this size, or InvalidRange when there are none. */
  public ByteRange resolve(long size) throws S3Exception {
    if (first < 0) {
      long length = Math.min(last, size);
      if (length == 0) {
        throw unsatisfiable(size);
      }
      return new ByteRange(size - length, length);
    }
    if (first >= size) {
      throw unsatisfiable(size);
    }
    return new ByteRange(first, Math.min(last, size - 1) - first + 1);
  }

  private S3Exception unsatisfiable(long size) {
    return new S3Exception(S3Error.INVALID_RANGE)
        .with("RangeRequested", toString())
        .with("ActualObjectSize", size);
  }

  @Override
  public String toString() {
    String end = last == Long.MAX_VALUE ? "" : Long.toString(last);
    return UNIT + (first < 0 ? "" : Long.toString(first)) + "-" + end;
  }
}
