package dev.ashlar.storage.drive;

import static dev.ashlar.storage.drive.SimulatedCore.noise;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.compact.Compactor;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.log.CommitQueue;
import dev.ashlar.storage.drive.log.LogRequest.Delete;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.LogPosition;
import dev.ashlar.storage.drive.segment.MarkRecord;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.drive.segment.ShardPiece;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The rules that keep the bytes right, each with a test that fails when it is broken. */
class DriveRulesTest {
  private static final DriveConfig.Limits EIGHT_SEGMENTS =
      TestDrives.TINY.withCapacity(8L * TestDrives.TINY.segmentBytes());

  private static final int BLOCK = Profile.BLOCK_BYTES;
  private static final DriveConfig.Limits LIMITS = TestDrives.TINY;
  private static final String FIRST_SEGMENT = "segment-0000000000000001";

  @Test
  void aShardCostsItsBytesOneHeaderAndFourBytesPerBlock() throws IOException {
    SimulatedCore drive = new SimulatedCore(TestDrives.LIMITS);
    assertTrue(headerBytes(0) <= 48, "the header has grown");
    int stripeStrips = 3 * Profile.DEFAULT_STRIPE_UNIT;
    int blob = 0;
    for (int length = 1; length <= stripeStrips; length += 511) {
      int before = drive.core().log().end().offset();
      int segment = (int) drive.core().log().activeSegment();
      drive.commit(++blob, noise(blob, length));
      LogPosition end = drive.core().log().end();
      int budget = length + headerBytes(0) + Integer.BYTES * Math.ceilDiv(length, BLOCK);
      if (end.segment() == segment) {
        assertEquals(
            SegmentFormat.roundUp(SegmentFormat.HEADER_BYTES + budget), end.offset() - before);
      }
    }
  }

  @Test
  void manySmallShardsSharePaddingOfOneBatch() throws IOException {
    SimulatedCore drive = new SimulatedCore(TestDrives.LIMITS);
    byte[][] payloads = new byte[50][];
    int budget = SegmentFormat.HEADER_BYTES;
    for (int i = 0; i < payloads.length; i++) {
      payloads[i] = noise(i, 1000 + i);
      budget += payloads[i].length + headerBytes(1);
    }
    drive.commit(1, payloads);
    assertEquals(SegmentFormat.roundUp(budget), drive.core().log().end().offset());
    assertEquals(1, drive.count("ashlar.drive.sync.ops"));
    assertEquals(1, drive.count("ashlar.drive.write.ops"));
  }

  @Test
  void aReadTouchesOnlyTheBlocksItNeeds() throws Exception {
    SimulatedCore drive = new SimulatedCore(TestDrives.LIMITS);
    byte[] bytes = noise(1, 300_000);
    drive.commit(1, bytes);
    assertArrayEquals(Arrays.copyOfRange(bytes, 10_000, 10_001), drive.read(1, 10_000, 1));
    assertEquals(1, drive.count("ashlar.drive.read.ops"));
    assertEquals(BLOCK, drive.count("ashlar.drive.read.bytes"));
    drive.read(1, 8191, 2);
    assertEquals(2, drive.count("ashlar.drive.read.ops"));
    assertEquals(3 * BLOCK, drive.count("ashlar.drive.read.bytes"));
  }

  @Test
  void onlyTheBadBlockIsCorrupt() throws Exception {
    SimulatedCore drive = new SimulatedCore(TestDrives.LIMITS);
    byte[] bytes = noise(1, 5 * BLOCK);
    drive.commit(1, bytes);
    Extent extent = drive.index.find(new ShardId(new BlobId(1, 1), 0), 0);
    drive.disk.flipBit(FIRST_SEGMENT, (extent == null ? 0 : extent.position()) + 2 * BLOCK + 7, 3);
    assertEquals(ShardFault.CORRUPT, drive.readFault(1, 2 * BLOCK, BLOCK));
    assertEquals(ShardFault.CORRUPT, drive.readFault(1, 0, 5 * BLOCK));
    assertEquals(2, drive.count("ashlar.drive.corrupt.blocks"));
    assertEquals(2 * BLOCK, drive.read(1, 0, 2 * BLOCK).length);
    assertEquals(2 * BLOCK, drive.read(1, 3 * BLOCK, 2 * BLOCK).length);
  }

