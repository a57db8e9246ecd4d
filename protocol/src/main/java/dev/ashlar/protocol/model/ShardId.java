package dev.ashlar.protocol.model;

import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.RebuiltShard;

/**
 * A shard: all strips of one index of a blob, held by one drive.
 *
 * @param blob its id or, for a rebuilt shard, the id that the shard was rebuilt under
 * @param slot 0 to k-1 for data, k to k+m-1 for parity
 */
public record ShardId(BlobId blob, int slot) {
  public ShardId {
    if (slot < 0 || slot >= Profile.MAX_SHARDS) {
      throw new IllegalArgumentException("slot " + slot);
    }
  }

  /** The blob's shard in this slot, under the name it has on its drive. */
  public static ShardId of(BlobRow row, int slot) {
    return new ShardId(name(row, slot), slot);
  }

  /** The blob's id or, for a rebuilt shard, its own. */
  public static BlobId name(BlobRow row, int slot) {
    for (RebuiltShard shard : row.getRebuiltList()) {
      if (shard.getSlot() == slot) {
        return BlobId.of(shard.getName());
      }
    }
    return BlobId.of(row.getId());
  }

  @Override
  public String toString() {
    return blob + "/" + slot;
  }
}
