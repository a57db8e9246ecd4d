package dev.ashlar.metadata.backup;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * The bytes of a backup: the magic, then blocks. A block: number 4, counting up from 0; length 4;
 * content; CRC32C 4 of all these. All numbers are big-endian.
 *
 * <p>Block 0 has the {@link BackupHeader}, those after it rows in the order of their keys: key
 * length 4, key, value length 4, value. The last block has the sign bit of its number set. Its
 * content is the number of rows 8 and a CRC32C 4 of all bytes of the file before it; nothing
 * follows it.
 */
final class BackupFormat {
  static final byte[] MAGIC = "AshBack1".getBytes(StandardCharsets.US_ASCII);

  /** The sign bit of the number of the last block. */
  static final int LAST = 1 << 31;

  static final int BLOCK_HEADER_BYTES = 2 * Integer.BYTES;
  static final int CRC_BYTES = Integer.BYTES;
  static final int END_BYTES = Long.BYTES + CRC_BYTES;

  /** A block is closed when its rows are this long; a single row may be longer. */
  static final int ROWS_BYTES = 256 << 10;

  /** More than any row has. */
  static final int CONTENT_BYTES_MAX = 64 << 20;

  private BackupFormat() {}

  static byte[] block(int number, byte[] content, int length) {
    ByteBuffer block = ByteBuffer.allocate(BLOCK_HEADER_BYTES + length + CRC_BYTES);
    block.putInt(number).putInt(length).put(content, 0, length);
    return block.putInt(crc(block.array(), 0, block.position())).array();
  }

  static int crc(byte[] bytes, int from, int to) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, from, to - from);
    return (int) crc.getValue();
  }
}
