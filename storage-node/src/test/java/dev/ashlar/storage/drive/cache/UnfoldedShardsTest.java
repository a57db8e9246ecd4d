package dev.ashlar.storage.drive.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.index.FoldState;
import dev.ashlar.storage.drive.index.MemoryShardIndex;
import dev.ashlar.storage.drive.index.ShardIndex;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.LogPosition;
import dev.ashlar.storage.drive.segment.ShardPiece;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UnfoldedShardsTest {
  private static final int SHARDS = 5;
  private final MemoryShardIndex index = new MemoryShardIndex();

  /** What it knows of a shard is what the index has, whatever it had to forget in between. */
  @ParameterizedTest
  @ValueSource(ints = {0, 3, 12, 10_000})
  void whatIsKnownIsAllThereIs(int sizeMax) throws Exception {
    long seed = Long.getLong("ashlar.unfolded.seed", new Random().nextLong());
    Random random = new Random(seed);
    UnfoldedShards unfolded = new UnfoldedShards(index, sizeMax);
    for (int step = 0; step < 2000; step++) {
      change(unfolded, random);
      for (int i = 0; i < SHARDS; i++) {
        UnfoldedShards.Known known = unfolded.find(shard(i));
        if (known != null) {
          String where = "seed " + seed + ", step " + step;
          assertEquals(sets(index.rows().intents(shard(i))), sets(known.attempts()), where);
          assertEquals(index.rows().folded(shard(i)).revision(), known.folded(), where);
        }
      }
    }
  }

  @Test
  void shardWithinTheLimitIsKnownCompletely() throws Exception {
    UnfoldedShards unfolded = new UnfoldedShards(index, 4);
    ShardPiece first = piece(shard(0), 1, 0, 1);
    commit(unfolded, List.of(first), List.of());
    UnfoldedShards.Known known = unfolded.find(shard(0));
    assertNotNull(known);
    assertEquals(Map.of(new AttemptId(1, 1), List.of(first)), known.attempts());
    commit(unfolded, List.of(piece(shard(1), 1, 0, 1), piece(shard(1), 2, 5, 1)), List.of());
    assertTrue(unfolded.find(shard(0)) == null, "there was no room for both");
  }

  private void change(UnfoldedShards unfolded, Random random) throws Exception {
    ShardId shard = shard(random.nextInt(SHARDS));
    List<ShardPiece> present = new ArrayList<>();
    index.rows().intents(shard).values().forEach(present::addAll);
    if (!present.isEmpty() && random.nextInt(20) == 0) {
      removeShard(unfolded, shard, present);
      return;
    }
    List<ShardPiece> put = new ArrayList<>();
    List<ShardPiece> removed = new ArrayList<>();
    for (ShardPiece each : present) {
      switch (random.nextInt(4)) {
        case 0 -> removed.add(each);
        case 1 -> put.add(moved(each, random.nextInt(1000)));
        default -> {}
      }
    }
    if (present.size() < 10 && random.nextBoolean()) {
      long attempt = 1 + random.nextLong(1_000_000);
      put.add(piece(shard, attempt, 0, random.nextInt(1000)));
      put.add(piece(shard, attempt, 3, random.nextInt(1000)));
    }
    commit(unfolded, put, removed);
  }

  private void removeShard(UnfoldedShards unfolded, ShardId shard, List<ShardPiece> present)
      throws Exception {
    ShardIndex.Update update = index.update();
    for (ShardPiece piece : present) {
      update.remove(piece);
    }
    update.removeFolded(shard);
    update.commit(LogPosition.START);
    unfolded.removed(shard);
  }

  /** All of one shard. */
  private void commit(UnfoldedShards unfolded, List<ShardPiece> put, List<ShardPiece> removed)
      throws Exception {
    if (put.isEmpty() && removed.isEmpty()) {
      return;
    }
    ShardId shard = (put.isEmpty() ? removed : put).getFirst().shard();
    FoldState before = index.rows().folded(shard);
    FoldState folded = removed.isEmpty() ? null : before.upTo(before.revision() + 1);
    ShardIndex.Update update = index.update();
    for (ShardPiece piece : removed) {
      update.remove(piece);
    }
    for (ShardPiece piece : put) {
      update.put(piece);
    }
    if (folded != null) {
      update.putFolded(shard, folded);
    }
    update.commit(LogPosition.START);
    unfolded.changed(shard, put, removed, folded);
  }

  private static Map<AttemptId, Set<ShardPiece>> sets(Map<AttemptId, List<ShardPiece>> pieces) {
    Map<AttemptId, Set<ShardPiece>> sets = new HashMap<>();
    pieces.forEach((attempt, all) -> sets.put(attempt, new HashSet<>(all)));
    return sets;
  }

  private static ShardId shard(int number) {
    return new ShardId(new BlobId(1, number), 0);
  }

  private static final int[] CRCS = {7};

  private static ShardPiece piece(ShardId shard, long attempt, int block, int position) {
    ShardPiece.Intent intent = new ShardPiece.Intent(new AttemptId(1, attempt), 0, true, true);
    return new ShardPiece(
        shard, intent, new Extent(block, 4096, 1, position, 0, 1, CRCS, Extent.Stamp.ORIGINAL));
  }

  private static ShardPiece moved(ShardPiece piece, int position) {
    return piece.movedTo(
        new Extent(
            piece.extent().firstBlock(), 4096, 2, position, 0, 2, CRCS, Extent.Stamp.ORIGINAL));
  }
}
