package dev.ashlar.storage.drive;

import static dev.ashlar.storage.drive.SimulatedCore.noise;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.ashlar.protocol.client.AbstractShardChangesContract;
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
import dev.ashlar.storage.drive.index.ReadThrottle;
import dev.ashlar.storage.drive.scrub.ScrubPass;
import dev.ashlar.storage.drive.scrub.ScrubState;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.io.FileNotOpenedException;
import dev.ashlar.storage.io.SimulatedDrive;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** The reading of everything finds every block that is damaged, and none that is not. */
class DriveScrubTest {
  private static final int BLOCK = SegmentFormat.BLOCK;

  private static final ShardId CHANGED = new ShardId(new BlobId(1, 9), 0);

  /** What a pass told of: shard, offset and fault. */
  private final List<String> told = new ArrayList<>();

  private static SimulatedCore drive() throws IOException {
    return new SimulatedCore(TestDrives.TINY);
  }

  /** Packed payloads, bodies with tails, several segments, and something of which half is dead. */
  private static SimulatedCore written() throws IOException {
    SimulatedCore drive = drive();
    drive.commit(1, noise(1, 100), noise(2, 5000), noise(3, BLOCK));
    drive.commit(4, noise(4, 70_000));
    drive.commit(5, noise(5, 65_536), noise(6, 10));
    drive.commit(7, noise(7, 30_000), noise(8, 20_000));
    drive.commit(9, noise(9, 90_001));
    change(drive, 1, 2 * BLOCK, 3 * BLOCK, 90_001); // folded: patches
    change(drive, 2, 22 * BLOCK, 2 * BLOCK, 90_001); // folded: growth
    change(drive, 3, BLOCK, 4 * BLOCK, 24 * BLOCK); // an intent
    drive.fold(
        new FoldIntent(CHANGED, attempt(1), 1, 0), new FoldIntent(CHANGED, attempt(2), 2, 1));
    drive.delete(2);
    drive.delete(7);
    return drive;
  }

  private static AttemptId attempt(int revision) {
    return new AttemptId(2, revision);
  }

  private static void change(
      SimulatedCore drive, int revision, int offset, int length, int baseLength)
      throws IOException {
    List<CommittedAttempt> before =
        IntStream.range(1, revision).mapToObj(i -> new CommittedAttempt(attempt(i), i)).toList();
    ShardIntent.Target target =
        new ShardIntent.Target(
            CHANGED, attempt(revision), new ShardView(revision - 1, 0, before), baseLength);
    try {
      assertTrue(
          drive.prepare(
              AbstractShardChangesContract.bytes(target, offset, noise(revision, length))));
    } catch (ShardException e) {
      throw new AssertionError(e);
    }
  }

  private ScrubPass scrub(SimulatedCore drive) throws IOException {
    return drive.core().newScrub(ReadThrottle.NONE, TestDrives.CLOCK);
  }

  private boolean readNext(ScrubPass scrub) throws IOException {
    return scrub.readNext(
        (shard, range, fault) -> told.add(shard + " " + range.offset() + " " + fault));
  }

  private ScrubState pass(SimulatedCore drive) throws IOException {
    told.clear();
    ScrubPass scrub = scrub(drive);
    scrub.begin();
    while (readNext(scrub)) {
      // one segment after the other
    }
    assertFalse(scrub.isRunning());
    return scrub.state();
  }

  @Test
  void unreadableStateOnlyRestartsThePass() throws Exception {
    SimulatedCore drive = written();
    pass(drive);
    drive.disk.makeUnreadable(ScrubState.FILE, 0);
    assertEquals(ScrubState.NEVER, scrub(drive).state());
    assertTrue(pass(drive).finishedMs() > 0);
  }

  /** Else the same segment would be read for ever. */
  @Test
  void unwritableStateDoesNotStopThePass() throws Exception {
    SimulatedCore drive = written();
    drive.disk.fail(SimulatedDrive.Calls.DATA, 1, 1000);
    assertTrue(pass(drive).finishedMs() > 0);
    assertEquals(List.of(), told);
  }

  /** Nothing is known of what is in it; a pass that waited for it would never end. */
  @Test
  void unopenedSegmentIsRetriedAndThenSkipped() throws Exception {
    SimulatedCore drive = written();
    long live = LiveBlock.all(drive.index).stream().mapToLong(LiveBlock::length).sum();
    long inSecond =
        LiveBlock.all(drive.index).stream()
            .filter(block -> block.segment() == 2)
            .mapToLong(LiveBlock::length)
            .sum();
    assertTrue(inSecond > 0);
    drive.disk.makeUnopenable(Segment.fileName(2));
    ScrubPass scrub = scrub(drive);
    scrub.begin();
    assertTrue(readNext(scrub));
    assertThrows(FileNotOpenedException.class, () -> readNext(scrub));
    while (readNext(scrub)) {
      // one segment after the other
    }
    assertFalse(scrub.isRunning());
    assertEquals(live - inSecond, scrub.state().verifiedBytes());
    assertEquals(0, scrub.state().damagedBlocks());
    assertEquals(0, scrub.state().unreadableDirectories());
    assertEquals(List.of(), told);
    drive.disk.makeUnopenable("");
    assertEquals(live, pass(drive).verifiedBytes());
  }

