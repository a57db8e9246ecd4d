package dev.ashlar.protocol.trace;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * A span as others refer to it: the trace that it belongs to, and its id there. The form of a text
 * is that of the header traceparent of W3C Trace Context; in frames it is trace 16 | span 8 | flags
 * 1, big-endian.
 *
 * @param traceHigh the first half of the id of the trace, which is not 0
 * @param traceLow the second half
 * @param span not 0
 * @param flags those of W3C, the lowest bit: sampled
 */
public record TraceContext(long traceHigh, long traceLow, long span, byte flags) {
  /** Length of its form in frames. */
  public static final int BYTES = 25;

  public static final byte SAMPLED = 1;

  private static final HexFormat HEX = HexFormat.of();

  /** Of version 00; later versions may append to it after another dash. */
  private static final int TEXT_LENGTH = 55;

  /** A longer header is none of W3C's. */
  private static final int TEXT_LENGTH_MAX = 512;

  public TraceContext {
    if ((traceHigh | traceLow) == 0 || span == 0) {
      throw new IllegalArgumentException("ids of traces and spans are not 0");
    }
  }

  /** Whether the spans of the trace are kept. */
  public boolean isSampled() {
    return (flags & SAMPLED) != 0;
  }

  /** The id of the trace as 32 hexadecimal digits. */
  public String traceId() {
    return HEX.toHexDigits(traceHigh) + HEX.toHexDigits(traceLow);
  }

  /**
   * Parses the value of a header traceparent; null if it is none. As W3C demands, a value that is
   * malformed in any way counts as absent.
   */
  public static @Nullable TraceContext parse(String traceparent) {
    if (!hasForm(traceparent)) {
      return null;
    }
    long high = HexFormat.fromHexDigitsToLong(traceparent, 3, 19);
    long low = HexFormat.fromHexDigitsToLong(traceparent, 19, 35);
    long span = HexFormat.fromHexDigitsToLong(traceparent, 36, 52);
    if ((high | low) == 0 || span == 0) {
      return null;
    }
    return new TraceContext(
        high, low, span, (byte) HexFormat.fromHexDigits(traceparent, 53, TEXT_LENGTH));
  }

  private static boolean hasForm(String text) {
    int length = text.length();
    if (length < TEXT_LENGTH || length > TEXT_LENGTH_MAX) {
      return false;
    }
    for (int i = 0; i < TEXT_LENGTH; i++) {
      char each = text.charAt(i);
      boolean isDash = i == 2 || i == 35 || i == 52;
      boolean isDigit = (each >= '0' && each <= '9') || (each >= 'a' && each <= 'f');
      if (isDash ? each != '-' : !isDigit) {
        return false;
      }
    }
    boolean isFirstVersion = text.startsWith("00");
    boolean isLonger = length > TEXT_LENGTH;
    return !text.startsWith("ff")
        && !(isLonger && (isFirstVersion || text.charAt(TEXT_LENGTH) != '-'));
  }

  /** Appends its form in frames. */
  public void put(ByteBuffer out) {
    out.putLong(traceHigh).putLong(traceLow).putLong(span).put(flags);
  }

  /**
   * Removes its form in frames from the end of a body.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static TraceContext takeFromEnd(ByteBuffer body) {
    if (body.remaining() < BYTES) {
      throw new IllegalArgumentException("a body of " + body.remaining() + " bytes has no trace");
    }
    int at = body.limit() - BYTES;
    TraceContext taken =
        new TraceContext(
            body.getLong(at), body.getLong(at + 8), body.getLong(at + 16), body.get(at + 24));
    body.limit(at);
    return taken;
  }

  /** As a header traceparent. */
  @Override
  public String toString() {
    return "00-" + traceId() + "-" + HEX.toHexDigits(span) + "-" + HEX.toHexDigits(flags);
  }
}