  @Test
  void aReadErrorIsAnIoError() throws Exception {
    SimulatedCore drive = new SimulatedCore(TestDrives.LIMITS);
    drive.commit(1, noise(1, 100));
    drive.disk.makeUnreadable(FIRST_SEGMENT, 0);
    assertEquals(ShardFault.IO_ERROR, drive.readFault(1, 0, 100));
    assertEquals(1, drive.count("ashlar.drive.io.errors"));
  }

  @Test
  void damagedBatchLosesItsShardsAndEndsTheIncarnation() throws Exception {
    SimulatedCore drive = new SimulatedCore(LIMITS);
    int damagedAt = 0;
    for (int batch = 1; batch <= 6; batch++) {
      damagedAt = batch == 3 ? drive.core().log().end().offset() : damagedAt;
      drive.commit(batch, noise(batch, 1000));
    }
    long before = drive.core().drive().incarnation();
    drive.disk.flipBit(FIRST_SEGMENT, damagedAt + 41, 0);
    drive.index.lose();
    drive.reopen();
    assertEquals(before + 1, drive.core().drive().incarnation());
    for (int batch = 1; batch <= 6; batch++) {
      if (batch == 3) {
        assertEquals(ShardFault.MISSING, drive.readFault(batch, 0, 1000));
      } else {
        assertArrayEquals(noise(batch, 1000), drive.read(batch, 0, 1000));
      }
    }
    drive.commit(7, noise(7, 10));
    drive.reopen();
    assertEquals(before + 1, drive.core().drive().incarnation(), "reported once");
    assertArrayEquals(noise(7, 10), drive.read(7, 0, 10));
  }

  @Test
  void damagedPayloadLosesOnlyItsBlock() throws Exception {
    SimulatedCore drive = new SimulatedCore(LIMITS);
    drive.commit(1, noise(1, 1000), noise(2, 1000));
    drive.commit(3, noise(3, 1000));
    drive.disk.flipBit(FIRST_SEGMENT, 500, 0);
    drive.index.lose();
    drive.reopen();
    assertEquals(ShardFault.CORRUPT, drive.readFault(1, 0, 1000));
    assertArrayEquals(noise(2, 1000), drive.read(2, 0, 1000));
    assertArrayEquals(noise(3, 1000), drive.read(3, 0, 1000));
    assertEquals(1000, drive.core().drive().incarnation());
  }

  @Test
  void tornTailIsErased() throws Exception {
    SimulatedCore drive = new SimulatedCore(LIMITS);
    drive.commit(1, noise(1, 1000));
    int tornAt = drive.core().log().end().offset();
    drive.commit(2, noise(2, 1000));
    drive.disk.flipBit(FIRST_SEGMENT, tornAt + 1000, 0);
    drive.index.lose();
    drive.reopen();
    assertEquals(ShardFault.MISSING, drive.readFault(2, 0, 1000));
    assertEquals(1000, drive.core().drive().incarnation());
    // Too long for this segment: the log goes on in the next one, behind the cut.
    drive.commit(3, noise(3, 65_000), noise(4, 60_000));
    drive.index.lose();
    drive.reopen();
    assertEquals(1000, drive.core().drive().incarnation());
    assertArrayEquals(noise(4, 60_000), drive.read(4, 0, 60_000));
    assertEquals(ShardFault.MISSING, drive.readFault(2, 0, 1000));
  }

  @Test
  void lostSegmentEndsTheIncarnation() throws Exception {
    SimulatedCore drive = new SimulatedCore(LIMITS);
    drive.commit(1, noise(1, 100_000));
    drive.commit(2, noise(2, 100_000));
    drive.index.checkpoint();
    drive.disk.delete(FIRST_SEGMENT);
    drive.reopen();
    assertEquals(1001, drive.core().drive().incarnation());
    assertEquals(ShardFault.MISSING, drive.readFault(1, 0, 1));
    assertArrayEquals(noise(2, 100_000), drive.read(2, 0, 100_000));
  }

