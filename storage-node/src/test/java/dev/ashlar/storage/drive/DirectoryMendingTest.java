package dev.ashlar.storage.drive;

import static dev.ashlar.storage.drive.SimulatedCore.noise;
import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.AbstractShardChangesContract;
import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.compact.Compactor;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.index.ReadThrottle;
import dev.ashlar.storage.drive.log.LogRequest;
import dev.ashlar.storage.drive.scrub.ScrubPass;
import dev.ashlar.storage.drive.segment.BatchScanner;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.drive.segment.SegmentFormat.BatchHeader;
import dev.ashlar.storage.io.SimulatedDrive.PowerLoss;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * A batch of which the directory is damaged is known by the index alone. What the scrub finds so is
 * moved, and then also survives the loss of the index.
 */
class DirectoryMendingTest {
  private static final int BLOCK = SegmentFormat.BLOCK;

  /** Their records fill a block and a half. */
  private static final int SMALL_ONES = 150;

  private static final int SMALL_BYTES = 60;
  private static final ShardId CHANGED = new ShardId(new BlobId(1, 900), 0);
  private static final AttemptId ATTEMPT = new AttemptId(2, 1);
  private static final long DAMAGED = 1;
  private static final int FLIPS_PER_BLOCK = 4;

  /** With as many segments, and the one that is written to, new data gets no other. */
  private static final int NEARLY_FULL_SEGMENTS = 10;

  private static final DriveConfig.Limits NEARLY_FULL =
      TestDrives.TINY.withCapacity((NEARLY_FULL_SEGMENTS + 4L) * TestDrives.TINY.segmentBytes());

  private final long seed = Long.getLong("seed", System.nanoTime());
  private final Random random = new Random(seed);

  /** Of the shards that were written. */
  private final Map<Integer, byte[]> expected = new TreeMap<>();

  /** Two segments; of the first, three batches, one with a directory of two blocks. */
  private SimulatedCore written() throws IOException {
    expected.clear();
    SimulatedCore drive = new SimulatedCore(TestDrives.TINY);
    byte[][] small = new byte[SMALL_ONES][];
    for (int i = 0; i < SMALL_ONES; i++) {
      small[i] = noise(i, SMALL_BYTES);
      expected.put(1 + i, small[i]);
    }
    drive.commit(1, small);
    put(drive, 200, 20_000);
    put(drive, 201, 65_536 + 100);
    put(drive, 202, 90_000);
    assertEquals(2, drive.core().log().activeSegment());
    drive.core().index().checkpoint();
    return drive;
  }

  private void put(SimulatedCore drive, int blob, int bytes) throws IOException {
    byte[] payload = noise(blob, bytes);
    expected.put(blob, payload);
    drive.commit(blob, payload);
  }

  private static List<BatchHeader> batches(SimulatedCore drive) throws IOException {
    return batches(drive, DAMAGED);
  }

  private static List<BatchHeader> batches(SimulatedCore drive, long id) throws IOException {
    List<BatchHeader> found = new ArrayList<>();
    Segment segment = assertNotNullOf(drive.core().segments().get(id));
    try (BatchScanner scanner =
        new BatchScanner(SimulatedCore.DRIVE, TestDrives.TINY.segmentBytes(), drive.slabs)) {
      BatchHeader next = scanner.directoryAt(segment, 0);
      while (next != null) {
        found.add(next);
        next = scanner.directoryAt(segment, next.offset() + next.bytes());
      }
    }
    return found;
  }

  private static Segment assertNotNullOf(@Nullable Segment segment) {
    assertNotNull(segment);
    return requireNonNull(segment);
  }

  private void flip(SimulatedCore drive, int from, int to) {
    flip(drive, DAMAGED, from, to);
  }

  private void flip(SimulatedCore drive, long segment, int from, int to) {
    drive.disk.flipBit(
        Segment.fileName(segment), from + random.nextInt(to - from), random.nextInt(8));
  }

  /** Returns how many batches have lost their directories. */
  private static long scrub(SimulatedCore drive) throws IOException {
    ScrubPass scrub = drive.core().newScrub(ReadThrottle.NONE, TestDrives.CLOCK);
    scrub.begin();
    while (scrub.readNext(
        (shard, range, fault) -> {
          throw new AssertionError(shard + " is damaged: " + fault);
        })) {
      // one segment after the other
    }
    return scrub.state().unreadableDirectories();
  }

