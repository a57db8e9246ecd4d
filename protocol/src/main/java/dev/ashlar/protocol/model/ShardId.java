package dev.ashlar.protocol.model;

/**
 * All strips of one index of a blob: what one drive holds of it.
 *
 * @param slot 0 to k-1 for data, k to k+m-1 for parity
 */
public record ShardId(BlobId blob, int slot) {
  public ShardId {
    if (slot < 0 || slot >= Profile.MAX_SHARDS) {
      throw new IllegalArgumentException("slot " + slot);
    }
  }

  @Override
  public String toString() {
    return blob + "/" + slot;
  }
}
