package dev.ashlar.protocol.wire;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The checksum of one direction's headers. It covers the frame's number and, once the handshake is
 * over, a salt that both sides derive from it: a frame that was repeated, left out, reflected or
 * recorded elsewhere does not match. That is no protection against somebody who can change what is
 * on its way; TLS is. Not thread-safe.
 */
public final class FrameSeal {
  private final CRC32C crc = new CRC32C();
  private final ByteBuffer prefix = ByteBuffer.allocate(2 * Long.BYTES);
  private long salt;
  private long number;

  /** From the next frame on. */
  public void salt(long newSalt) {
    salt = newSalt;
  }

  /**
   * The checksum of the next frame's header.
   *
   * @param header from its position on
   */
  int next(ByteBuffer header, int bytes) {
    prefix.clear().putLong(salt).putLong(number++).flip();
    crc.reset();
    crc.update(prefix);
    crc.update(header.slice(header.position(), bytes));
    return (int) crc.getValue();
  }
}