  private static void compact(SimulatedCore drive) throws IOException, ShardException {
    Compactor compactor = drive.compactor();
    while (compactor.emptyOne()) {
      compactor.free();
    }
  }

  private void checkAll(SimulatedCore drive, String what) throws ShardException {
    for (Map.Entry<Integer, byte[]> shard : expected.entrySet()) {
      byte[] bytes = shard.getValue();
      assertArrayEquals(bytes, drive.read(shard.getKey(), 0, bytes.length), what);
    }
  }

  @Test
  void damagedDirectoryIsReplacedSoThatARebuildFindsEverything() throws Exception {
    List<BatchHeader> batches = batches(written());
    assertTrue(batches.size() >= 3);
    assertTrue(batches.getFirst().directoryBytes() > BLOCK);
    for (BatchHeader batch : batches) {
      int end = batch.offset() + batch.directoryBytes();
      for (int from = batch.offset(); from < end; from += BLOCK) {
        for (int i = 0; i < FLIPS_PER_BLOCK; i++) {
          mended(from, Math.min(from + BLOCK, end));
        }
      }
    }
  }

  private void mended(int from, int to) throws Exception {
    String what = "seed " + seed + ", a bit from " + from;
    SimulatedCore drive = written();
    DriveId life = drive.core().drive();
    flip(drive, from, to);
    assertEquals(1, scrub(drive), what);
    compact(drive);
    assertNull(drive.core().segments().get(DAMAGED), what);
    checkAll(drive, what);
    assertEquals(0, scrub(drive), what);
    drive.index.lose();
    drive.reopen();
    checkAll(drive, what);
    assertEquals(life, drive.core().drive(), "no damage is left, " + what);
    assertEquals(0, drive.slabs.lentBytes());
  }

  @Test
  void withoutMendingOnlyTheIndexHasThePieces() throws Exception {
    SimulatedCore drive = written();
    DriveId life = drive.core().drive();
    flip(drive, 0, BLOCK);
    drive.index.lose();
    drive.reopen();
    assertEquals(ShardFault.MISSING, drive.readFault(1, 0, SMALL_BYTES));
    assertNotEquals(life, drive.core().drive());
  }

  /** Also several directories of one segment, and what was deleted meanwhile. */
  @Test
  void manyDirectoriesAreReplacedTogether() throws Exception {
    SimulatedCore drive = written();
    List<BatchHeader> batches = batches(drive);
    batches.forEach(batch -> flip(drive, batch.offset(), batch.offset() + 64));
    assertEquals(1, scrub(drive), "none is left that could tell them apart");
    drive.delete(201);
    expected.remove(201);
    compact(drive);
    assertNull(drive.core().segments().get(DAMAGED));
    drive.index.lose();
    drive.reopen();
    checkAll(drive, "seed " + seed);
  }

  @Test
  void aCrashAnywhereLosesNothing() throws Exception {
    int call = 0;
    boolean isThrough = false;
    while (!isThrough) {
      String what = "seed " + seed + ", power lost at call " + ++call;
      SimulatedCore drive = written();
      flip(drive, 0, BLOCK);
      assertEquals(1, scrub(drive), what);
      drive.disk.crashAtCall(call);
      try {
        compact(drive);
        isThrough = true;
      } catch (PowerLoss e) {
        assertEquals(0, drive.slabs.lentBytes(), what);
      }
      drive.disk.reboot();
      drive.index.crash(random);
      drive.reopen();
      checkAll(drive, what);
      scrub(drive);
      compact(drive);
      assertNull(drive.core().segments().get(DAMAGED), what);
      drive.index.lose();
      drive.reopen();
      checkAll(drive, what);
    }
    assertTrue(call > 3, "it writes, syncs and frees");
  }

