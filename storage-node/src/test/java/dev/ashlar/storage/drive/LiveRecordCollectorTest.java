package dev.ashlar.storage.drive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.AbstractShardChangesContract;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.cache.UnfoldedShards;
import dev.ashlar.storage.drive.change.ExtentMerger;
import dev.ashlar.storage.drive.compact.LiveRecordCollector;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.index.FoldState;
import dev.ashlar.storage.drive.index.ShardIndex;
import dev.ashlar.storage.drive.segment.BatchScanner;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFormat.BatchHeader;
import dev.ashlar.storage.drive.segment.ShardPiece;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LiveRecordCollectorTest {
  private static final int BLOCK = Profile.BLOCK_BYTES;
  private static final int SHARDS = 5;
  private static final int CHANGES = 600;

  /** Segments of 512 KiB, so that merged extents fit. */
  private static final DriveConfig.Limits LIMITS =
      new DriveConfig.Limits(
          512 << 10,
          Long.MAX_VALUE,
          128 << 10,
          64,
          1 << 20,
          64,
          512 << 10,
          1,
          1,
          TestDrives.STALL,
          TestDrives.STALL);

  private final SimulatedCore drive;
  private final Map<ShardId, Integer> blocks = new HashMap<>();

  LiveRecordCollectorTest() throws IOException {
    drive = new SimulatedCore(LIMITS);
  }

  /** Of each segment, whatever became of the intents in it. */
  @Test
  void onlyRecordsInTheIndexAreCollected() throws Exception {
    long seed = Long.getLong("ashlar.needed.seed", new Random().nextLong());
    Random random = new Random(seed);
    change(random);
    UnfoldedShards unfolded = new UnfoldedShards(drive.index, UnfoldedShards.SIZE_MAX);
    Map<Long, Set<ShardPiece>> named = named();
    int folded = 0;
    int unchanged = 0;
    for (ShardPiece piece : named.values().stream().flatMap(Set::stream).toList()) {
      if (piece.role() instanceof ShardPiece.Intent) {
        unfolded.changed(piece.shard(), List.of(piece), List.of(), null);
        unchanged++;
      } else {
        folded++;
      }
    }
    assertTrue(folded > 0 && unchanged > 0, "seed " + seed);
    for (Segment segment : drive.core().segments().all()) {
      for (UnfoldedShards known : List.of(unfolded, new UnfoldedShards(drive.index, 0))) {
        List<ShardPiece> found = found(segment, known);
        String where = "seed " + seed + ", " + segment;
        assertEquals(found.size(), new HashSet<>(found).size(), where);
        assertEquals(named.getOrDefault(segment.id(), Set.of()), new HashSet<>(found), where);
        List<ShardPiece> ordered = new ArrayList<>(found);
        ordered.sort((a, b) -> Integer.compare(a.extent().position(), b.extent().position()));
        assertEquals(ordered, found, where + ": neighbours are to be read together");
      }
    }
  }

  @Test
  void deadSegmentNeedsNoLookup() throws Exception {
    change(new Random(1));
    Segment first = drive.core().segments().all().iterator().next();
    for (int number = 0; number < SHARDS; number++) {
      drive.delete((int) shard(number).blob().sequence());
    }
    assertEquals(0, first.use().liveBytes());
    assertEquals(List.of(), found(first, new UnfoldedShards(drive.index, 0)));
  }

  /** Appends, overwrites and merges; of the last shard nothing is folded. */
  private void change(Random random) throws Exception {
    ExtentMerger coalescer = drive.coalescer();
    for (int number = 0; number < SHARDS; number++) {
      ShardChanges.write(drive, shard(number), SimulatedCore.noise(number, 3 * BLOCK));
      blocks.put(shard(number), 3);
    }
    int[] revisions = new int[SHARDS];
    for (int i = 0; i < CHANGES; i++) {
      int number = random.nextInt(SHARDS);
      ShardId shard = shard(number);
      int present = blocks.getOrDefault(shard, 0);
      boolean isAppend = random.nextInt(3) > 0;
      int count = 1 + random.nextInt(3);
      int first = isAppend ? present : random.nextInt(present - 2);
      boolean isFolded = number < SHARDS - 1;
      int revision = ++revisions[number];
      ShardView base =
          isFolded ? new ShardView(revision - 1, revision - 1, List.of()) : ShardView.ORIGINAL;
      AttemptId attempt = new AttemptId(4, i);
      ShardIntent.Target target =
          new ShardIntent.Target(shard, attempt, base, (long) (isFolded ? present : 3) * BLOCK);
      int from = isFolded ? first : 0;
      drive.prepare(
          AbstractShardChangesContract.bytes(
              target, (long) from * BLOCK, SimulatedCore.noise(i, count * BLOCK)));
      if (isFolded) {
        assertTrue(drive.fold(new FoldIntent(shard, attempt, revision, revision - 1)).isEmpty());
        blocks.put(shard, Math.max(present, first + count));
      }
      if (random.nextInt(10) == 0) {
        coalescer.mergeOne();
      }
    }
    assertFalse(drive.core().segments().isFull());
  }

  private static ShardId shard(int number) {
    return new ShardId(new BlobId(1, 1 + number), number);
  }

  private Map<Long, Set<ShardPiece>> named() throws IOException {
    Map<Long, Set<ShardPiece>> named = new HashMap<>();
    for (int number = 0; number < SHARDS; number++) {
      drive.index.forEachRow(
          shard(number).blob(),
          new ShardIndex.RowVisitor() {
            @Override
            public void piece(ShardPiece piece) {
              named.computeIfAbsent(piece.extent().segment(), id -> new HashSet<>()).add(piece);
            }

            @Override
            public void folded(ShardId shard, FoldState folded) {}
          });
    }
    return named;
  }

  private List<ShardPiece> found(Segment segment, UnfoldedShards unfolded) throws IOException {
    int segmentBytes = LIMITS.segmentBytes();
    LiveRecordCollector needed =
        new LiveRecordCollector(drive.index, unfolded, drive.core().segments(), segment);
    try (BatchScanner scanner = new BatchScanner(SimulatedCore.DRIVE, segmentBytes, drive.slabs)) {
      for (int offset = 0; offset < segmentBytes; ) {
        BatchHeader header = scanner.directoryAt(segment, offset);
        if (header == null) {
          break;
        }
        offset = header.offset() + header.bytes();
        scanner.forEachRecord(header, needed);
      }
    }
    needed.lookUp();
    return needed.take(Integer.MAX_VALUE).pieces();
  }
}
