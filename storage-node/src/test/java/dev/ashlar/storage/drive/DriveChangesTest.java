package dev.ashlar.storage.drive;

import static dev.ashlar.storage.drive.ShardChanges.SHARD;
import static dev.ashlar.storage.drive.ShardChanges.attempt;
import static dev.ashlar.storage.drive.ShardChanges.change;
import static dev.ashlar.storage.drive.ShardChanges.fold;
import static dev.ashlar.storage.drive.ShardChanges.intent;
import static dev.ashlar.storage.drive.ShardChanges.unfolded;
import static dev.ashlar.storage.drive.ShardChanges.write;
import static dev.ashlar.storage.drive.ShardChanges.written;
import static dev.ashlar.storage.drive.SimulatedCore.noise;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.AbstractShardChangesContract;
import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.cache.MergeCandidates;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.index.ShardIndex;
import dev.ashlar.storage.drive.log.CommitQueue;
import dev.ashlar.storage.drive.log.LogRequest;
import dev.ashlar.storage.drive.segment.LogPosition;
import dev.ashlar.storage.io.SimulatedDrive.PowerLoss;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Changes of shards on the log: what they cost, and what crashes, damage and fullness leave. */
class DriveChangesTest {
  private static final int BLOCK = Profile.BLOCK_BYTES;
  private static final Profile PROFILE = new Profile(2, 2, 16 * 1024);
  private static final ShardId PARITY = new ShardId(new BlobId(1, 1), 3);
  private static final String FIRST_SEGMENT = "segment-0000000000000001";

  @Test
  void anAlignedIntentIsOneWriteAndNoRead() throws Exception {
    SimulatedCore drive = written(SHARD, noise(1, 16 * BLOCK));
    assertCost(drive, 0, 0, 4 * BLOCK, () -> change(drive, 1, 4 * BLOCK, 4 * BLOCK, 16 * BLOCK));
    assertCost(drive, 0, 0, 3 * BLOCK, () -> change(drive, 2, 16 * BLOCK, 3 * BLOCK, 16 * BLOCK));
    assertCost(drive, 0, 0, 100, () -> change(drive, 3, 19 * BLOCK, 100, 19 * BLOCK));
    assertCost(drive, 0, 0, BLOCK, () -> change(drive, 4, 19 * BLOCK, BLOCK, 19 * BLOCK + 100));
  }

  /** Without a thread that may wait for the drive. */
  @Test
  void wholeBlocksOverKnownChangesNeedNoRead() throws Exception {
    SimulatedCore drive = written(SHARD, noise(1, 4 * BLOCK));
    assertTrue(isReady(drive, ShardView.ORIGINAL, BLOCK));
    assertFalse(isReady(drive, ShardView.ORIGINAL, 100), "the rest of the block has to be read");
    assertFalse(isReady(drive, unfolded(1), BLOCK), "made from what is not here");
    change(drive, 1, 0, BLOCK, 4 * BLOCK);
    assertTrue(isReady(drive, unfolded(1), BLOCK));
    drive.fold(fold(1));
    ShardView folded = new ShardView(1, 1, List.of());
    assertTrue(isReady(drive, unfolded(1), BLOCK));
    assertTrue(isReady(drive, folded, BLOCK));
    drive.index.checkpoint();
    drive.reopen();
    assertFalse(isReady(drive, folded, BLOCK), "only the index knows");
  }

  /** Otherwise a crash after many small changes would be followed by a long replay. */
  @Test
  void aSmallRequestCountsForMoreThanItsBytes() throws Exception {
    SimulatedCore drive = written(SHARD, noise(1, 4 * BLOCK));
    long before = drive.core().log().replayBytes();
    change(drive, 1, 0, 100, 4 * BLOCK);
    long counted = drive.core().log().replayBytes() - before;
    assertTrue(counted > 4 * BLOCK, counted + " bytes");
    change(drive, 2, 0, 4 * BLOCK, 4 * BLOCK);
    long larger = drive.core().log().replayBytes() - before - counted;
    assertTrue(larger > counted, larger + " bytes");
  }

  /** Otherwise replays would add up over several crashes. */
  @Test
  void theFirstRoundOfHousekeepingMakesACheckpoint() throws Exception {
    SimulatedCore drive = written(SHARD, noise(1, 4 * BLOCK));
    drive.reopen();
    DriveConfig.Limits limits = TestDrives.LIMITS;
    CommitQueue queue =
        new CommitQueue(
            drive.core().log(), limits, drive.core().drive(), "test", e -> {}, System::nanoTime);
    Housekeeper housekeeper = new Housekeeper(drive.core(), limits, queue, "test", e -> {});
    housekeeper.round();
    LogPosition position = drive.index.position();
    drive.index.crash(PassingReadErrorTest.KEEPS_NOTHING);
    assertEquals(position, drive.index.position());
  }

