package dev.ashlar.protocol.client;

import dev.ashlar.protocol.memory.Slab;
import java.nio.ByteBuffer;

/**
 * Verified bytes read from a shard, in memory that the receiver must release with {@link #release}.
 *
 * @param bytes exactly the bytes asked for, from position to limit; inside {@code slab}
 */
public record ShardData(Slab slab, ByteBuffer bytes) {
  public void release() {
    slab.release();
  }
}
