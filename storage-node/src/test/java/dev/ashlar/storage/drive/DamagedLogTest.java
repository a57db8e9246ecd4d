package dev.ashlar.storage.drive;

import static dev.ashlar.storage.drive.SimulatedCore.noise;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.AbstractShardChangesContract;
import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.CommittedAttempt;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.compact.Compactor;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.index.FoldState;
import dev.ashlar.storage.drive.index.ReadThrottle;
import dev.ashlar.storage.drive.index.ShardIndex;
import dev.ashlar.storage.drive.log.LogRequest;
import dev.ashlar.storage.drive.segment.LogPosition;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Damage in the log deletes the changed shards that it may have changed, and no others. */
class DamagedLogTest {
  private static final int BLOCK = SegmentFormat.BLOCK;
  private static final long FIRST_INCARNATION = 1000;
  private static final ShardId HIT = new ShardId(new BlobId(7, 1), 0);
  private static final ShardId FOLDED = new ShardId(new BlobId(7, 2), 1);
  private static final ShardId UNFOLDED = new ShardId(new BlobId(7, 3), 2);

  private static void write(SimulatedCore drive, ShardId shard) throws IOException {
    drive.commitOne(
        new LogRequest.Write(
            AbstractShardStoreContract.shardWrite(shard, 0, original(shard)), new Answer<>()));
  }

  /** Block {@code revision} of the shard, in a batch of its own. */
  private static void change(SimulatedCore drive, ShardId shard, int revision, int block)
      throws IOException, ShardException {
    ShardIntent.Target target =
        new ShardIntent.Target(shard, attempt(shard, revision), ShardView.ORIGINAL, 4 * BLOCK);
    drive.prepare(
        AbstractShardChangesContract.bytes(
            target, (long) block * BLOCK, changed(shard, revision, block)));
  }

  private static void fold(SimulatedCore drive, ShardId shard, int revision) throws IOException {
    assertEquals(
        List.of(),
        drive.fold(new FoldIntent(shard, attempt(shard, revision), revision, revision - 1)));
  }

  private static AttemptId attempt(ShardId shard, int revision) {
    return new AttemptId(8, 100 * shard.blob().sequence() + revision);
  }

  private static byte[] original(ShardId shard) {
    return noise((int) shard.blob().sequence(), 4 * BLOCK);
  }

  private static byte[] changed(ShardId shard, int revision, int block) {
    return noise((int) (1000 * revision + 10 * block + shard.blob().sequence()), BLOCK);
  }

  private static ShardView view(ShardId shard, int folded, int... unfolded) {
    List<CommittedAttempt> attempts =
        Arrays.stream(unfolded)
            .mapToObj(revision -> new CommittedAttempt(attempt(shard, revision), revision))
            .toList();
    int revision = unfolded.length == 0 ? folded : unfolded[unfolded.length - 1];
    return new ShardView(revision, folded, attempts);
  }

  private static ShardFault fault(SimulatedCore drive, ShardId shard, ShardView view) {
    return assertThrows(ShardException.class, () -> drive.read(shard, view, 0, BLOCK)).fault();
  }

  /** Two shards with a folded and an unfolded change, before anything is damaged. */
  private static SimulatedCore withOthers(DriveConfig.Limits limits) throws Exception {
    SimulatedCore drive = new SimulatedCore(limits);
    write(drive, FOLDED);
    change(drive, FOLDED, 1, 0);
    fold(drive, FOLDED, 1);
    write(drive, UNFOLDED);
    change(drive, UNFOLDED, 1, 2);
    return drive;
  }

  private static void checkOthers(SimulatedCore drive) throws ShardException {
    assertArrayEquals(
        changed(FOLDED, 1, 0), drive.read(FOLDED, view(FOLDED, 1), 0, BLOCK), "folded");
    assertArrayEquals(
        changed(UNFOLDED, 1, 2),
        drive.read(UNFOLDED, view(UNFOLDED, 0, 1), 2 * BLOCK, BLOCK),
        "unfolded");
  }

  private static void flip(SimulatedCore drive, LogPosition batch) {
    drive.disk.flipBit(Segment.fileName(batch.segment()), batch.offset() + 41, 3);
  }

  @Test
  void damagedBatchLosesOnlyItsChangedShards() throws Exception {
    SimulatedCore drive = withOthers(TestDrives.LIMITS);
    write(drive, HIT);
    change(drive, HIT, 1, 0);
    LogPosition damaged = drive.core().log().end();
    change(drive, HIT, 1, 1);
    drive.commit(8, noise(8, 100));
    flip(drive, damaged);
    drive.index.lose();
    drive.reopen();
    assertEquals(FIRST_INCARNATION + 1, drive.core().drive().incarnation());
    assertEquals(ShardFault.MISSING, fault(drive, HIT, view(HIT, 0, 1)), "a half of its change");
    checkOthers(drive);
    assertArrayEquals(noise(8, 100), drive.read(8, 0, 100));
    assertFalse(DriveIdentity.read(drive.disk).changesLost());
  }