  private static boolean isReady(SimulatedCore drive, ShardView base, int length)
      throws ShardException {
    ShardIntent intent =
        AbstractShardChangesContract.bytes(
            new ShardIntent.Target(SHARD, attempt(9), base, 4 * BLOCK), BLOCK, noise(9, length));
    return drive.intents().makeAtOnce(intent, new Answer<>()) != null;
  }

  @Test
  void anUnalignedEdgeCostsTheReadOfItsBlock() throws Exception {
    SimulatedCore drive = written(SHARD, noise(1, 16 * BLOCK));
    assertCost(drive, 1, BLOCK, BLOCK, () -> change(drive, 1, 100, 200, 16 * BLOCK));
    assertCost(
        drive, 2, 2 * BLOCK, 3 * BLOCK, () -> change(drive, 2, BLOCK + 1, 2 * BLOCK, 16 * BLOCK));
    assertCost(
        drive, 1, 2 * BLOCK, 2 * BLOCK, () -> change(drive, 3, 5 * BLOCK + 1, BLOCK, 16 * BLOCK));
  }

  @Test
  void aDeltaReadsOnlyWhatTheParityHad() throws Exception {
    SimulatedCore drive = written(PARITY, noise(1, 6 * BLOCK));
    assertCost(drive, 1, 4 * BLOCK, 4 * BLOCK, () -> delta(drive, 1, 0, 4 * BLOCK, 6 * BLOCK));
    assertCost(
        drive, 1, 2 * BLOCK, 4 * BLOCK, () -> delta(drive, 2, 4 * BLOCK, 4 * BLOCK, 6 * BLOCK));
    assertCost(drive, 0, 0, 4 * BLOCK, () -> delta(drive, 3, 8 * BLOCK, 4 * BLOCK, 8 * BLOCK));
  }

  private interface Step {
    void run() throws IOException, ShardException;
  }

  private static void assertCost(
      SimulatedCore drive, int reads, int readBytes, int writtenBytes, Step step)
      throws IOException, ShardException {
    double[] before = counts(drive);
    step.run();
    double[] after = counts(drive);
    for (int i = 0; i < before.length; i++) {
      after[i] -= before[i];
    }
    assertArrayEquals(new double[] {reads, readBytes, 1, writtenBytes}, after);
  }

  private static double[] counts(SimulatedCore drive) {
    return new double[] {
      drive.count("ashlar.drive.payload.read.ops"),
      drive.count("ashlar.drive.payload.read.bytes"),
      drive.count("ashlar.drive.payload.write.ops"),
      drive.count("ashlar.drive.payload.write.bytes")
    };
  }

  @Test
  void blocksAroundReplacedOnesAreOneReadUnlessTheReplacedOnesCannotBeRead() throws Exception {
    SimulatedCore drive = written(SHARD, noise(1, 20 * BLOCK));
    change(drive, 1, 2 * BLOCK, 6 * BLOCK, 20 * BLOCK);
    change(drive, 2, 4 * BLOCK, BLOCK, 20 * BLOCK);
    change(drive, 3, 9 * BLOCK, 9 * BLOCK, 20 * BLOCK);
    byte[] expected = noise(1, 20 * BLOCK);
    System.arraycopy(noise(1001, 6 * BLOCK), 0, expected, 2 * BLOCK, 6 * BLOCK);
    System.arraycopy(noise(1002, BLOCK), 0, expected, 4 * BLOCK, BLOCK);
    System.arraycopy(noise(1003, 9 * BLOCK), 0, expected, 9 * BLOCK, 9 * BLOCK);
    double before = drive.count("ashlar.drive.read.ops");
    assertArrayEquals(expected, drive.read(SHARD, unfolded(1, 2, 3), 0, expected.length));
    assertEquals(
        before + 5,
        drive.count("ashlar.drive.read.ops"),
        "blocks 0, 1 and 8; the last two, too far away; and each change");
    try (ShardIndex.Rows rows = drive.index.rows()) {
      long from = rows.bases(SHARD, 0, 0).getFirst().position() + 5L * BLOCK;
      drive.disk.makeUnreadable(FIRST_SEGMENT, from, from + BLOCK);
    }
    assertArrayEquals(expected, drive.read(SHARD, unfolded(1, 2, 3), 0, expected.length));
  }

