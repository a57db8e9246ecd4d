package dev.ashlar.storage.drive;

/** What memory keeps of changed shards beside the index. */
record ChangedShards(UnfoldedShards unfolded, MergeCandidates toMerge) {
  static ChangedShards of(ShardIndex index) {
    return new ChangedShards(
        new UnfoldedShards(index, UnfoldedShards.SIZE_MAX), new MergeCandidates());
  }
}