  private static String told(LiveBlock block, ShardFault fault) {
    return block.shard() + " " + block.offset() + " " + fault;
  }

  @Test
  void allLiveBytesAreVerified() throws IOException {
    SimulatedCore drive = written();
    ScrubState done = pass(drive);
    long live = LiveBlock.all(drive.index).stream().mapToLong(LiveBlock::length).sum();
    assertEquals(live, done.verifiedBytes());
    assertEquals(0, done.damagedBlocks());
    assertEquals(0, done.unreadableDirectories());
    assertTrue(done.segments() > 1);
    assertEquals(1_000_000, done.finishedMs());
    assertEquals(List.of(), told);
    assertEquals(0, drive.slabs.lentBytes());
  }

  /** A drive has a quarter of a million blocks per gigabyte, all of which may be damaged. */
  @Test
  void muchDamageTakesAFewLinesOfTheLog() throws IOException {
    SimulatedCore drive = drive();
    drive.commit(1, noise(1, 20 * BLOCK));
    for (LiveBlock block : LiveBlock.all(drive.index)) {
      drive.disk.flipBit(block.file(), block.position(), 0);
    }
    ListAppender<ILoggingEvent> said = new ListAppender<>();
    Logger logger = (Logger) LoggerFactory.getLogger("dev.ashlar.storage.drive.scrub");
    said.start();
    logger.addAppender(said);
    try {
      assertEquals(20, pass(drive).damagedBlocks());
    } finally {
      logger.detachAppender(said);
    }
    assertEquals(20, told.size(), "all are repaired");
    assertTrue(said.list.size() <= 10, () -> said.list.toString());
    assertTrue(said.list.toString().contains("20 blocks are damaged"), () -> said.list.toString());
  }

  @Test
  void everyFlippedBitOfALiveBlockIsFound() throws IOException {
    SimulatedCore drive = written();
    Random random = new Random(3);
    for (LiveBlock block : LiveBlock.all(drive.index)) {
      int at = block.position() + random.nextInt(block.length());
      int bit = random.nextInt(8);
      drive.disk.flipBit(block.file(), at, bit);
      assertEquals(1, pass(drive).damagedBlocks(), block::toString);
      assertEquals(List.of(told(block, ShardFault.CORRUPT)), told);
      drive.disk.flipBit(block.file(), at, bit);
    }
    assertEquals(0, pass(drive).damagedBlocks());
  }

  @Test
  void allOfManyDamagedBlocksAreFound() throws IOException {
    SimulatedCore drive = written();
    Random random = new Random(4);
    List<String> expected = new ArrayList<>();
    for (LiveBlock block : LiveBlock.all(drive.index)) {
      if (random.nextBoolean()) {
        block.flip(drive.disk, random);
        expected.add(told(block, ShardFault.CORRUPT));
      }
    }
    assertEquals(expected.size(), pass(drive).damagedBlocks());
    assertEquals(expected.stream().sorted().toList(), told.stream().sorted().toList());
  }

  @Test
  void unreadableBlocksAreFoundAndTheirNeighboursVerified() throws IOException {
    SimulatedCore drive = written();
    List<LiveBlock> blocks = LiveBlock.all(drive.index);
    long live = blocks.stream().mapToLong(LiveBlock::length).sum();
    for (LiveBlock block : blocks) {
      if (block.position() % BLOCK == 0) { // and not in the block of its directory
        drive.disk.makeUnreadable(block.file(), block.position(), block.position() + BLOCK);
        ScrubState done = pass(drive);
        assertTrue(told.contains(told(block, ShardFault.IO_ERROR)), () -> block + " in " + told);
        assertTrue(done.damagedBlocks() <= 2, "a short payload may reach into the next block");
        assertEquals(live, done.verifiedBytes());
      }
    }
  }

  @Test
  void aTornSectorIsFound() throws IOException {
    SimulatedCore drive = written();
    for (LiveBlock block : LiveBlock.all(drive.index)) {
      byte[] content = drive.disk.content(block.file());
      int sector = block.position() / 512 * 512;
      int from = Math.max(sector, block.position());
      int to = Math.min(sector + 512, block.position() + block.length());
      byte[] torn = content.clone();
      Arrays.fill(torn, from, to, (byte) 0);
      put(drive, block.file(), torn);
      pass(drive);
      assertEquals(List.of(told(block, ShardFault.CORRUPT)), told);
      put(drive, block.file(), content);
    }
  }

  private static void put(SimulatedCore drive, String file, byte[] content) throws IOException {
    try (var open = drive.disk.open(file)) {
      open.write(List.of(ByteBuffer.wrap(content)), 0);
      open.sync();
    }
  }

