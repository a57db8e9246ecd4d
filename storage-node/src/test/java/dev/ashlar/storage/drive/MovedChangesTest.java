package dev.ashlar.storage.drive;

import static dev.ashlar.storage.drive.ShardChanges.SHARD;
import static dev.ashlar.storage.drive.ShardChanges.attempt;
import static dev.ashlar.storage.drive.ShardChanges.change;
import static dev.ashlar.storage.drive.ShardChanges.fold;
import static dev.ashlar.storage.drive.ShardChanges.unfolded;
import static dev.ashlar.storage.drive.ShardChanges.write;
import static dev.ashlar.storage.drive.ShardChanges.written;
import static dev.ashlar.storage.drive.SimulatedCore.noise;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.AbstractShardChangesContract;
import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.storage.drive.cache.MergeCandidates;
import dev.ashlar.storage.drive.change.ExtentMerger;
import dev.ashlar.storage.drive.compact.Compactor;
import dev.ashlar.storage.drive.index.ShardIndex;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What was changed is put together, and moved, behind the backs of its readers. */
class MovedChangesTest {
  private static final int BLOCK = Profile.BLOCK_BYTES;
  private static final String FIRST_SEGMENT = "segment-0000000000000001";

  @Test
  void neighboursThatCannotBeReadTogetherAreMovedOneByOne() throws Exception {
    SimulatedCore drive = new SimulatedCore(TestDrives.TINY);
    write(drive, SHARD, noise(1, 4 * BLOCK));
    change(drive, 1, 0, 4 * BLOCK, 4 * BLOCK);
    drive.fold(fold(1));
    int patches;
    try (ShardIndex.Rows rows = drive.index.rows()) {
      patches = rows.patches(SHARD, 0, 3).size();
      long from = rows.patches(SHARD, 1, 1).getFirst().position();
      drive.disk.makeUnreadable(FIRST_SEGMENT, from, from + 1);
    }
    assertEquals(4, patches);
    drive.commit(10, noise(10, 80_000));
    drive.commit(11, noise(11, 120_000));
    drive.delete(10);
    Compactor compactor = drive.compactor();
    assertTrue(compactor.emptyOne());
    compactor.free();
    ShardView view = new ShardView(1, 1, List.of());
    byte[] expected = noise(1001, 4 * BLOCK);
    assertArrayEquals(Arrays.copyOf(expected, BLOCK), drive.read(SHARD, view, 0, BLOCK));
    assertArrayEquals(
        Arrays.copyOfRange(expected, 2 * BLOCK, 4 * BLOCK),
        drive.read(SHARD, view, 2 * BLOCK, 2 * BLOCK));
    assertEquals(
        ShardFault.CORRUPT,
        assertThrows(ShardException.class, () -> drive.read(SHARD, view, BLOCK, 1)).fault());
  }

  @Test
  void thousandsOfAppendsLeaveFewRowsAndFewReads() throws Exception {
    SimulatedCore drive = new SimulatedCore(TestDrives.LIMITS);
    byte[] all = noise(1, 2000 * 1000);
    write(drive, SHARD, Arrays.copyOf(all, 1000));
    ExtentMerger coalescer = drive.coalescer();
    for (int revision = 1; revision < 2000; revision++) {
      int length = revision * 1000;
      byte[] bytes = Arrays.copyOfRange(all, length, length + 1000);
      ShardView base = new ShardView(revision - 1, revision - 1, List.of());
      drive.prepare(
          AbstractShardChangesContract.bytes(
              new ShardIntent.Target(SHARD, attempt(revision), base, length), length, bytes));
      drive.fold(fold(revision));
      coalescer.mergeOne();
    }
    assertArrayEquals(all, drive.read(SHARD, new ShardView(1999, 1999, List.of()), 0, all.length));
    try (ShardIndex.Rows rows = drive.index.rows()) {
      int blocks = all.length / BLOCK;
      int pieces = rows.bases(SHARD, 0, blocks).size() + rows.patches(SHARD, 0, blocks).size();
      int max = blocks / 64 + 2 * 64;
      assertTrue(
          pieces <= max,
          pieces + " pieces of a shard of " + blocks + " blocks, not yet merged too");
    }
    drive.index.lose();
    drive.reopen();
    assertArrayEquals(all, drive.read(SHARD, new ShardView(1999, 1999, List.of()), 0, all.length));
  }