  @Test
  void segmentIsFreedOnlyAfterACheckpointOfItsMoves() throws Exception {
    SimulatedCore drive = new SimulatedCore(LIMITS);
    drive.commit(1, noise(1, 50_000), noise(2, 1000));
    drive.commit(3, noise(3, 100_000));
    drive.index.checkpoint();
    drive.delete(1);
    Compactor compactor = drive.compactor();
    assertTrue(compactor.emptyOne());
    assertTrue(drive.disk.list().contains(FIRST_SEGMENT), "freed before the checkpoint");
    drive.index.crash(new Random(1));
    drive.reopen();
    assertArrayEquals(noise(2, 1000), drive.read(2, 0, 1000));
    Compactor again = drive.compactor();
    while (again.emptyOne()) {
      again.free();
    }
    assertFalse(drive.disk.list().contains(FIRST_SEGMENT));
    drive.reopen();
    assertArrayEquals(noise(2, 1000), drive.read(2, 0, 1000));
    assertEquals(ShardFault.MISSING, drive.readFault(1, 0, 1));
  }

  @Test
  void compactionMovesABadBlockWithoutMakingItGood() throws Exception {
    SimulatedCore drive = new SimulatedCore(LIMITS);
    drive.commit(1, noise(1, 60_000), noise(2, 3 * BLOCK));
    drive.commit(3, noise(3, 100_000));
    Extent extent = drive.index.find(new ShardId(new BlobId(1, 2), 0), 0);
    drive.disk.flipBit(FIRST_SEGMENT, (extent == null ? 0 : extent.position()) + BLOCK + 1, 1);
    drive.delete(1);
    Compactor compactor = drive.compactor();
    assertTrue(compactor.emptyOne());
    compactor.free();
    assertFalse(drive.disk.list().contains(FIRST_SEGMENT));
    drive.commit(4, noise(4, 10));
    drive.index.lose();
    drive.reopen();
    assertEquals(1000, drive.core().drive().incarnation());
    assertEquals(ShardFault.CORRUPT, drive.readFault(2, BLOCK, 1));
    assertEquals(BLOCK, drive.read(2, 0, BLOCK).length);
  }

  @Test
  void compactionPacksRecordsOfManyBatches() throws Exception {
    SimulatedCore drive = new SimulatedCore(LIMITS);
    for (int blob = 1; blob <= 100; blob++) {
      drive.commit(blob, noise(blob, 100));
    }
    Compactor compactor = drive.compactor();
    int emptied = 0;
    while (compactor.emptyOne()) {
      compactor.free();
      assertTrue(++emptied < 10, "moves without an end");
    }
    assertTrue(emptied > 0);
    assertTrue(drive.core().segments().count() <= 2, "still as spread as before");
    drive.index.lose();
    drive.reopen();
    for (int blob = 1; blob <= 100; blob++) {
      assertArrayEquals(noise(blob, 100), drive.read(blob, 0, 100));
    }
  }

  @Test
  void repeatedDeleteInABatchCountsOnce() throws Exception {
    SimulatedCore drive = new SimulatedCore(LIMITS);
    drive.commit(1, noise(1, 1000), noise(2, 1000));
    MarkRecord tombstone = new MarkRecord.Tombstone(new BlobId(1, 1), 1, 1);
    drive.move(List.of(tombstone, tombstone));
    drive.index.lose();
    drive.reopen();
    Extent left = drive.index.find(new ShardId(new BlobId(1, 2), 0), 0);
    Segment segment = drive.core().segments().get(1);
    assertEquals(
        left == null ? -1 : ShardPiece.base(new ShardId(new BlobId(1, 2), 0), left).storedBytes(),
        segment == null ? 0 : segment.use().liveBytes());
  }

  @Test
  void aTombstoneOutlivesTheSegmentItIsIn() throws Exception {
    SimulatedCore drive = new SimulatedCore(LIMITS);
    drive.commit(1, noise(1, 1000), noise(2, 100_000));
    drive.delete(1);
    drive.commit(3, noise(3, 100_000));
    drive.commit(4, noise(4, 100_000));
    drive.delete(3);
    drive.delete(4);
    drive.commit(5, noise(5, 100_000));
    Compactor compactor = drive.compactor();
    while (compactor.emptyOne()) {
      compactor.free();
    }
    drive.index.lose();
    drive.reopen();
    assertEquals(ShardFault.MISSING, drive.readFault(1, 0, 1));
    assertArrayEquals(noise(2, 100_000), drive.read(2, 0, 100_000));
  }

