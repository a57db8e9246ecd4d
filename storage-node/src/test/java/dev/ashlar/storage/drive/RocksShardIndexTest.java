package dev.ashlar.storage.drive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RocksShardIndexTest {
  @TempDir Path folder;

  /** The index guesses where extents begin from those it met; others must be found as well. */
  @Test
  void findsTheExtentOfEachBlockHoweverLongExtentsAre() throws Exception {
    int[][] shards = {
      {64, 64, 64, 10}, {84, 84, 84, 84, 1}, {256, 256, 3}, {7, 32, 1, 64, 64}, {1, 1, 1}, {5, 90}
    };
    try (DriveResources resources = TestDrives.resources(new SlabPool(1 << 20));
        RocksShardIndex index = new RocksShardIndex(folder.resolve("index"), resources)) {
      for (int i = 0; i < shards.length; i++) {
        put(index, shard(i), 0, shards[i]);
      }
      put(index, shard(shards.length), 128, new int[] {64, 64});
      for (int round = 0; round < 3; round++) {
        for (int i = 0; i < shards.length; i++) {
          expectAll(index, shard(i), 0, shards[i]);
        }
        expectAll(index, shard(shards.length), 128, new int[] {64, 64});
        assertNull(index.find(shard(shards.length), 0));
        assertNull(index.find(shard(shards.length), 127));
        assertNull(index.find(shard(shards.length + 1), 64));
      }
    }
  }

  private static ShardId shard(int number) {
    return new ShardId(new BlobId(1, number), 2);
  }

  private static void put(RocksShardIndex index, ShardId shard, int firstBlock, int[] blocks)
      throws Exception {
    ShardIndex.Update update = index.update();
    int first = firstBlock;
    for (int count : blocks) {
      Extent extent = new Extent(first, count * SegmentFormat.BLOCK, 1, 0, 0, 1, new int[count]);
      update.put(Piece.base(shard, extent));
      first += count;
    }
    update.commit(index.position());
  }

  private static void expectAll(RocksShardIndex index, ShardId shard, int firstBlock, int[] blocks)
      throws Exception {
    int first = firstBlock;
    for (int count : blocks) {
      for (int block = first; block < first + count; block++) {
        Extent found = index.find(shard, block);
        assertNotNull(found, shard + " block " + block);
        assertEquals(first, found.firstBlock());
        assertEquals(count, found.crcs().length);
      }
      first += count;
    }
    assertNull(index.find(shard, first));
  }
}
