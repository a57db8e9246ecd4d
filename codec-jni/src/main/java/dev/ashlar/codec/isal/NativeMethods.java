package dev.ashlar.codec.isal;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import org.jspecify.annotations.Nullable;

/** The functions of {@code ashlarcodec.c}; they trust their arguments, so callers check them. */
final class NativeMethods {
  /** The most buffers {@link #applyNarrow} takes: enough for 8+4. */
  static final int NARROW_MAX = 12;

  private NativeMethods() {}

  static native long address(ByteBuffer buffer);

  static native void prepare(int columns, int rows, ByteBuffer matrix, ByteBuffer tables);

  /**
   * Multiplies by the prepared matrix, or adds one column of it if {@code column} is not negative.
   * Buffers and positions are separate arguments because reading them from arrays would cost four
   * times as much as the rest of the call.
   */
  static native void applyNarrow(
      long tables,
      int columns,
      int rows,
      int column,
      int length,
      int count,
      @Nullable ByteBuffer b0,
      @Nullable ByteBuffer b1,
      @Nullable ByteBuffer b2,
      @Nullable ByteBuffer b3,
      @Nullable ByteBuffer b4,
      @Nullable ByteBuffer b5,
      @Nullable ByteBuffer b6,
      @Nullable ByteBuffer b7,
      @Nullable ByteBuffer b8,
      @Nullable ByteBuffer b9,
      @Nullable ByteBuffer b10,
      @Nullable ByteBuffer b11,
      int p0,
      int p1,
      int p2,
      int p3,
      int p4,
      int p5,
      int p6,
      int p7,
      int p8,
      int p9,
      int p10,
      int p11);

  /** The same for any number of buffers, given by address. */
  static native void applyWide(
      long tables, int columns, int rows, int column, int length, long[] addresses);

  static native boolean hasCrc64();

  static native long crc64(long state, ByteBuffer buffer, int position, int length);

  static native long crc64OfArray(long state, byte[] array, int offset, int length);

  /** One step of {@link NativeMd5.Lanes}, whose memory lies at {@code lanes}. */
  static native void md5Lanes(long lanes, int count, int blocks);

  static native void md5(int[] state, ByteBuffer buffer, int position, int blocks);

  /** At most {@link NativeMd5#END_BLOCKS_MAX} blocks. */
  static native void md5End(int[] state, byte[] end, int blocks);

  static native boolean hasSha256();

  /**
   * Hashes one or two messages, as many as there is room for in {@code hashes}.
   *
   * @param fragments address and length of each, those of the first message first
   * @param firstCount how many of them the first message has
   */
  static native void sha256(long[] fragments, int firstCount, byte[] hashes);

  /** The path has no zero at its end. */
  static native boolean allocateFile(byte[] path, long bytes);

  static native int descriptor(FileChannel channel);

  static native int readCached(
      int descriptor, boolean isInMemory, ByteBuffer buffer, int position, int length, long offset);
}