  private static void change(SimulatedCore drive) throws IOException {
    ShardIntent.Target target = new ShardIntent.Target(CHANGED, ATTEMPT, ShardView.ORIGINAL, BLOCK);
    try {
      assertTrue(drive.prepare(AbstractShardChangesContract.bytes(target, 0, noise(902, BLOCK))));
    } catch (ShardException e) {
      throw new AssertionError(e);
    }
    assertEquals(List.of(), drive.fold(new FoldIntent(CHANGED, ATTEMPT, 1, 0)));
  }

  /** As after a write that the disk acknowledged and did not do. */
  @Test
  void aBatchThatIsLostInTheActiveSegmentIsFound() throws Exception {
    for (int lost = 0; lost < 3; lost++) {
      expected.clear();
      SimulatedCore drive = new SimulatedCore(TestDrives.TINY);
      for (int blob = 0; blob < 3; blob++) {
        put(drive, blob, 10_000);
      }
      assertEquals(DAMAGED, drive.core().log().activeSegment());
      BatchHeader batch = batches(drive).get(lost);
      flip(drive, batch.offset(), batch.offset() + batch.directoryBytes());
      flip(drive, batch.offset() + BLOCK, batch.offset() + 2 * BLOCK);
      Set<Long> damaged = new HashSet<>();
      ScrubPass scrub = drive.core().newScrub(ReadThrottle.NONE, TestDrives.CLOCK);
      scrub.begin();
      while (scrub.readNext((shard, range, fault) -> damaged.add(shard.blob().sequence()))) {
        // one segment after the other
      }
      assertEquals(Set.of((long) lost), damaged, "seed " + seed);
      assertEquals(1, scrub.state().unreadableDirectories());
      compact(drive);
      expected.remove(lost);
      drive.index.lose();
      drive.reopen();
      checkAll(drive, "seed " + seed);
    }
  }

  /**
   * With a fold's mark it would not be known after the loss of the index that a shard was changed:
   * the segment stays, so that the damage is met, and the shard counts as lost.
   */
  @Test
  void aSegmentThatHasLostMarksIsMovedButStays() throws Exception {
    expected.clear();
    SimulatedCore drive = new SimulatedCore(TestDrives.TINY);
    drive.commit(900, noise(900, BLOCK));
    change(drive);
    List<BatchHeader> batches = batches(drive);
    assertEquals(3, batches.size(), "the shard, the intent, the fold");
    put(drive, 1, 30_000);
    put(drive, 2, 80_000);
    assertEquals(2, drive.core().log().activeSegment());
    drive.core().index().checkpoint();
    DriveId life = drive.core().drive();
    BatchHeader mark = batches.getLast();
    flip(drive, mark.offset(), mark.offset() + mark.directoryBytes());
    BatchHeader data = batches.getFirst();
    flip(drive, data.offset(), data.offset() + data.directoryBytes());
    assertEquals(1, scrub(drive), "nothing live is in the batch of the mark");
    compact(drive);
    Segment left = assertNotNullOf(drive.core().segments().get(DAMAGED));
    assertEquals(0, left.use().liveBytes());
    ShardView folded = new ShardView(1, 1, List.of());
    assertArrayEquals(noise(902, BLOCK), drive.read(CHANGED, folded, 0, BLOCK));
    checkAll(drive, "seed " + seed);
    drive.index.lose();
    drive.reopen();
    checkAll(drive, "what was never changed is found, seed " + seed);
    assertNotEquals(life, drive.core().drive());
    ShardException lost = null;
    try {
      drive.read(CHANGED, folded, 0, BLOCK);
    } catch (ShardException e) {
      lost = e;
    }
    assertNotNull(lost, "an older state of it must not be taken for this one");
  }

  /** The first segment ends with a fold's mark, whose directory is damaged. */
  @Test
  void damageAtTheEndOfASegmentIsMet() throws Exception {
    expected.clear();
    SimulatedCore drive = new SimulatedCore(TestDrives.TINY);
    drive.commit(900, noise(900, BLOCK));
    for (int blob = 1; drive.core().log().activeRoomBytes() > 40_000; blob++) {
      put(drive, blob, 20_000);
    }
    change(drive);
    put(drive, 100, 60_000);
    assertEquals(2, drive.core().log().activeSegment());
    DriveId life = drive.core().drive();
    BatchHeader mark = batches(drive).getLast();
    flip(drive, mark.offset(), mark.offset() + mark.directoryBytes());
    drive.index.lose();
    drive.reopen();
    checkAll(drive, "seed " + seed);
    assertNotEquals(life, drive.core().drive());
  }