  /** Any lists of deltas, also overlapping, against plain arrays and the code itself. */
  @Test
  void manyDeltasAreAddedAsTheCodeSays() throws Exception {
    long seed = Long.getLong("ashlar.sim.seed", System.nanoTime());
    Random random = new Random(seed);
    for (int run = 1; run <= 100; run++) {
      SimulatedCore drive = new SimulatedCore(TestDrives.LIMITS);
      byte[] parity = noise(run, 1 + random.nextInt(6 * BLOCK));
      write(drive, PARITY, parity);
      int baseLength = random.nextInt(parity.length + 1);
      List<ShardIntent.Delta> deltas = new ArrayList<>();
      byte[] expected = Arrays.copyOf(Arrays.copyOf(parity, baseLength), 20 * BLOCK);
      for (int i = 0; i <= random.nextInt(4); i++) {
        int offset = random.nextInt(10 * BLOCK);
        byte[] bytes = noise(run * 10 + i, 1 + random.nextInt(3 * BLOCK));
        deltas.add(AbstractShardChangesContract.delta(i % 2, offset, bytes));
        add(expected, offset, i % 2, bytes);
      }
      ShardIntent.Target target =
          new ShardIntent.Target(PARITY, attempt(1), ShardView.ORIGINAL, baseLength);
      drive.prepare(new ShardIntent.Deltas(target, PROFILE, deltas));
      for (ShardIntent.Delta delta : deltas) {
        int length = (int) (delta.end() - delta.offset());
        assertArrayEquals(
            Arrays.copyOfRange(expected, (int) delta.offset(), (int) delta.end()),
            drive.read(PARITY, unfolded(1), delta.offset(), length),
            "seed " + seed);
      }
    }
  }

  private static void add(byte[] parity, int offset, int dataShard, byte[] delta) {
    ByteBuffer range = ByteBuffer.allocateDirect(delta.length).put(parity, offset, delta.length);
    ByteBuffer change = ByteBuffer.allocateDirect(delta.length).put(delta).flip();
    TestDrives.code(PROFILE).updateParity(dataShard, 1, change, range.flip());
    range.get(0, parity, offset, delta.length);
  }

  /** Power goes in the write and in the sync of each kind of batch: all of it is there, or none. */
  @Test
  void aCrashLeavesEachKindOfBatchWholeOrUndone() throws Exception {
    for (int kind = 0; kind < 5; kind++) {
      for (int call = 1; call <= 2; call++) {
        for (boolean isIndexLost : new boolean[] {false, true}) {
          crash(kind, call, isIndexLost);
        }
      }
    }
  }

  private static void crash(int kind, int call, boolean isIndexLost) throws Exception {
    SimulatedCore drive = written(SHARD, noise(1, 3 * BLOCK));
    change(drive, 1, 0, 3 * BLOCK, 3 * BLOCK);
    change(drive, 2, 3 * BLOCK, 50, 3 * BLOCK);
    if (kind >= 3) {
      drive.fold(fold(1), fold(2));
    }
    drive.core().mergeCandidates().add(new MergeCandidates.Candidate(SHARD, 0, true));
    drive.disk.crashAtCall(call);
    assertThrows(
        PowerLoss.class,
        () -> {
          switch (kind) {
            case 0 -> change(drive, 3, 10, 10, 3 * BLOCK);
            case 1 -> drive.fold(fold(1), fold(2));
            case 2 ->
                drive.commitOne(
                    new LogRequest.DiscardAll(
                        List.of(new DiscardIntent(SHARD.blob(), attempt(2))), new Answer<>()));
            case 3 -> drive.coalescer().mergeOne();
            default -> drive.delete(1);
          }
        });
    drive.disk.reboot();
    drive.index.crash(new Random(kind));
    if (isIndexLost) {
      drive.index.lose();
    }
    drive.reopen();
    byte[] expected = Arrays.copyOf(noise(1, 3 * BLOCK), 3 * BLOCK + 50);
    System.arraycopy(noise(1 + 1000, 3 * BLOCK), 0, expected, 0, 3 * BLOCK);
    System.arraycopy(noise(2 + 1000, 50), 0, expected, 3 * BLOCK, 50);
    ShardView view = unfolded(1, 2);
    try {
      assertArrayEquals(expected, drive.read(SHARD, view, 0, expected.length));
    } catch (ShardException e) {
      assertTrue(kind == 2 || kind == 4, "kind " + kind + ": " + e.getMessage());
      assertEquals(ShardFault.MISSING, e.fault());
    }
    assertEquals(1000, drive.core().drive().incarnation());
  }

  @Test
  void afterDamageShardsThatWereChangedCountAsLostAndOthersDoNot() throws Exception {
    SimulatedCore drive = written(SHARD, noise(1, 2 * BLOCK));
    drive.commit(7, noise(7, 100));
    change(drive, 1, 0, BLOCK, 2 * BLOCK);
    int damagedAt = drive.core().log().end().offset();
    change(drive, 1, BLOCK, BLOCK, 2 * BLOCK);
    drive.commit(8, noise(8, 100));
    drive.disk.flipBit(FIRST_SEGMENT, damagedAt + 41, 0);
    drive.index.lose();
    drive.reopen();
    assertEquals(1001, drive.core().drive().incarnation());
    assertEquals(ShardFault.MISSING, fault(drive, unfolded(1)), "half of the change is lost");
    assertEquals(ShardFault.MISSING, fault(drive, ShardView.ORIGINAL));
    assertArrayEquals(noise(7, 100), drive.read(7, 0, 100));
    assertArrayEquals(noise(8, 100), drive.read(8, 0, 100));
    assertFalse(DriveIdentity.read(drive.disk).changesLost());
  }

