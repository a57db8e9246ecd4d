package dev.ashlar.codec.checksum;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** CRC32C of stored blocks. Buffers count from position to limit; positions are not moved. */
public final class Crc32c {
  public static final int BLOCK_BYTES = 4096;

  private Crc32c() {}

  public static int of(ByteBuffer bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes.duplicate());
    return (int) crc.getValue();
  }

  /** One CRC per 4 KiB; the last block may be shorter. */
  public static int[] blockCrcs(ByteBuffer payload) {
    int[] crcs = new int[(int) ((payload.remaining() + BLOCK_BYTES - 1L) / BLOCK_BYTES)];
    CRC32C crc = new CRC32C();
    ByteBuffer block = payload.duplicate();
    int end = payload.limit();
    for (int i = 0; i < crcs.length; i++) {
      block.limit(block.position() + Math.min(BLOCK_BYTES, end - block.position()));
      crc.reset();
      crc.update(block);
      crcs[i] = (int) crc.getValue();
    }
    return crcs;
  }

  /** The CRC of A followed by B, from theirs. */
  public static int combine(int crcA, int crcB, long lengthB) {
    return (int)
        CrcCombine.CRC32C.combine(
            Integer.toUnsignedLong(crcA), Integer.toUnsignedLong(crcB), lengthB);
  }
}