  /**
   * Segments with live data in two batches, and between them one with a mark, whose directory is
   * damaged.
   *
   * @param dataBytes of the first batch
   */
  private SimulatedCore withLostMarks(DriveConfig.Limits limits, int segments, int dataBytes)
      throws IOException {
    expected.clear();
    SimulatedCore drive = new SimulatedCore(limits);
    for (int i = 0; i < segments; i++) {
      byte[] data = noise(i, dataBytes);
      drive.commit(1000 + 2 * i, data, noise(i, 100));
      expected.put(1000 + 2 * i, data);
      drive.delete(1000 + 2 * i + 1);
      put(drive, 2000 + i, 4000);
      assertEquals(1 + i, drive.core().log().activeSegment());
    }
    put(drive, 3000, 118_000);
    assertEquals(1 + segments, drive.core().log().activeSegment());
    drive.core().index().checkpoint();
    for (long segment = 1; segment <= segments; segment++) {
      BatchHeader lost = batches(drive, segment).get(1);
      flip(drive, segment, lost.offset(), lost.offset() + lost.directoryBytes());
    }
    return drive;
  }

  /** Else all marks that are ever written would be carried along, because of that one segment. */
  @Test
  void marksDoNotWaitForASegmentThatStays() throws Exception {
    SimulatedCore drive = withLostMarks(TestDrives.TINY, 1, 118_000);
    flip(drive, 0, SegmentFormat.HEADER_BYTES);
    assertEquals(1, scrub(drive));
    compact(drive);
    assertEquals(0, assertNotNullOf(drive.core().segments().get(DAMAGED)).use().liveBytes());
    int rounds = 100;
    for (int blob = 1; blob <= rounds; blob++) {
      drive.commit(blob, noise(blob, 30_000));
      drive.delete(blob);
    }
    compact(drive);
    int marks = 0;
    for (Segment segment : drive.core().segments().all()) {
      marks += segment.id() == DAMAGED ? 0 : segment.use().marks();
    }
    assertTrue(marks < rounds / 4, marks + " marks are left of " + rounds);
    checkAll(drive, "seed " + seed);
  }

  /** What is mended takes room and may free none: deletes and moves go on to have theirs. */
  @Test
  void mendingDoesNotUseTheReserve() throws Exception {
    SimulatedCore drive = withLostMarks(NEARLY_FULL, NEARLY_FULL_SEGMENTS, 118_000);
    for (long segment = 1; segment <= NEARLY_FULL_SEGMENTS; segment++) {
      flip(drive, segment, 0, SegmentFormat.HEADER_BYTES);
    }
    assertEquals(NEARLY_FULL_SEGMENTS, scrub(drive));
    canDeleteAfterCompaction(drive);
  }

  /** Segments of which less than a half is live; what is moved out of two of them fills one. */
  @Test
  void unfreeableSegmentDoesNotUseTheReserve() throws Exception {
    SimulatedCore drive = withLostMarks(NEARLY_FULL, NEARLY_FULL_SEGMENTS, 58_000);
    LogRequest write =
        new LogRequest.Write(
            AbstractShardStoreContract.shardWrite(
                new ShardId(new BlobId(1, 4000), 0), 0, noise(4000, 100_000)),
            new Answer<>());
    assertFalse(drive.commitOne(write));
    assertTrue(drive.core().segments().isFull());
    canDeleteAfterCompaction(drive);
  }

  private void canDeleteAfterCompaction(SimulatedCore drive) throws Exception {
    Compactor compactor = drive.compactor();
    for (int i = 0; i < 2 * NEARLY_FULL_SEGMENTS; i++) {
      drive.core().segments().prepare(drive.core().log().activeRoomBytes());
      if (compactor.emptyOne()) {
        compactor.free();
      }
    }
    LogRequest delete = new LogRequest.Delete(List.of(new BlobId(1, 3000)), new Answer<>());
    assertTrue(drive.commitOne(delete), "a full drive could never be worked free");
    expected.remove(3000);
    checkAll(drive, "seed " + seed);
  }
}
