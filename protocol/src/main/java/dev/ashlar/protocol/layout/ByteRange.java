package dev.ashlar.protocol.layout;

/**
 * Bytes {@code offset} up to, not including, {@code offset + length}.
 *
 * @param offset at least 0
 * @param length at least 0
 */
public record ByteRange(long offset, long length) {
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
}
