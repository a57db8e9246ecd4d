package dev.ashlar.storage.drive.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.DriveResources;
import dev.ashlar.storage.drive.TestDrives;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.drive.segment.ShardPiece;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RocksShardIndexTest {
  private static final int PATCHED_BLOCKS = 70;

  @TempDir Path folder;

  /** The index guesses where extents begin from those it met; others must be found as well. */
  @Test
  void findsTheExtentOfEachBlockHoweverLongExtentsAre() throws Exception {
    int[][] shards = {
      {64, 64, 64, 10}, {84, 84, 84, 84, 1}, {256, 256, 3}, {7, 32, 1, 64, 64}, {1, 1, 1}, {5, 90}
    };
    try (DriveResources resources = TestDrives.resources(new SlabPool(1 << 20));
        RocksShardIndex index = TestDrives.index(folder.resolve("index"), resources)) {
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
        assertNull(index.findCached(shard(shards.length + 1), 0));
      }
      expectCached(index, shard(0), shards[0]);
    }
  }

  /** As long as nothing is written to files, all of it is in memory. */
  private static void expectCached(RocksShardIndex index, ShardId shard, int[] extents)
      throws Exception {
    index.find(shard, extents[0]); // teaches it how long extents are now
    int first = 0;
    for (int blocks : extents) {
      for (int block = first; block < first + blocks; block++) {
        Extent found = index.findCached(shard, block);
        assertNotNull(found);
        assertEquals(first, found.firstBlock());
      }
      first += blocks;
    }
    assertNull(index.findCached(shard, first));
  }

  /** Patches share rows; each must still come and go by itself. */
  @Test
  void hasEachPatchThatWasPutAndNotRemoved() throws Exception {
    long seed = Long.getLong("ashlar.sim.seed", System.nanoTime());
    Random random = new Random(seed);
    Map<ShardId, NavigableMap<Integer, Extent>> model = new HashMap<>();
    try (DriveResources resources = TestDrives.resources(new SlabPool(1 << 20));
        RocksShardIndex index = TestDrives.index(folder.resolve("index"), resources)) {
      for (int commit = 0; commit < 300; commit++) {
        change(index, model, random);
        ShardId shard = shard(random.nextInt(2));
        NavigableMap<Integer, Extent> present = model.getOrDefault(shard, new TreeMap<>());
        int first = random.nextInt(PATCHED_BLOCKS);
        int last = first + random.nextInt(PATCHED_BLOCKS);
        String where = "seed " + seed + ", commit " + commit + ", " + first + " to " + last;
        assertSame(
            List.copyOf(present.subMap(first, true, last, true).values()),
            index.latest().patches(shard, first, last),
            where);
        Extent one = present.get(first);
        Extent found = index.latest().at(shard, ShardPiece.Role.PATCH, first);
        assertSame(
            one == null ? List.of() : List.of(one),
            found == null ? List.of() : List.of(found),
            where);
      }
    }
  }

  /** Of all slots of the blob, and nothing of its neighbours. */
  @Test
  void tellsWhatOfABlobIsNotFolded() throws Exception {
    try (DriveResources resources = TestDrives.resources(new SlabPool(1 << 20));
        RocksShardIndex index = TestDrives.index(folder.resolve("index"), resources)) {
      ShardIndex.Update update = index.update();
      Set<String> expected = new HashSet<>();
      for (long blob = 1; blob <= 3; blob++) {
        for (int slot = 0; slot < 2; slot++) {
          ShardId shard = new ShardId(new BlobId(1, blob), slot);
          Extent extent =
              new Extent(slot, SegmentFormat.BLOCK, 1, 0, 0, 1, new int[1], Extent.Stamp.ORIGINAL);
          update.put(ShardPiece.base(shard, extent));
          update.put(ShardPiece.patch(shard, extent.block(slot, new Extent.Stamp(1, 1))));
          for (long attempt = 5; attempt <= 6; attempt++) {
            AttemptId id = new AttemptId(1, attempt);
            update.put(new ShardPiece(shard, new ShardPiece.Intent(id, 0, true, true), extent));
            if (blob == 2) {
              expected.add(shard + " " + id);
            }
          }
        }
      }
      update.commit(index.position());
      Set<String> found = new HashSet<>();
      for (ShardPiece piece : index.unfolded(new BlobId(1, 2))) {
        found.add(piece.shard() + " " + ((ShardPiece.Intent) piece.role()).attempt());
      }
      assertEquals(expected, found);
      assertEquals(4, found.size());
    }
  }

  /** Also of negative numbers, and with several rows of a blob. */
  @Test
  void tellsOfChangedBlobsInOrder() throws Exception {
    try (DriveResources resources = TestDrives.resources(new SlabPool(1 << 20));
        RocksShardIndex index = TestDrives.index(folder.resolve("index"), resources)) {
      ShardIndex.Update update = index.update();
      TreeSet<BlobId> expected = new TreeSet<>();
      for (int i = 0; i < 40; i++) {
        ShardId shard = new ShardId(new BlobId(i % 5 - 2, i * 7 % 11 - 5), i % 3);
        Extent extent =
            new Extent(0, SegmentFormat.BLOCK, 1, 0, 0, 1, new int[1], Extent.Stamp.ORIGINAL);
        ShardPiece.Intent attempt = new ShardPiece.Intent(new AttemptId(1, i), 0, true, true);
        switch (i % 4) {
          case 0 -> update.put(ShardPiece.base(shard, extent));
          case 1 -> update.put(new ShardPiece(shard, attempt, extent));
          default -> update.putFolded(shard, new FoldState(i, 1, 1));
        }
        if (i % 4 > 0) {
          expected.add(shard.blob());
        }
      }
      update.commit(index.position());
      for (int max : new int[] {1, 3, 100}) {
        List<BlobId> found = new ArrayList<>();
        List<BlobId> page = index.changedBlobs(null, max);
        while (!page.isEmpty()) {
          assertTrue(page.size() <= max);
          found.addAll(page);
          page = index.changedBlobs(page.getLast(), max);
        }
        assertEquals(List.copyOf(expected), found, "by " + max);
      }
    }
  }

  private static void change(
      RocksShardIndex index, Map<ShardId, NavigableMap<Integer, Extent>> model, Random random)
      throws Exception {
    ShardIndex.Update update = index.update();
    for (int i = random.nextInt(6); i >= 0; i--) {
      ShardId shard = shard(random.nextInt(2));
      NavigableMap<Integer, Extent> present = model.computeIfAbsent(shard, id -> new TreeMap<>());
      int block = random.nextInt(PATCHED_BLOCKS);
      if (random.nextInt(3) == 0) {
        Extent gone = present.remove(block);
        if (gone != null) {
          update.remove(ShardPiece.patch(shard, gone));
        }
      } else {
        putRun(update, present, shard, block, random);
      }
      Extent expected = present.get(block);
      Extent found = update.patchAt(shard, block);
      assertEquals(expected == null, found == null);
      if (expected != null && found != null) {
        assertSame(List.of(expected), List.of(found), "seed");
      }
    }
    update.commit(index.position());
  }

  /** Neighbours of one write, the last of them perhaps short. */
  private static void putRun(
      ShardIndex.Update update,
      NavigableMap<Integer, Extent> present,
      ShardId shard,
      int block,
      Random random)
      throws Exception {
    int blocks = 1 + random.nextInt(6);
    int length = blocks * SegmentFormat.BLOCK - random.nextInt(2) * 100;
    int[] crcs = random.ints(blocks).toArray();
    Extent run =
        new Extent(
            block,
            length,
            1 + random.nextInt(3),
            4096,
            0,
            random.nextInt(9),
            crcs,
            Extent.Stamp.ORIGINAL);
    for (int each = block; each < block + blocks; each++) {
      Extent patch = run.block(each, new Extent.Stamp(random.nextInt(1, 3), 1));
      update.put(ShardPiece.patch(shard, patch));
      present.put(each, patch);
    }
  }

  /** Extents hold arrays, so records of them are compared as text. */
  private static void assertSame(List<Extent> expected, List<Extent> found, String where) {
    assertEquals(texts(expected), texts(found), where);
  }

  private static List<String> texts(List<Extent> extents) {
    return extents.stream()
        .map(each -> each + Arrays.toString(each.crcs()))
        .map(text -> text.replaceAll("crcs=[^,]*", ""))
        .toList();
  }

  private static ShardId shard(int number) {
    return new ShardId(new BlobId(1, number), 2);
  }

  private static void put(RocksShardIndex index, ShardId shard, int firstBlock, int[] blocks)
      throws Exception {
    ShardIndex.Update update = index.update();
    int first = firstBlock;
    for (int count : blocks) {
      Extent extent =
          new Extent(
              first,
              count * SegmentFormat.BLOCK,
              1,
              0,
              0,
              1,
              new int[count],
              Extent.Stamp.ORIGINAL);
      update.put(ShardPiece.base(shard, extent));
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
