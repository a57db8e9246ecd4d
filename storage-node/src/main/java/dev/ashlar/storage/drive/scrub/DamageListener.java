package dev.ashlar.storage.drive.scrub;

import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.model.ShardId;

/** Called for damaged live bytes on a thread of the drive. */
public interface DamageListener {
  /**
   * The call may block for a few seconds.
   *
   * @param shard the shard by its name on the drive
   * @param range the damaged range within one 4 KiB block
   * @param fault {@link ShardFault#CORRUPT}, or {@link ShardFault#IO_ERROR}
   */
  void damaged(ShardId shard, ByteRange range, ShardFault fault);
}
