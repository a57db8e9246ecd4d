package dev.ashlar.protocol.layout;

/**
 * Bytes {@code offset} up to, not including, {@code offset + length}.
 *
 * @param offset at least 0
 * @param length at least 0
 */
public record ByteRange(long offset, long length) {
  public static final ByteRange EMPTY = new ByteRange(0, 0);

  public ByteRange {
    if (offset < 0 || length < 0 || offset > Long.MAX_VALUE - length) {
      throw new IllegalArgumentException("range " + offset + "+" + length);
    }
  }

  public long end() {
    return offset + length;
  }

  public boolean isEmpty() {
    return length == 0;
  }

  /** The smallest range that contains both. */
  public ByteRange hull(ByteRange other) {
    if (isEmpty()) {
      return other;
    }
    if (other.isEmpty()) {
      return this;
    }
    long from = Math.min(offset, other.offset);
    return new ByteRange(from, Math.max(end(), other.end()) - from);
  }
}
