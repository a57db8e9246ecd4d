package dev.ashlar.storage.drive.scrub;

import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.model.ShardId;

/** Told of live bytes that are not as they were written, on a thread of the drive. */
public interface DamageListener {
  /**
   * It may wait for a few seconds.
   *
   * @param shard under the name that the drive has it
   * @param range of the shard: within one 4 KiB block
   * @param fault {@link ShardFault#CORRUPT}, or {@link ShardFault#IO_ERROR}
   */
  void damaged(ShardId shard, ByteRange range, ShardFault fault);
}