  @Test
  void afterAFailedSyncNothingIsAcknowledgedAndTheDriveIsReadOnly() throws Exception {
    for (int call = 1; call <= 2; call++) {
      SimulatedCore drive = new SimulatedCore(LIMITS);
      drive.commit(1, noise(1, 1000));
      List<Exception> failures = new ArrayList<>();
      CommitQueue queue =
          new CommitQueue(
              drive.core().log(),
              LIMITS,
              drive.core().drive(),
              "test",
              failures::add,
              System::nanoTime);
      drive.disk.failAtCall(call);
      Answer<DriveId> first = new Answer<>();
      Answer<DriveId> second = new Answer<>();
      queue.start();
      queue.add(new Delete(List.of(new BlobId(1, 1)), first));
      assertEquals(ShardFault.IO_ERROR, first.awaitFault());
      queue.add(new Delete(List.of(new BlobId(1, 1)), second));
      assertEquals(ShardFault.READ_ONLY, second.awaitFault());
      queue.stop();
      assertEquals(1, failures.size());
      assertEquals(
          "writing to " + FIRST_SEGMENT + " failed: simulated input/output error",
          failures.getFirst().getMessage());
      assertArrayEquals(noise(1, 1000), drive.read(1, 0, 1000), "reads go on");
      drive.core().endIncarnation();
      assertEquals(1001, drive.reopen().drive().incarnation());
    }
  }

  @Test
  void aFullDriveStillDeletesAndCompactsAndThenHasRoomAgain() throws Exception {
    SimulatedCore drive = new SimulatedCore(EIGHT_SEGMENTS);
    int written = 0;
    while (!drive.core().segments().isFull()) {
      drive.commit(++written, noise(written, 60_000));
    }
    assertEquals(ShardFault.MISSING, drive.readFault(written, 0, 1), "was refused");
    assertTrue(drive.core().segments().count() <= 5, "the reserve was used for new data");
    for (int blob = 1; blob < written; blob++) {
      assertEquals(60_000, drive.read(blob, 0, 60_000).length);
      if (blob % 2 == 1) {
        drive.delete(blob);
      }
    }
    Compactor compactor = drive.compactor();
    while (compactor.emptyOne()) {
      compactor.free();
    }
    drive.core().segments().prepare(drive.core().log().activeRoomBytes());
    assertFalse(drive.core().segments().isFull());
    drive.commit(100, noise(100, 60_000));
    assertEquals(60_000, drive.read(100, 0, 60_000).length);
  }

  @Test
  void aFullDriveOfOneSegmentHasRoomAgainAfterDeletes() throws Exception {
    DriveConfig.Limits oneSegment =
        new DriveConfig.Limits(
            256 << 10,
            4 * (256 << 10),
            256 << 10,
            64,
            1 << 20,
            64,
            64 << 10,
            1,
            1,
            TestDrives.STALL,
            TestDrives.STALL);
    for (int keepEach : new int[] {3, Integer.MAX_VALUE}) {
      SimulatedCore drive = new SimulatedCore(oneSegment);
      int written = 0;
      while (!drive.core().segments().isFull()) {
        drive.commit(++written, noise(written, 20_000));
      }
      assertEquals(1, drive.core().segments().count());
      for (int blob = 1; blob < written; blob++) {
        if (blob % keepEach != 0) {
          drive.delete(blob);
        }
      }
      Compactor compactor = drive.compactor();
      int emptied = 0;
      while (compactor.emptyOne()) {
        compactor.free();
        drive.core().segments().prepare(drive.core().log().activeRoomBytes());
        assertTrue(++emptied < 3, "goes round in circles");
      }
      assertFalse(drive.core().segments().isFull());
      drive.commit(1000, noise(1000, 20_000));
      for (boolean isLost : new boolean[] {false, true}) {
        if (isLost) {
          drive.index.lose();
        }
        drive.reopen();
        assertEquals(1000, drive.core().drive().incarnation());
        assertEquals(20_000, drive.read(1000, 0, 20_000).length);
        for (int blob = keepEach; blob < written && blob > 0; blob += keepEach) {
          assertArrayEquals(noise(blob, 20_000), drive.read(blob, 0, 20_000));
        }
        assertEquals(ShardFault.MISSING, drive.readFault(1, 0, 1));
      }
    }
  }