  @Test
  void lostFoldLosesItsShard() throws Exception {
    SimulatedCore drive = withOthers(TestDrives.LIMITS);
    write(drive, HIT);
    change(drive, HIT, 1, 0);
    change(drive, HIT, 2, 1);
    LogPosition damaged = drive.core().log().end();
    fold(drive, HIT, 1);
    fold(drive, HIT, 2);
    flip(drive, damaged);
    drive.index.lose();
    drive.reopen();
    assertEquals(ShardFault.MISSING, fault(drive, HIT, view(HIT, 2)), "without its first change");
    checkOthers(drive);
  }

  @Test
  void severalDamagedBatchesLoseTheirShards() throws Exception {
    SimulatedCore drive = withOthers(TestDrives.LIMITS);
    write(drive, HIT);
    change(drive, HIT, 1, 0);
    for (int blob = 10; blob < 20; blob++) {
      LogPosition damaged = drive.core().log().end();
      if (blob == 12) {
        change(drive, HIT, 1, 1);
      } else {
        drive.commit(blob, noise(blob, 100));
      }
      flip(drive, damaged);
    }
    drive.commit(30, noise(30, 100));
    drive.index.lose();
    drive.reopen();
    assertEquals(ShardFault.MISSING, fault(drive, HIT, view(HIT, 0, 1)));
    checkOthers(drive);
    assertArrayEquals(noise(30, 100), drive.read(30, 0, 100));
  }

  /** A change of 4 KiB takes its block and one for the directory, whatever came before it. */
  @Test
  void historyIsStoredInPadding() throws Exception {
    SimulatedCore drive = withOthers(TestDrives.LIMITS);
    write(drive, HIT);
    for (int revision = 1; revision <= 200; revision++) {
      int before = drive.core().log().end().offset();
      change(drive, HIT, revision, 0);
      assertEquals(2 * BLOCK, drive.core().log().end().offset() - before);
    }
  }

  /** Damage that the index need not be rebuilt for: its batch lies behind the checkpoint. */
  @Test
  void damageAfterTheCheckpointLosesOnlyItsShards() throws Exception {
    SimulatedCore drive = withOthers(TestDrives.LIMITS);
    write(drive, HIT);
    change(drive, HIT, 1, 0);
    drive.index.checkpoint();
    LogPosition damaged = drive.core().log().end();
    change(drive, HIT, 1, 1);
    drive.commit(8, noise(8, 100));
    flip(drive, damaged);
    drive.index.crash(new Random(1));
    drive.reopen();
    assertEquals(FIRST_INCARNATION + 1, drive.core().drive().incarnation());
    assertEquals(ShardFault.MISSING, fault(drive, HIT, view(HIT, 0, 1)));
    checkOthers(drive);
  }

  @Test
  void lostSegmentLosesItsChangedShards() throws Exception {
    SimulatedCore drive = new SimulatedCore(TestDrives.TINY);
    write(drive, HIT);
    change(drive, HIT, 1, 0);
    drive.commit(8, noise(8, 100_000));
    write(drive, FOLDED);
    change(drive, FOLDED, 1, 0);
    fold(drive, FOLDED, 1);
    write(drive, UNFOLDED);
    change(drive, UNFOLDED, 1, 2);
    assertEquals(2, drive.core().log().activeSegment());
    drive.index.checkpoint();
    drive.disk.delete(Segment.fileName(1));
    drive.reopen();
    assertEquals(FIRST_INCARNATION + 1, drive.core().drive().incarnation());
    assertEquals(ShardFault.MISSING, fault(drive, HIT, view(HIT, 0, 1)));
    checkOthers(drive);
    drive.index.lose();
    drive.reopen();
    assertEquals(ShardFault.MISSING, fault(drive, HIT, view(HIT, 0, 1)), "not in a rebuild either");
    checkOthers(drive);
  }

  /**
   * The last batch of a segment cannot be read, and the next segment was freed: that sequences are
   * missing is as it has to be, but not all of them are.
   */
  @Test
  void unreadableBatchBeforeAFreedSegmentLosesChangedShards() throws Exception {
    SimulatedCore drive = new SimulatedCore(TestDrives.TINY);
    write(drive, HIT);
    LogPosition damaged = drive.core().log().end();
    change(drive, HIT, 1, 0);
    drive.commit(8, noise(8, 31 * BLOCK));
    fold(drive, HIT, 1);
    assertEquals(1, damaged.segment());
    assertEquals(3, drive.core().log().activeSegment());
    drive.delete(8);
    Compactor compactor = drive.compactor();
    assertTrue(compactor.emptyOne());
    compactor.free();
    assertNull(drive.core().segments().get(2), "was freed");
    drive.disk.makeUnreadable(
        Segment.fileName(damaged.segment()), damaged.offset(), damaged.offset() + 1L);
    drive.index.lose();
    drive.reopen();
    assertTrue(drive.core().drive().incarnation() > FIRST_INCARNATION);
    assertEquals(ShardFault.MISSING, fault(drive, HIT, view(HIT, 1)), "without its change");
  }

