package dev.ashlar.codec.isal;

import java.nio.ByteBuffer;
import java.util.Objects;

/** CRC64NVME by carry-less multiplication. The state between calls is the inverted CRC. */
public final class NativeCrc64 {
  private static final boolean AVAILABLE =
      NativeLibrary.failure() == null && NativeMethods.hasCrc64();

  /**
   * The collector may have to wait while C reads a Java array, so it reads only so much at once.
   */
  private static final int ARRAY_CHUNK_BYTES = 64 << 10;

  private NativeCrc64() {}

  /** Whether the library is loaded and the CPU has the instructions. */
  public static boolean isAvailable() {
    return AVAILABLE;
  }

  /** Over a direct buffer from position to limit, without moving the position. */
  public static long update(long state, ByteBuffer direct) {
    int position = direct.position();
    int length = direct.limit() - position;
    if (!direct.isDirect()) {
      throw new IllegalArgumentException("not a direct buffer");
    }
    Objects.checkFromIndexSize(position, length, direct.capacity());
    return NativeMethods.crc64(state, direct, position, length);
  }

  public static long update(long state, byte[] array, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, array.length);
    for (int at = 0; at < length; at += ARRAY_CHUNK_BYTES) {
      int bytes = Math.min(ARRAY_CHUNK_BYTES, length - at);
      state = NativeMethods.crc64OfArray(state, array, offset + at, bytes);
    }
    return state;
  }
}
