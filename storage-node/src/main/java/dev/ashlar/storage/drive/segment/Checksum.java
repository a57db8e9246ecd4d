package dev.ashlar.storage.drive.segment;

import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** CRC32C over parts of buffers. Not thread-safe. */
public final class Checksum {
  private final CRC32C crc = new CRC32C();

  /** The checksum of {@code length} bytes; changes the position and limit of the buffer. */
  public int of(ByteBuffer bytes, int offset, int length) {
    crc.reset();
    return add(bytes, offset, length);
  }

  /** The checksum of the preceding bytes followed by these. */
  int add(ByteBuffer bytes, int offset, int length) {
    bytes.limit(offset + length).position(offset);
    crc.update(bytes);
    return (int) crc.getValue();
  }

  /**
   * The number of the first 4 KiB block with a mismatch, or -1.
   *
   * @param crcs checksums of all blocks of the extent
   * @param firstCrc the checksum of the first block in these bytes
   */
  public int firstMismatch(ByteBuffer bytes, int offset, int length, int[] crcs, int firstCrc) {
    for (int done = 0, i = firstCrc; done < length; done += Profile.BLOCK_BYTES, i++) {
      int block = Math.min(Profile.BLOCK_BYTES, length - done);
      if (of(bytes, offset + done, block) != crcs[i]) {
        return i;
      }
    }
    return -1;
  }
}
