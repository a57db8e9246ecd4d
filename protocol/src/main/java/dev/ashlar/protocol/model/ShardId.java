package dev.ashlar.protocol.model;

import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.RebuiltShard;

/**
 * All strips of one index of a blob: what one drive holds of it.
 *
 * @param blob its id, or of a shard that was rebuilt the name which that got
 * @param slot 0 to k-1 for data, k to k+m-1 for parity
 */
public record ShardId(BlobId blob, int slot) {
  public ShardId {
    if (slot < 0 || slot >= Profile.MAX_SHARDS) {
      throw new IllegalArgumentException("slot " + slot);
    }
  }

  /** What the drive of this slot calls the blob's shard. */
  public static ShardId of(BlobRow row, int slot) {
    return new ShardId(name(row, slot), slot);
  }

  /** The blob's id, unless the shard was rebuilt. */
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
