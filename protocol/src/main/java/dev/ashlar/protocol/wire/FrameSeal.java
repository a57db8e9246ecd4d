package dev.ashlar.protocol.wire;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Computes the header checksums of one direction. They cover the frame's number and, after the
 * handshake, a salt that both sides derive from it, so a repeated, omitted, reflected or replayed
 * frame does not match. Only TLS protects against an attacker who changes bytes in transit. Not
 * thread-safe.
 */
public final class FrameSeal {
  private final CRC32C crc = new CRC32C();
  private final ByteBuffer prefix = ByteBuffer.allocate(2 * Long.BYTES);
  private long salt;
  private long number;

  /** Applies from the next frame on. */
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
