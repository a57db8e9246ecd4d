package dev.ashlar.codec.checksum;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** CRC64NVME by tables, eight bytes a step ("slicing by 8"). The state is the inverted CRC. */
final class SlicedCrc64 {
  private static final long POLYNOMIAL = 0x9a6c9329ac4bc9b5L;
  private static final int SLICES = 8;

  /** Row s, column b: what byte b does to the CRC when s more bytes follow it. */
  private static final long[][] TABLES = new long[SLICES][256];

  static {
    for (int b = 0; b < 256; b++) {
      long crc = b;
      for (int bit = 0; bit < 8; bit++) {
        crc = (crc & 1) != 0 ? crc >>> 1 ^ POLYNOMIAL : crc >>> 1;
      }
      TABLES[0][b] = crc;
    }
    for (int slice = 1; slice < SLICES; slice++) {
      for (int b = 0; b < 256; b++) {
        long crc = TABLES[slice - 1][b];
        TABLES[slice][b] = TABLES[0][(int) crc & 0xff] ^ crc >>> 8;
      }
    }
  }

  private SlicedCrc64() {}

  static long update(long state, byte b) {
    return TABLES[0][(int) (state ^ b) & 0xff] ^ state >>> 8;
  }

  /** Consumes the buffer. */
  static long update(long state, ByteBuffer buffer) {
    ByteOrder order = buffer.order();
    buffer.order(ByteOrder.LITTLE_ENDIAN);
    while (buffer.remaining() >= SLICES) {
      long word = state ^ buffer.getLong();
      state =
          TABLES[7][(int) word & 0xff]
              ^ TABLES[6][(int) (word >>> 8) & 0xff]
              ^ TABLES[5][(int) (word >>> 16) & 0xff]
              ^ TABLES[4][(int) (word >>> 24) & 0xff]
              ^ TABLES[3][(int) (word >>> 32) & 0xff]
              ^ TABLES[2][(int) (word >>> 40) & 0xff]
              ^ TABLES[1][(int) (word >>> 48) & 0xff]
              ^ TABLES[0][(int) (word >>> 56)];
    }
    buffer.order(order);
    while (buffer.hasRemaining()) {
      state = update(state, buffer.get());
    }
    return state;
  }
}
