package dev.ashlar.storage.drive;

/** What memory keeps of changed shards beside the index. */
record ChangedShards(UnfoldedShards unfolded, RecentBlocks recent, MergeCandidates toMerge) {
  static ChangedShards of(ShardIndex index, RecentMemory memory) {
    UnfoldedShards unfolded = new UnfoldedShards(index, UnfoldedShards.SIZE_MAX);
    return new ChangedShards(unfolded, new RecentBlocks(unfolded, memory), new MergeCandidates());
  }
}