  /** Wherever the looks fall between them. */
  @Test
  void appendedBlocksAreMerged() throws Exception {
    SimulatedCore drive = new SimulatedCore(TestDrives.LIMITS);
    write(drive, SHARD, noise(1, BLOCK));
    ExtentMerger coalescer = drive.coalescer();
    int blocks = 1000;
    for (int revision = 1; revision < blocks; revision++) {
      int length = revision * BLOCK;
      ShardView base = new ShardView(revision - 1, revision - 1, List.of());
      drive.prepare(
          AbstractShardChangesContract.bytes(
              new ShardIntent.Target(SHARD, attempt(revision), base, length),
              length,
              noise(revision, BLOCK)));
      drive.fold(fold(revision));
      coalescer.mergeOne();
    }
    try (ShardIndex.Rows rows = drive.index.rows()) {
      int whole = blocks - blocks % 64;
      int pieces = rows.bases(SHARD, 0, whole - 1).size();
      assertTrue(pieces <= blocks / 64 + 5, pieces + " pieces of " + whole + " appended blocks");
    }
  }

  @Test
  void aLargeIntentIsReadFromItsBodyAndItsTailWhereverTheyAreMoved() throws Exception {
    SimulatedCore drive = new SimulatedCore(TestDrives.TINY);
    write(drive, SHARD, noise(1, 2 * BLOCK + 10));
    byte[] bytes = noise(2, 110_000);
    ByteBuffer memory = ByteBuffer.allocateDirect(bytes.length + 2 * BLOCK).alignedSlice(BLOCK);
    memory.put(bytes).flip();
    drive.prepare(
        new ShardIntent.Bytes(
            new ShardIntent.Target(SHARD, attempt(1), ShardView.ORIGINAL, 2 * BLOCK + 10),
            0,
            memory,
            AbstractShardStoreContract.crcs(bytes)));
    ShardView view = unfolded(1);
    assertArrayEquals(bytes, drive.read(SHARD, view, 0, bytes.length));
    drive.fold(fold(1));
    assertArrayEquals(bytes, drive.read(SHARD, view, 0, bytes.length));
    drive.commit(10, noise(10, 60_000));
    drive.commit(11, noise(11, 120_000));
    Compactor compactor = drive.compactor();
    drive.delete(10);
    for (int i = 0; i < 4 && compactor.emptyOne(); i++) {
      compactor.free();
    }
    drive.index.lose();
    drive.reopen();
    assertArrayEquals(bytes, drive.read(SHARD, view, 0, bytes.length));
    assertArrayEquals(
        Arrays.copyOfRange(bytes, 109_000, 110_000), drive.read(SHARD, view, 109_000, 1000));
  }

  @Test
  void pieceFoldedDuringItsMoveKeepsNoSegment() throws Exception {
    SimulatedCore drive = new SimulatedCore(TestDrives.TINY);
    write(drive, SHARD, noise(1, 2 * BLOCK));
    change(drive, 1, 0, BLOCK, 2 * BLOCK);
    drive.commit(10, noise(10, 90_000));
    drive.commit(11, noise(11, 120_000));
    drive.delete(10);
    List<FoldIntent> toFold = new ArrayList<>(List.of(fold(1)));
    Compactor compactor =
        drive.compactor(
            () -> {
              if (!toFold.isEmpty()) {
                drive.fold(toFold.removeFirst());
              }
            });
    assertTrue(compactor.emptyOne());
    assertTrue(toFold.isEmpty(), "nothing was moved");
    assertTrue(compactor.hasEmptied(), "the segment is stuck");
    compactor.free();
    drive.index.lose();
    drive.reopen();
    assertArrayEquals(noise(1001, BLOCK), drive.read(SHARD, unfolded(1), 0, BLOCK));
  }

  @Test
  void fullDriveStopsMerging() throws Exception {
    SimulatedCore drive = written(SHARD, noise(1, 2 * BLOCK));
    change(drive, 1, 0, 2 * BLOCK, 2 * BLOCK);
    drive.fold(fold(1));
    drive.core().mergeCandidates().add(new MergeCandidates.Candidate(SHARD, 0, true));
    ExtentMerger coalescer =
        drive
            .core()
            .newCoalescer(
                (shard, bases, patches, payload, crcs) -> {
                  throw new ShardException(ShardFault.FULL, "full");
                });
    assertEquals(ShardFault.FULL, assertThrows(ShardException.class, coalescer::mergeOne).fault());
  }
}