  @Test
  void piecesInABatchWithoutDirectoryAreVerified() throws IOException {
    SimulatedCore drive = written();
    List<LiveBlock> blocks = LiveBlock.all(drive.index);
    long live = blocks.stream().mapToLong(LiveBlock::length).sum();
    drive.disk.flipBit(Segment.fileName(1), 41, 0); // of the first batch
    ScrubState done = pass(drive);
    assertEquals(1, done.unreadableDirectories());
    assertEquals(live, done.verifiedBytes());
    assertEquals(0, done.damagedBlocks());
    LiveBlock inIt =
        blocks.stream().filter(block -> block.segment() == 1).findFirst().orElseThrow();
    inIt.flip(drive.disk, new Random(1));
    assertEquals(1, pass(drive).damagedBlocks());
    assertEquals(List.of(told(inIt, ShardFault.CORRUPT)), told);
  }

  @Test
  void deadPiecesAreNotVerified() throws IOException {
    SimulatedCore drive = written();
    LiveBlock dying =
        LiveBlock.all(drive.index).stream()
            .filter(block -> block.shard().blob().equals(new BlobId(1, 5)))
            .findFirst()
            .orElseThrow();
    dying.flip(drive.disk, new Random(1));
    drive.delete(5);
    assertEquals(0, pass(drive).damagedBlocks());
  }

  @Test
  void passContinuesAfterARestart() throws IOException {
    SimulatedCore drive = written();
    ScrubPass first = scrub(drive);
    first.begin();
    assertTrue(readNext(first));
    ScrubState half = first.state();
    assertEquals(1, half.segments());
    drive.reopen();
    ScrubPass second = scrub(drive);
    assertEquals(half, second.state());
    assertTrue(second.isRunning());
    while (readNext(second)) {
      // one segment after the other
    }
    ScrubState whole = second.state();
    assertEquals(pass(drive).verifiedBytes(), whole.verifiedBytes(), "nothing twice");
  }

  /** What is moved behind the pass' end while it runs belongs to it, too. */
  @Test
  void piecesMovedAheadOfThePassAreVerified() throws Exception {
    SimulatedCore drive = drive();
    for (int i = 0; i < 20; i++) {
      drive.commit(10 * i, noise(i, 40_000), noise(i, 40_000));
    }
    LiveBlock damaged =
        LiveBlock.all(drive.index).stream()
            .filter(block -> block.shard().blob().equals(new BlobId(1, 181)))
            .findFirst()
            .orElseThrow();
    damaged.flip(drive.disk, new Random(1));
    told.clear();
    ScrubPass scrub = scrub(drive);
    scrub.begin();
    assertTrue(readNext(scrub));
    for (int i = 0; i < 20; i++) {
      drive.delete(10 * i);
    }
    Compactor compactor = drive.compactor();
    while (compactor.emptyOne()) {
      compactor.free();
    }
    while (readNext(scrub)) {
      // one segment after the other
    }
    assertEquals(List.of(told(damaged, ShardFault.CORRUPT)), told);
  }

  @Test
  void pieceMovedDuringVerificationIsNotDamage() throws Exception {
    SimulatedCore drive = drive();
    for (int i = 0; i < 8; i++) {
      drive.commit(10 * i, noise(i, 20_000), noise(i, 20_000));
    }
    Compactor compactor = drive.compactor();
    int[] deleted = new int[1];
    ScrubPass scrub =
        drive
            .core()
            .newScrub(
                bytes -> {
                  try {
                    if (deleted[0] < 8) {
                      drive.delete(10 * deleted[0]++);
                    }
                    if (compactor.emptyOne()) {
                      compactor.free();
                    }
                  } catch (Exception e) {
                    throw new AssertionError(e);
                  }
                  return true;
                },
                TestDrives.CLOCK);
    scrub.begin();
    while (readNext(scrub)) {
      // one segment after the other
    }
    assertEquals(List.of(), told);
  }

  @Test
  void passStopsOnRequest() throws IOException {
    SimulatedCore drive = written();
    int[] left = {2};
    ScrubPass scrub = drive.core().newScrub(bytes -> left[0]-- > 0, TestDrives.CLOCK);
    scrub.begin();
    assertFalse(readNext(scrub));
    assertTrue(scrub.isRunning());
    assertEquals(0, scrub.state().segments());
    assertEquals(0, drive.slabs.lentBytes());
  }

  @Test
  void theStateFormatStaysReadable() {
    ScrubState state = new ScrubState(true, true, 1, 2, 3, 4, 5, 6, 7, 8);
    byte[] encoded = new byte[ScrubState.BYTES];
    state.encode().get(encoded);
    assertEquals(
        "415348430001000300000000000000010000000000000002000000000000000300000000000000040000000000"
            + "00000500000000000000060000000000000007000000000000000800000000d7cc4eae",
        HexFormat.of().formatHex(encoded));
    assertEquals(state, ScrubState.decode(ByteBuffer.wrap(encoded)));
    encoded[20] ^= 1;
    assertEquals(ScrubState.NEVER, ScrubState.decode(ByteBuffer.wrap(encoded)));
  }
}
