package dev.ashlar.storage.drive.cache;

import dev.ashlar.storage.drive.index.ShardIndex;

/** The caches for changed shards. */
public record ChangedShards(UnfoldedShards unfolded, RecentBlocks recent, MergeCandidates toMerge) {
  public static ChangedShards of(ShardIndex index, RecentBlockMemory memory) {
    UnfoldedShards unfolded = new UnfoldedShards(index, UnfoldedShards.SIZE_MAX);
    return new ChangedShards(unfolded, new RecentBlocks(unfolded, memory), new MergeCandidates());
  }
}
