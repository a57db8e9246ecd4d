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
import dev.ashlar.protocol.client.Drop;
import dev.ashlar.protocol.client.Fold;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.model.Profile;
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
  private static final int OWN_BLOCKS = RecentMemory.OWN_CHUNKS * RecentMemory.CHUNK_BYTES / BLOCK;
  private static final ShardView FOLDED_1 = new ShardView(1, 1, List.of());

  @Test
  void whatAChangeWroteTheNextNeedNotRead() throws Exception {
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
  void whatMayNeverBeCommittedIsNotTakenForWhatIs() throws Exception {
    SimulatedCore drive = written(SHARD, noise(1, LENGTH));
    byte[] expected = noise(1, LENGTH);
    change(drive, 1, ShardView.ORIGINAL, 100, 50, expected);
    drive.fold(fold(1));
    change(drive, 2, FOLDED_1, 10, 10, expected.clone());
    assertNull(atOnce(drive, FOLDED_1, 0), "the second change is in its place");
    drive.commitOne(
        new LogRequest.DropAll(List.of(new Drop(SHARD.blob(), attempt(2))), new Answer<>()));
    assertNull(atOnce(drive, FOLDED_1, 0));
    change(drive, 3, FOLDED_1, 10, 10, expected);
    assertBlock(
        expected,
        0,
        atOnce(drive, new ShardView(3, 1, List.of(new CommittedAttempt(attempt(3), 3))), 0));
  }

  @Test
  void whoBeganBeforeAChangeDoesNotGetIt() throws Exception {
    SimulatedCore drive = written(SHARD, noise(1, LENGTH));
    byte[] expected = noise(1, LENGTH);
    change(drive, 1, ShardView.ORIGINAL, 100, 50, expected);
    change(drive, 2, unfolded(1), 200, 50, expected);
    drive.fold(fold(1), fold(2));
    assertNull(atOnce(drive, FOLDED_1, 0));
    assertBlock(expected, 0, atOnce(drive, unfolded(1, 2), 0));
  }

  @Test
  void anIntentThatComesOnceMoreIsNotTakenForANewerOne() throws Exception {
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
  void theOldestMakeRoom() throws Exception {
    int blocks = OWN_BLOCKS + 10;
    SimulatedCore drive = written(SHARD, noise(1, BLOCK));
    write(drive, SHARD, noise(1, blocks * BLOCK));
    byte[] expected = noise(1, blocks * BLOCK);
    long[] revisions = new long[blocks];
    for (int block = 0; block < blocks; block++) {
      revisions[block] = block + 1L;
      ShardView base = block == 0 ? ShardView.ORIGINAL : unfolded(Arrays.copyOf(revisions, block));
      change(drive, block + 1, base, block * BLOCK + 7, 9, expected);
    }
    for (int block = 0; block < blocks; block++) {
      LogRequest.Prepare found = atOnce(drive, unfolded(revisions), block, blocks * BLOCK);
      if (block < 10) {
        assertNull(found);
      } else {
        assertBlock(expected, block, found);
      }
    }
  }

  @Test
  void whatWasNeededSinceIsPassedOverOnce() throws Exception {
    Blocks blocks = new Blocks(new RecentMemory(0), 3 * OWN_BLOCKS);
    blocks.change(OWN_BLOCKS);
    assertTrue(blocks.has(0));
    blocks.change(OWN_BLOCKS - 1);
    assertFalse(blocks.has(1));
    assertTrue(blocks.has(0));
    blocks.change(OWN_BLOCKS);
    assertFalse(blocks.has(0), "not needed for a whole round");
  }

  @Test
  void thereAreMoreWhereThereIsMemory() throws Exception {
    RecentMemory memory = new RecentMemory(RecentMemory.CHUNK_BYTES);
    Blocks blocks = new Blocks(memory, 2 * OWN_BLOCKS);
    assertEquals(0, blocks.drive.core().recentBytes(), "none before anything is changed");
    int inMemory = OWN_BLOCKS + RecentMemory.CHUNK_BYTES / BLOCK;
    blocks.change(inMemory);
    assertTrue(blocks.has(0));
    blocks.change(2);
    assertFalse(blocks.has(1));
    assertEquals((long) inMemory * BLOCK, blocks.drive.core().recentBytes());
    assertNull(memory.take(RecentMemory.OWN_CHUNKS));
    blocks.drive.reopen();
    assertEquals(0, blocks.drive.core().recentBytes());
    assertNotNull(memory.take(RecentMemory.OWN_CHUNKS), "given back");
  }

  /** A shard whose blocks are changed one after the other, each change folded at once. */
  private static final class Blocks {
    final SimulatedCore drive;
    private final byte[] bytes;
    private int changed;

    Blocks(RecentMemory memory, int count) throws Exception {
      drive = new SimulatedCore(TestDrives.LIMITS, memory);
      bytes = noise(1, count * BLOCK);
      write(drive, SHARD, bytes);
    }

    void change(int count) throws Exception {
      for (int i = 0; i < count; i++) {
        ShardView base = view();
        changed++;
        RecentBlocksTest.change(drive, changed, base, (changed - 1) * BLOCK + 7, 9, bytes);
        drive.fold(fold(changed));
      }
    }

    private ShardView view() {
      return new ShardView(changed, changed, List.of());
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
  void itIsWhatTheShardWas() throws Exception {
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
    SimulatedCore drive = new SimulatedCore(TestDrives.TINY);
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
          byte[] changed = now.bytes().clone();
          change(drive, number, now.view(), offset, length, changed);
          if (random.nextInt(4) > 0) {
            waiting.add(new CommittedAttempt(attempt(number), number));
            states.add(new State(new ShardView(number, now.view().folded(), waiting), changed));
          }
        }
        case 4, 5 -> {
          if (!waiting.isEmpty()) {
            CommittedAttempt first = waiting.removeFirst();
            drive.fold(new Fold(SHARD, first.attempt(), first.revision(), now.view().folded()));
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