  /** What follows a batch proves it durable, so only its directory is read in a rebuild. */
  @Test
  void unreadablePayloadLosesNothingElse() throws Exception {
    SimulatedCore drive = withOthers(TestDrives.LIMITS);
    LogPosition damaged = drive.core().log().end();
    drive.commit(8, noise(8, 3 * BLOCK));
    drive.commit(9, noise(9, 100));
    int payload = damaged.offset() + 2 * BLOCK;
    drive.disk.makeUnreadable(Segment.fileName(damaged.segment()), payload, payload + 1L);
    drive.index.lose();
    drive.reopen();
    assertEquals(FIRST_INCARNATION, drive.core().drive().incarnation());
    checkOthers(drive);
    assertEquals(ShardFault.IO_ERROR, drive.readFault(8, 0, 3 * BLOCK));
    assertEquals(List.of(new ShardId(new BlobId(1, 8), 0)), scrub(drive));
    assertArrayEquals(noise(9, 100), drive.read(9, 0, 100));
  }

  @Test
  void damagedPayloadIsFoundAfterARebuild() throws Exception {
    SimulatedCore drive = withOthers(TestDrives.LIMITS);
    LogPosition damaged = drive.core().log().end();
    drive.commit(8, noise(8, 3 * BLOCK));
    drive.core().log().confirm();
    drive.disk.flipBit(Segment.fileName(damaged.segment()), damaged.offset() + 2 * BLOCK, 3);
    drive.index.lose();
    drive.reopen();
    assertEquals(FIRST_INCARNATION, drive.core().drive().incarnation());
    checkOthers(drive);
    assertEquals(ShardFault.CORRUPT, drive.readFault(8, 0, 3 * BLOCK));
    assertEquals(List.of(new ShardId(new BlobId(1, 8), 0)), scrub(drive));
  }

  /** A drive may have many millions of them, and no memory for their names. */
  @Test
  void changedShardsAreDeletedInPages() throws Exception {
    int blobs = 5 * LogRequest.Delete.BLOBS_MAX;
    SimulatedCore drive = new SimulatedCore(TestDrives.LIMITS);
    ShardIndex.Update folded = drive.index.update();
    for (int blob = 1; blob <= blobs; blob++) {
      drive.commit(blob, noise(blob, 10));
      folded.putFolded(new ShardId(new BlobId(1, blob), 0), new FoldState(1, 1, 2));
    }
    folded.commit(drive.core().log().end());
    DriveIdentity.read(drive.disk).withChangesLost(true).write(drive.disk);
    drive.reopen();
    for (int blob = 1; blob <= blobs; blob++) {
      assertEquals(ShardFault.MISSING, drive.readFault(blob, 0, 10));
    }
    assertFalse(DriveIdentity.read(drive.disk).changesLost());
    long most = drive.index.changedToldMost();
    assertTrue(most <= 2L * LogRequest.Delete.BLOBS_MAX, () -> most + " at once");
  }

  /** The shards that are found damaged. */
  private static List<ShardId> scrub(SimulatedCore drive) throws IOException {
    List<ShardId> found = new ArrayList<>();
    for (Segment segment : drive.core().segments().all()) {
      drive
          .core()
          .newSegmentVerifier(ReadThrottle.NONE, (shard, range, fault) -> found.add(shard))
          .verify(segment.id());
    }
    return found.stream().distinct().toList();
  }

  /** A block of each batch, and what lies behind the last batch of a segment. */
  @Test
  void aRebuildReadsDirectoriesAndNoPayloads() throws Exception {
    int batches = 100;
    SimulatedCore drive = new SimulatedCore(TestDrives.LIMITS);
    for (int blob = 1; blob <= batches; blob++) {
      drive.commit(blob, noise(blob, 100_000));
    }
    LogPosition end = drive.core().log().end();
    assertEquals(3, end.segment());
    int segmentBytes = TestDrives.LIMITS.segmentBytes();
    long behind = 2 * 110_000L + segmentBytes - end.offset();
    long lastBatch = 110_000 + 2 * 64 * 1024L; // whole, and looked for from its end
    long before = drive.disk.readBytes();
    drive.index.lose();
    drive.reopen();
    long read = drive.disk.readBytes() - before;
    assertTrue(
        read <= (batches + 8L) * BLOCK + behind + lastBatch,
        () -> read + " bytes for " + batches + " batches");
    assertArrayEquals(noise(batches, 100_000), drive.read(batches, 0, 100_000));
  }
}
