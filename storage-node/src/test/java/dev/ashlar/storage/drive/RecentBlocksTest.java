package dev.ashlar.storage.drive;

import static dev.ashlar.storage.drive.ShardChanges.SHARD;
import static dev.ashlar.storage.drive.ShardChanges.attempt;
import static dev.ashlar.storage.drive.ShardChanges.fold;
import static dev.ashlar.storage.drive.ShardChanges.unfolded;
import static dev.ashlar.storage.drive.ShardChanges.write;
import static dev.ashlar.storage.drive.ShardChanges.written;
import static dev.ashlar.storage.drive.SimulatedCore.noise;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.AbstractShardChangesContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.CommittedAttempt;
import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.cache.MergeCandidates;
import dev.ashlar.storage.drive.cache.RecentBlockMemory;
import dev.ashlar.storage.drive.compact.Compactor;
import dev.ashlar.storage.drive.log.LogRequest;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RecentBlocksTest {
  private static final int BLOCK = Profile.BLOCK_BYTES;
  private static final int LENGTH = 4 * BLOCK;
  private static final int OWN_BLOCKS = new RecentBlockMemory(0).ownBlocks();
  private static final ShardView FOLDED_1 = new ShardView(1, 1, List.of());

  @Test
  void blocksOfTheLastChangeNeedNoRead() throws Exception {
    SimulatedCore drive = written(SHARD, noise(1, LENGTH));
    assertNull(atOnce(drive, ShardView.ORIGINAL, 0), "nothing has been changed");
    byte[] expected = noise(1, LENGTH);
    change(drive, 1, ShardView.ORIGINAL, 100, 50, expected);
    double reads = drive.count("ashlar.drive.read.ops");
    double payloadReads = drive.count("ashlar.drive.payload.read.ops");
    assertBlock(expected, 0, atOnce(drive, unfolded(1), 0));
    drive.fold(fold(1));
    assertBlock(expected, 0, atOnce(drive, unfolded(1), 0));
    assertBlock(expected, 0, atOnce(drive, FOLDED_1, 0));
    assertNull(atOnce(drive, FOLDED_1, 1), "another block");
    assertEquals(reads, drive.count("ashlar.drive.read.ops"));
    assertEquals(payloadReads + 3, drive.count("ashlar.drive.payload.read.ops"), "reads as well");
    assertEquals(3, drive.count("ashlar.drive.payload.recent.ops"));
    drive.reopen();
    assertNull(atOnce(drive, FOLDED_1, 0), "memory is gone");
  }

  @Test
  void uncommittedBlocksAreNotUsed() throws Exception {
    SimulatedCore drive = written(SHARD, noise(1, LENGTH));
    byte[] expected = noise(1, LENGTH);
    change(drive, 1, ShardView.ORIGINAL, 100, 50, expected);
    drive.fold(fold(1));
    change(drive, 2, FOLDED_1, 10, 10, expected.clone());
    assertNull(atOnce(drive, FOLDED_1, 0), "the second change is in its place");
    drive.commitOne(
        new LogRequest.DiscardAll(
            List.of(new DiscardIntent(SHARD.blob(), attempt(2))), new Answer<>()));
    assertNull(atOnce(drive, FOLDED_1, 0));
    change(drive, 3, FOLDED_1, 10, 10, expected);
    assertBlock(
        expected,
        0,
        atOnce(drive, new ShardView(3, 1, List.of(new CommittedAttempt(attempt(3), 3))), 0));
  }

  @Test
  void olderViewDoesNotGetANewerBlock() throws Exception {
    SimulatedCore drive = written(SHARD, noise(1, LENGTH));
    byte[] expected = noise(1, LENGTH);
    change(drive, 1, ShardView.ORIGINAL, 100, 50, expected);
    change(drive, 2, unfolded(1), 200, 50, expected);
    drive.fold(fold(1), fold(2));
    assertNull(atOnce(drive, FOLDED_1, 0));
    assertBlock(expected, 0, atOnce(drive, unfolded(1, 2), 0));
  }

  @Test
  void repeatedIntentIsNotTakenForANewerOne() throws Exception {
    SimulatedCore drive = written(SHARD, noise(1, LENGTH));
    byte[] expected = noise(1, LENGTH);
    change(drive, 1, ShardView.ORIGINAL, 100, 50, expected);
    byte[] first = expected.clone();
    change(drive, 2, unfolded(1), 200, 50, expected);
    change(drive, 1, ShardView.ORIGINAL, 100, 50, first);
    drive.fold(fold(1));
    drive.fold(fold(2));
    LogRequest.Prepare found = atOnce(drive, new ShardView(2, 2, List.of()), 0);
    if (found != null) {
      assertBlock(expected, 0, found);
    }
  }

  @Test
  void aDeletedShardIsForgotten() throws Exception {
    SimulatedCore drive = written(SHARD, noise(1, LENGTH));
    change(drive, 1, ShardView.ORIGINAL, 100, 50, noise(1, LENGTH));
    drive.fold(fold(1));
    drive.delete(1);
    assertNull(atOnce(drive, FOLDED_1, 0));
  }

  @Test
  void oldestBlocksAreEvicted() throws Exception {
    Blocks blocks = new Blocks(new RecentBlockMemory(0), OWN_BLOCKS + 10);
    blocks.change(OWN_BLOCKS + 10);
    for (int block = 0; block < OWN_BLOCKS + 10; block++) {
      assertEquals(block >= 10, blocks.has(block));
    }
  }

  @Test
  void plainBlocksDoNotEvictBlocksMadeFromOldOnes() throws Exception {
    Blocks blocks = new Blocks(new RecentBlockMemory(0), 3 * OWN_BLOCKS);
    blocks.change(2);
    blocks.replace(2 * OWN_BLOCKS);
    assertTrue(blocks.has(0));
    assertFalse(blocks.has(2));
    blocks.changeBlock(OWN_BLOCKS + 5, 7, 9);
    blocks.replace(OWN_BLOCKS - 2);
    assertTrue(blocks.has(OWN_BLOCKS + 5), "made from the old since");
    assertFalse(blocks.has(OWN_BLOCKS + 6));
  }

  @Test
  void parityToWhichDeltasWereAddedStays() throws Exception {
    Profile profile = new Profile(2, 1, 4 * BLOCK);
    ShardId parity = new ShardId(SHARD.blob(), profile.dataShards());
    byte[] before = noise(1, (OWN_BLOCKS + 1) * BLOCK);
    SimulatedCore drive = written(parity, before);
    byte[] delta = noise(2, BLOCK);
    drive.prepare(deltas(profile, parity, 1, ShardView.ORIGINAL, before.length, delta));
    for (int block = 1; block <= OWN_BLOCKS; block++) {
      ShardIntent.Target target =
          new ShardIntent.Target(parity, attempt(1 + block), unfolded(1), before.length);
      drive.prepare(
          AbstractShardChangesContract.bytes(target, (long) block * BLOCK, noise(3, BLOCK)));
    }
    LogRequest.Prepare found =
        drive
            .intents()
            .makeAtOnce(
                deltas(profile, parity, 999, unfolded(1), before.length, delta), new Answer<>());
    assertNotNull(found);
    byte[] twice = new byte[BLOCK];
    found.pieces().getFirst().payload().duplicate().get(twice);
    assertArrayEquals(Arrays.copyOf(before, BLOCK), twice, "added twice it is nothing");
    assertEquals(1, drive.count("ashlar.drive.payload.recent.ops"));
  }

  private static ShardIntent deltas(
      Profile profile, ShardId parity, int number, ShardView base, int length, byte[] bytes) {
    return new ShardIntent.Deltas(
        new ShardIntent.Target(parity, attempt(number), base, length),
        profile,
        List.of(AbstractShardChangesContract.delta(0, 0, bytes)));
  }

  @Test
  void memoryOfADeletedShardIsReused() throws Exception {
    Blocks blocks = new Blocks(new RecentBlockMemory(0), 30);
    blocks.change(10);
    long bytes = blocks.drive.core().recentBytes();
    assertEquals(10L * BLOCK, bytes);
    blocks.drive.delete(1);
    SimulatedCore drive = blocks.drive;
    ShardId other = new ShardId(new BlobId(1, 2), 0);
    write(drive, other, noise(1, 10 * BLOCK));
    for (int block = 0; block < 10; block++) {
      ShardIntent.Target target =
          new ShardIntent.Target(other, attempt(100 + block), ShardView.ORIGINAL, 10 * BLOCK);
      drive.prepare(AbstractShardChangesContract.bytes(target, block * BLOCK + 7, noise(5, 9)));
    }
    assertEquals(bytes, drive.core().recentBytes());
  }

  @Test
  void mergedBlocksStay() throws Exception {
    Blocks blocks = new Blocks(new RecentBlockMemory(0), 8);
    blocks.change(8);
    double merged = blocks.drive.count("ashlar.drive.coalescing.bytes");
    blocks.drive.core().mergeCandidates().add(new MergeCandidates.Candidate(SHARD, 0, true));
    blocks.drive.coalescer().mergeOne();
    assertTrue(blocks.drive.count("ashlar.drive.coalescing.bytes") > merged);
    for (int block = 0; block < 8; block++) {
      assertTrue(blocks.has(block));
    }
  }

  @Test
  void blockCorruptedInMemoryIsNotUsed() throws Exception {
    List<ByteBuffer> memory = new ArrayList<>();
    RecentBlockMemory watched =
        new RecentBlockMemory(
            RecentBlockMemory.CHUNK_BYTES,
            0,
            bytes -> {
              memory.add(ByteBuffer.allocateDirect(bytes));
              return memory.getLast();
            });
    Blocks blocks = new Blocks(watched, 2);
    blocks.change(1);
    assertTrue(blocks.has(0));
    memory.getFirst().put(100, (byte) ~memory.getFirst().get(100));
    assertFalse(blocks.has(0));
    memory.getFirst().put(100, (byte) ~memory.getFirst().get(100));
    assertFalse(blocks.has(0), "forgotten");
  }

  @Test
  void usedBlocksGetASecondChance() throws Exception {
    Blocks blocks = new Blocks(new RecentBlockMemory(0), 3 * OWN_BLOCKS);
    blocks.change(OWN_BLOCKS);
    assertTrue(blocks.has(0));
    blocks.change(OWN_BLOCKS - 1);
    assertFalse(blocks.has(1));
    assertTrue(blocks.has(0));
    blocks.change(OWN_BLOCKS);
    assertFalse(blocks.has(0), "not needed for a whole round");
  }

  @Test
  void cacheGrowsWithTheMemory() throws Exception {
    int inMemory = 2 * OWN_BLOCKS;
    RecentBlockMemory memory = new RecentBlockMemory((long) inMemory * BLOCK);
    Blocks blocks = new Blocks(memory, inMemory + 2);
    assertEquals(0, blocks.drive.core().recentBytes(), "none before anything is changed");
    blocks.change(inMemory);
    assertTrue(blocks.has(0));
    blocks.change(2);
    assertFalse(blocks.has(1));
    assertEquals((long) inMemory * BLOCK, blocks.drive.core().recentBytes());
    assertNull(memory.take());
    blocks.drive.reopen();
    assertEquals(0, blocks.drive.core().recentBytes());
    assertNotNull(memory.take(), "given back");
  }

  /** A shard whose blocks are changed one after the other, each change folded at once. */
  private static final class Blocks {
    final SimulatedCore drive;
    private final byte[] bytes;
    private int revision;
    private int next;

    Blocks(RecentBlockMemory memory, int count) throws Exception {
      drive = new SimulatedCore(TestDrives.LIMITS, memory);
      bytes = noise(1, count * BLOCK);
      write(drive, SHARD, bytes);
    }

    /** A few bytes of each of so many more. */
    void change(int count) throws Exception {
      for (int i = 0; i < count; i++) {
        changeBlock(next++, 7, 9);
      }
    }

    /** All of each of so many more. */
    void replace(int count) throws Exception {
      for (int i = 0; i < count; i++) {
        changeBlock(next++, 0, BLOCK);
      }
    }

    void changeBlock(int block, int offset, int length) throws Exception {
      ShardView base = view();
      revision++;
      RecentBlocksTest.change(drive, revision, base, block * BLOCK + offset, length, bytes);
      drive.fold(fold(revision));
    }

    private ShardView view() {
      return new ShardView(revision, revision, List.of());
    }

    boolean has(int block) throws Exception {
      LogRequest.Prepare found = atOnce(drive, view(), block, bytes.length);
      if (found != null) {
        assertBlock(bytes, block, found);
      }
      return found != null;
    }
  }

  /** Whatever has happened: what is found is what the shard was. */
  @Test
  void cacheAgreesWithTheShard() throws Exception {
    long seed = Long.getLong("ashlar.sim.seed", System.nanoTime());
    Random random = new Random(seed);
    int found = 0;
    for (int run = 0; run < 30; run++) {
      found += run(random, "seed " + seed + ", run " + run);
    }
    assertTrue(found > 1000, "found " + found);
  }

  private record State(ShardView view, byte[] bytes) {}

  /** Returns how often something was found. */
  private static int run(Random random, String message) throws Exception {
    RecentBlockMemory few =
        new RecentBlockMemory(0, 1 + random.nextInt(4), ByteBuffer::allocateDirect);
    SimulatedCore drive = new SimulatedCore(TestDrives.TINY, few);
    write(drive, SHARD, noise(1, LENGTH));
    List<State> states = new ArrayList<>(List.of(new State(ShardView.ORIGINAL, noise(1, LENGTH))));
    List<CommittedAttempt> waiting = new ArrayList<>();
    int found = 0;
    for (int number = 1; number <= 60; number++) {
      State now = states.getLast();
      switch (random.nextInt(8)) {
        case 0, 1, 2, 3 -> {
          int offset = random.nextInt(LENGTH);
          int length = 1 + random.nextInt(Math.min(2 * BLOCK, LENGTH - offset));
          if (random.nextInt(4) == 0) {
            offset = offset / BLOCK * BLOCK;
            length = BLOCK;
          }
          byte[] changed = now.bytes().clone();
          change(drive, number, now.view(), offset, length, changed);
          if (random.nextInt(4) > 0) {
            waiting.add(new CommittedAttempt(attempt(number), number));
            states.add(new State(new ShardView(number, now.view().folded(), waiting), changed));
          } else if (random.nextBoolean()) {
            DiscardIntent drop = new DiscardIntent(SHARD.blob(), attempt(number));
            drive.commitOne(new LogRequest.DiscardAll(List.of(drop), new Answer<>()));
          }
        }
        case 4, 5 -> {
          if (!waiting.isEmpty()) {
            CommittedAttempt first = waiting.removeFirst();
            drive.fold(
                new FoldIntent(SHARD, first.attempt(), first.revision(), now.view().folded()));
            states.add(
                new State(
                    new ShardView(now.view().revision(), first.revision(), waiting), now.bytes()));
          }
        }
        case 6 -> {
          drive.core().mergeCandidates().add(new MergeCandidates.Candidate(SHARD, 0, true));
          drive.coalescer().mergeOne();
        }
        default -> {
          Compactor compactor = drive.compactor();
          if (compactor.emptyOne()) {
            compactor.free();
          }
        }
      }
      for (State state : states.subList(Math.max(0, states.size() - 4), states.size())) {
        found += look(drive, state, message);
      }
    }
    return found;
  }

  /** Returns how many blocks were found, and right. */
  private static int look(SimulatedCore drive, State state, String message) throws Exception {
    int found = 0;
    for (int block = 0; block < LENGTH / BLOCK; block++) {
      LogRequest.Prepare ready = atOnce(drive, state.view(), block);
      if (ready != null) {
        assertBlock(state.bytes(), block, ready, message);
        ready.completion().succeeded(drive.core().drive());
        found++;
      }
    }
    return found;
  }

  private static void change(
      SimulatedCore drive, int revision, ShardView base, int offset, int length, byte[] expected)
      throws Exception {
    drive.prepare(intent(revision, base, offset, length, expected.length));
    System.arraycopy(noise(revision + 1000, length), 0, expected, offset, length);
  }

  private static ShardIntent intent(
      int revision, ShardView base, int offset, int length, int baseLength) {
    return AbstractShardChangesContract.bytes(
        new ShardIntent.Target(SHARD, attempt(revision), base, baseLength),
        offset,
        noise(revision + 1000, length));
  }

  private static LogRequest.@Nullable Prepare atOnce(SimulatedCore drive, ShardView view, int block)
      throws ShardException {
    return atOnce(drive, view, block, LENGTH);
  }

  /** A change of the first byte of a block. */
  private static LogRequest.@Nullable Prepare atOnce(
      SimulatedCore drive, ShardView view, int block, int baseLength) throws ShardException {
    return drive
        .intents()
        .makeAtOnce(intent(99, view, block * BLOCK, 1, baseLength), new Answer<>());
  }

  /** All of it but the first byte, which is changed. */
  private static void assertBlock(byte[] expected, int block, LogRequest.@Nullable Prepare found) {
    assertBlock(expected, block, found, "");
  }

  private static void assertBlock(
      byte[] expected, int block, LogRequest.@Nullable Prepare found, String message) {
    assertNotNull(found, message);
    ByteBuffer payload = found.pieces().getFirst().payload();
    byte[] bytes = new byte[payload.remaining()];
    payload.get(payload.position(), bytes);
    bytes[0] = expected[block * BLOCK];
    assertArrayEquals(
        Arrays.copyOfRange(expected, block * BLOCK, (block + 1) * BLOCK), bytes, message);
  }
}