  @Test
  void movesDoNotOpenTheReserveToNewData() throws Exception {
    SimulatedCore drive = new SimulatedCore(EIGHT_SEGMENTS);
    int written = 0;
    while (!drive.core().segments().isFull()) {
      drive.commit(++written, noise(written, 60_000));
    }
    drive.delete(1);
    assertTrue(drive.compactor().emptyOne());
    drive.commit(100, noise(100, 1000));
    assertEquals(ShardFault.MISSING, drive.readFault(100, 0, 1), "was refused");
    drive.delete(2);
    assertEquals(ShardFault.MISSING, drive.readFault(2, 0, 1));
  }

  @Test
  void theIdentityFormatStaysReadable() throws Exception {
    byte[] golden = golden("identity-v4.hex");
    DriveIdentity identity =
        new DriveIdentity(TestDrives.CLUSTER, new DriveId(SimulatedCore.DRIVE, 1000), true);
    assertEquals(
        identity.withChangesLost(false),
        DriveIdentity.decode(ByteBuffer.wrap(golden("identity-v1.hex"))));
    assertEquals(identity, DriveIdentity.decode(ByteBuffer.wrap(golden("identity-v2.hex"))));
    assertEquals(identity, DriveIdentity.decode(ByteBuffer.wrap(golden("identity-v3.hex"))));
    byte[] encoded = new byte[golden.length];
    identity.encode().get(encoded);
    assertArrayEquals(golden, encoded, () -> HexFormat.of().formatHex(encoded));
    assertEquals(identity, DriveIdentity.decode(ByteBuffer.wrap(golden)));
    golden[20] ^= 1;
    assertThrows(IOException.class, () -> DriveIdentity.decode(ByteBuffer.wrap(golden)));
  }

  @Test
  void theSegmentFormatStaysReadable() throws Exception {
    byte[] golden = golden("segment-v3.hex");
    SimulatedCore writer = new SimulatedCore(LIMITS);
    writer.commit(1, "small".getBytes(StandardCharsets.US_ASCII), new byte[5000]);
    writer.delete(2);
    int sealed = writer.core().log().end().offset() + BLOCK;
    writer.commit(3, noise(3, LIMITS.segmentBytes() - BLOCK));
    byte[] written = Arrays.copyOf(writer.disk.content(FIRST_SEGMENT), sealed);
    assertArrayEquals(golden, trimmed(written), () -> HexFormat.of().formatHex(trimmed(written)));

    for (String version : List.of("segment-v1.hex", "segment-v2.hex", "segment-v3.hex")) {
      SimulatedCore reader = new SimulatedCore(LIMITS);
      reader.core().close();
      reader.disk.put(FIRST_SEGMENT, untrimmed(golden(version), LIMITS.segmentBytes()));
      reader.reopen();
      assertEquals("small", new String(reader.read(1, 0, 5), StandardCharsets.US_ASCII));
      assertEquals(ShardFault.MISSING, reader.readFault(2, 0, 1));
      assertEquals(1000, reader.core().drive().incarnation());
    }
  }

  /** What {@link #trimmed} was made of, with zeros behind it. */
  static byte[] untrimmed(byte[] trimmed, int length) {
    byte[] blocks = new byte[length];
    int at = 0;
    for (int block = 0; at < trimmed.length; block++) {
      int bytes = (trimmed[at] & 0xff) << 8 | (trimmed[at + 1] & 0xff);
      System.arraycopy(trimmed, at + 2, blocks, block * BLOCK, bytes);
      at += 2 + bytes;
    }
    return blocks;
  }

  /** Each block without the zeros behind its content, lengths before. */
  static byte[] trimmed(byte[] blocks) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int from = 0; from < blocks.length; from += BLOCK) {
      int to = from + BLOCK;
      while (to > from && blocks[to - 1] == 0) {
        to--;
      }
      out.write((to - from) >> 8);
      out.write(to - from);
      out.write(blocks, from, to - from);
    }
    return out.toByteArray();
  }

  static byte[] golden(String name) throws IOException {
    try (InputStream in = DriveRulesTest.class.getResourceAsStream("/golden/" + name)) {
      if (in == null) {
        throw new IOException("no golden file " + name);
      }
      return HexFormat.of()
          .parseHex(new String(in.readAllBytes(), StandardCharsets.US_ASCII).strip());
    }
  }

  private static int headerBytes(int crcCount) {
    return SegmentFormat.pieceHeaderBytes(ShardPiece.Role.BASE, Extent.Stamp.ORIGINAL, crcCount);
  }
}