  @Test
  void fullDriveRefusesIntentsButFoldsAndDiscards() throws Exception {
    DriveConfig.Limits limits = TestDrives.TINY.withCapacity(8L * TestDrives.TINY.segmentBytes());
    SimulatedCore drive = new SimulatedCore(limits);
    write(drive, SHARD, noise(1, BLOCK));
    change(drive, 1, 0, 10, BLOCK);
    change(drive, 2, 20, 10, BLOCK);
    for (int blob = 10; !drive.core().segments().isFull(); blob++) {
      drive.commit(blob, noise(blob, 60_000));
    }
    assertFalse(drive.prepare(intent(3, 0, 60_000, BLOCK)), "there was room for an intent");
    assertEquals(List.of(), drive.fold(fold(1)));
    assertTrue(
        drive.commitOne(
            new LogRequest.DiscardAll(
                List.of(new DiscardIntent(SHARD.blob(), attempt(2))), new Answer<>())));
    assertEquals(10, drive.read(SHARD, new ShardView(1, 1, List.of()), 0, 10).length);
  }

  @Test
  void theFormatOfChangesStaysReadable() throws Exception {
    SimulatedCore writer = new SimulatedCore(TestDrives.TINY);
    write(writer, SHARD, new byte[5000]);
    writer.prepare(plain(1, 4996, 5000, "altered and grown"));
    writer.fold(fold(1));
    writer.prepare(plain(2, 0, 5013, "dropped"));
    writer.commitOne(
        new LogRequest.DiscardAll(
            List.of(new DiscardIntent(SHARD.blob(), attempt(2))), new Answer<>()));
    merge(writer);
    byte[] written =
        Arrays.copyOf(writer.disk.content(FIRST_SEGMENT), writer.core().log().end().offset());
    byte[] trimmed = DriveRulesTest.trimmed(written);
    assertArrayEquals(
        DriveRulesTest.golden("changes-v3.hex"), trimmed, () -> HexFormat.of().formatHex(trimmed));
    for (String version : List.of("changes-v1.hex", "changes-v2.hex", "changes-v3.hex")) {
      SimulatedCore reader = new SimulatedCore(TestDrives.TINY);
      reader.core().close();
      byte[] stored = DriveRulesTest.golden(version);
      reader.disk.put(
          FIRST_SEGMENT, DriveRulesTest.untrimmed(stored, TestDrives.TINY.segmentBytes()));
      reader.reopen();
      assertEquals(
          "altered and grown",
          new String(reader.read(SHARD, unfolded(1), 4996, 17), StandardCharsets.US_ASCII));
      assertEquals(ShardFault.MISSING, fault(reader, unfolded(1, 2)));
    }
  }

  /** The whole shard, whether it is worth it or not. */
  private static void merge(SimulatedCore drive) throws IOException, ShardException {
    byte[] bytes = drive.read(SHARD, unfolded(1), 0, 5013);
    try (ShardIndex.Rows rows = drive.index.rows()) {
      drive.commitOne(
          new LogRequest.Merge(
              SHARD,
              rows.bases(SHARD, 0, 1),
              rows.patches(SHARD, 0, 1),
              ByteBuffer.allocateDirect(bytes.length).put(bytes).flip(),
              AbstractShardStoreContract.crcs(bytes),
              new Answer<>()));
    }
  }

  private static ShardIntent plain(int revision, int offset, int baseLength, String text) {
    ShardView base = revision == 1 ? ShardView.ORIGINAL : new ShardView(1, 1, List.of());
    return AbstractShardChangesContract.bytes(
        new ShardIntent.Target(SHARD, attempt(revision), base, baseLength),
        offset,
        text.getBytes(StandardCharsets.US_ASCII));
  }

  private static void delta(
      SimulatedCore drive, int revision, int offset, int length, int baseLength)
      throws IOException, ShardException {
    drive.prepare(
        new ShardIntent.Deltas(
            new ShardIntent.Target(PARITY, attempt(revision), ShardView.ORIGINAL, baseLength),
            PROFILE,
            List.of(AbstractShardChangesContract.delta(0, offset, noise(revision, length)))));
  }

  private static ShardFault fault(SimulatedCore drive, ShardView view) {
    return assertThrows(ShardException.class, () -> drive.read(SHARD, view, 0, 1)).fault();
  }
}
