package dev.ashlar.storage.drive.segment;

import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** CRC32C over parts of buffers. One per thread or call; not to be shared. */
public final class Checksum {
  private final CRC32C crc = new CRC32C();

  /** Of {@code length} bytes; leaves the buffer's position and limit changed. */
  public int of(ByteBuffer bytes, int offset, int length) {
    crc.reset();
    return add(bytes, offset, length);
  }

  /** Of what was summed before and these bytes. */
  int add(ByteBuffer bytes, int offset, int length) {
    bytes.limit(offset + length).position(offset);
    crc.update(bytes);
    return (int) crc.getValue();
  }

  /**
   * The first 4 KiB block that does not match, or -1.
   *
   * @param crcs of all blocks of the extent
   * @param firstCrc which of them belongs to the first block of these bytes
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
