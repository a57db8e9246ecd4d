package dev.ashlar.protocol.client;

import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.nio.ByteBuffer;

/**
 * The first write of bytes of a shard.
 *
 * @param offset where in the shard they begin, a multiple of 4 KiB
 * @param payload direct memory, position to limit, at least 1 byte; must not change until the write
 *     completes. If its address and capacity are multiples of 4 KiB, the drive may pass it to the
 *     kernel without a copy and read (never write) up to the next multiple of 4 KiB beyond its
 *     limit
 * @param blockCrcs CRC32C of each 4 KiB of the payload, the last block possibly short
 */
public record ShardWrite(ShardId shard, long offset, ByteBuffer payload, int[] blockCrcs) {
  public ShardWrite {
    if (offset < 0 || offset % Profile.BLOCK_BYTES != 0) {
      throw new IllegalArgumentException("shard offset " + offset);
    }
    if (!payload.isDirect() || !payload.hasRemaining()) {
      throw new IllegalArgumentException("needs bytes in direct memory: " + payload);
    }
    if (blockCrcs.length != Math.ceilDiv(payload.remaining(), Profile.BLOCK_BYTES)) {
      throw new IllegalArgumentException(
          blockCrcs.length + " checksums for " + payload.remaining() + " bytes");
    }
  }
}
