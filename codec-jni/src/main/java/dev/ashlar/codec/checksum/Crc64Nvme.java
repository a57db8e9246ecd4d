package dev.ashlar.codec.checksum;

import dev.ashlar.codec.isal.NativeCrc64;
import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.zip.Checksum;

/** CRC64NVME as S3 uses it: polynomial ad93d23594c93659, reflected, inverted before and after. */
public final class Crc64Nvme implements Checksum {
  /** Below this, crossing into C costs more than it saves. */
  private static final int NATIVE_BYTES_MIN = 128;

  private static final long EMPTY = -1L;

  private final boolean useNative;
  private long state = EMPTY;

  public Crc64Nvme() {
    this(NativeCrc64.isAvailable());
  }

  private Crc64Nvme(boolean useNative) {
    this.useNative = useNative;
  }

  /** One that never calls native code: what others are tested and measured against. */
  public static Crc64Nvme inJava() {
    return new Crc64Nvme(false);
  }

  @Override
  public void update(int b) {
    state = SlicedCrc64.update(state, (byte) b);
  }

  @Override
  public void update(byte[] bytes, int offset, int length) {
    Objects.checkFromIndexSize(offset, length, bytes.length);
    if (useNative && length >= NATIVE_BYTES_MIN) {
      state = NativeCrc64.update(state, bytes, offset, length);
    } else {
      state = SlicedCrc64.update(state, ByteBuffer.wrap(bytes, offset, length));
    }
  }

  /** Moves the position to the limit, as {@link Checksum} asks for. */
  @Override
  public void update(ByteBuffer buffer) {
    if (useNative && buffer.isDirect() && buffer.remaining() >= NATIVE_BYTES_MIN) {
      state = NativeCrc64.update(state, buffer);
      buffer.position(buffer.limit());
    } else if (buffer.hasArray()) {
      update(buffer.array(), buffer.arrayOffset() + buffer.position(), buffer.remaining());
      buffer.position(buffer.limit());
    } else {
      state = SlicedCrc64.update(state, buffer);
    }
  }

  @Override
  public long getValue() {
    return ~state;
  }

  @Override
  public void reset() {
    state = EMPTY;
  }

  /** The CRC of A followed by B, from theirs. */
  public static long combine(long crcA, long crcB, long lengthB) {
    return CrcCombine.CRC64NVME.combine(crcA, crcB, lengthB);
  }
}
