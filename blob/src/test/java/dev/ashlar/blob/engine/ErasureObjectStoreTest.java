package dev.ashlar.blob.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.blob.context.EngineConfig;
import dev.ashlar.blob.context.MemoryBudget;
import dev.ashlar.blob.read.WindowRead;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ErasureObjectStoreTest {
  private static final Profile FOUR_TWO = Profile.parse("4+2", 16384);

  @Provide
  Arbitrary<Profile> profiles() {
    return Arbitraries.of(
        FOUR_TWO,
        Profile.parse("2+2", 4096),
        Profile.parse("6+2", 16384),
        Profile.parse("8+3", 8192),
        Profile.parse("1+2", 16384),
        Profile.parse("1+0", 16384),
        Profile.parse("3+1", 4096),
        Profile.parse("4+2,optimizations=off", 4096),
        Profile.parse("1+2,optimizations=off", 8192));
  }

  @Property(tries = 300)
  void writtenDataIsReadBackWithAnyLossUpToM(@ForAll("profiles") Profile profile, @ForAll long seed)
      throws Exception {
    Random random = new Random(seed);
    EngineConfig config =
        new EngineConfig(
            3 * profile.stripeBytes(), 2, 7L * profile.stripeBytes(), Duration.ofSeconds(20));
    // As little memory as a single request needs: none may get stuck for want of its own.
    MemoryBudget memory =
        new MemoryBudget(
            2 * WindowRead.bytesMax(profile, profile.stripeBytes()) * 8 / 7 + 8,
            Duration.ofSeconds(20));
    EngineFixture engine = new EngineFixture(profile, config, memory);
    byte[] bytes = EngineFixture.bytes(random, length(random, profile));
    int lostBefore = profile.parityShards() == 0 ? 0 : random.nextInt(profile.parityShards());
    List<Integer> order = shuffledSlots(profile, random);
    order
        .subList(0, lostBefore)
        .forEach(slot -> engine.drives.get(slot).failWrites(ShardFault.IO_ERROR));
    assertEquals(ResultCode.OK, engine.put(bytes, random).getCode());
    for (int slot : order.subList(lostBefore, profile.parityShards())) {
      damage(engine, slot, random.nextInt(3));
    }
    assertArrayEquals(bytes, engine.get(0, bytes.length));
    for (int i = 0; i < 20 && bytes.length > 0; i++) {
      int from = random.nextInt(bytes.length);
      int to = from + 1 + random.nextInt(bytes.length - from);
      assertArrayEquals(Arrays.copyOfRange(bytes, from, to), engine.get(from, to - from));
    }
    assertEquals(0, engine.pool.lentBytes(), "slabs in use when nothing is in flight");
    assertEquals(0, engine.memory.reservedBytes());
  }

  private static int length(Random random, Profile profile) {
    int stripe = profile.stripeBytes();
    return switch (random.nextInt(4)) {
      case 0 -> random.nextInt(profile.stripeUnit() + 2);
      case 1 -> Math.max(0, stripe * (1 + random.nextInt(16)) + random.nextInt(3) - 1);
      case 2 -> profile.stripeUnit() * (1 + random.nextInt(20)) + random.nextInt(3) - 1;
      default -> random.nextInt(16 * stripe);
    };
  }

  private static List<Integer> shuffledSlots(Profile profile, Random random) {
    List<Integer> slots = new ArrayList<>(IntStream.range(0, profile.shards()).boxed().toList());
    Collections.shuffle(slots, random);
    return slots;
  }

  private static void damage(EngineFixture engine, int slot, int kind) {
    switch (kind) {
      case 0 -> engine.remove(slot);
      case 1 -> engine.drives.get(slot).failAll(ShardFault.IO_ERROR);
      default ->
          engine
              .metadata
              .rows
              .keySet()
              .forEach(blob -> engine.drives.get(slot).corrupt(new ShardId(blob, slot)));
    }
  }

  @Test
  void storedBytesAreTheArithmetic() throws Exception {
    int[] lengths = {0, 1, 5000, 16383, 16384, 16385, 40000, 65535, 65536, 65537, 150_000, 196_608};
    for (int length : lengths) {
      EngineFixture engine = new EngineFixture(FOUR_TWO);
      engine.put(new byte[length], new Random(length));
      assertEquals(new StripeLayout(FOUR_TWO, length).storedBytes(), engine.storedBytes());
    }
  }

  @Test
  void aSmallRangeReadsOneBlockOfOneDrive() throws Exception {
    EngineFixture engine = new EngineFixture(FOUR_TWO);
    engine.put(new byte[10 << 20], new Random(1));
    long readsBefore = reads(engine);
    long bytesBefore = readBytes(engine);
    engine.get(5_000_000 / 4096 * 4096L, 4096);
    assertEquals(1, reads(engine) - readsBefore);
    assertEquals(4096, readBytes(engine) - bytesBefore);
  }

  @Test
  void aDegradedRangeReadsTheSameBlocksOfKOthers() throws Exception {
    EngineFixture engine = new EngineFixture(FOUR_TWO);
    engine.put(new byte[10 << 20], new Random(1));
    engine.remove(new StripeLayout(FOUR_TWO, 10 << 20).slotOf(4096));
    long readsBefore = reads(engine);
    long bytesBefore = readBytes(engine);
    engine.get(4096, 4096);
    assertEquals(4, reads(engine) - readsBefore);
    assertEquals(4 * 4096, readBytes(engine) - bytesBefore);
  }

  @Test
  void aDegradedOneStripObjectReadsOneCopy() throws Exception {
    EngineFixture engine = new EngineFixture(FOUR_TWO);
    byte[] bytes = EngineFixture.bytes(new Random(3), 5000);
    engine.put(bytes, new Random(1));
    engine.remove(0);
    long before = reads(engine);
    assertArrayEquals(bytes, engine.get(0, 5000));
    assertEquals(1, reads(engine) - before);
  }

  @Test
  void belowTheDurableMinimumAWriteIsRefusedAndLeavesNothing() throws Exception {
    EngineFixture engine = new EngineFixture(FOUR_TWO);
    engine.drives.get(4).failWrites(ShardFault.IO_ERROR);
    engine.drives.get(5).failWrites(ShardFault.IO_ERROR);
    DataUnavailableException e =
        assertThrows(
            DataUnavailableException.class, () -> engine.put(new byte[3 << 20], new Random(1)));
    assertEquals(Reason.TOO_FEW_DRIVES, e.reason());
    assertEquals(0, engine.storedBytes());
    assertEquals(0, engine.pool.lentBytes());
  }

  @Test
  void deletesRefusedUnderOverloadAreRetried() throws Exception {
    EngineFixture engine = new EngineFixture(FOUR_TWO);
    for (int i = 0; i < EngineFixture.REMOVALS_MAX + 1; i++) {
      engine.drives.get(2).failAll(null);
      try (ObjectWriter writer = engine.store.newWriter(3 << 20)) {
        writer.write(ByteBuffer.allocate(1 << 20));
        engine.drives.get(2).failAll(ShardFault.OVERLOADED);
        assertThrows(
            DataUnavailableException.class, () -> writer.write(ByteBuffer.allocate(2 << 20)));
      }
    }
    assertEquals((EngineFixture.REMOVALS_MAX + 1) * (256L << 10), engine.storedBytes());
    engine.cleaner.retry();
    assertEquals(EngineFixture.REMOVALS_MAX, engine.cleaner.waiting(), "refused again");
    engine.drives.get(2).failAll(null);
    engine.cleaner.retry();
    assertEquals(0, engine.cleaner.waiting());
    assertEquals(256L << 10, engine.storedBytes(), "what was too much waits for the next start");
  }

  @Test
  void fullDrivesAreDistinguishedFromTooFewDrives() throws Exception {
    EngineFixture engine = new EngineFixture(FOUR_TWO);
    engine.drives.get(4).failWrites(ShardFault.FULL);
    engine.drives.get(5).failWrites(ShardFault.FULL);
    assertEquals(Reason.FULL, refusal(engine), "before the first byte");
    engine.drives.get(4).failWrites(null);
    engine.drives.get(5).failWrites(null);
    try (ObjectWriter writer = engine.store.newWriter(3 << 20)) {
      engine.drives.get(4).failWrites(ShardFault.FULL);
      engine.drives.get(5).failWrites(ShardFault.FULL);
      DataUnavailableException e =
          assertThrows(
              DataUnavailableException.class, () -> writer.write(ByteBuffer.allocate(3 << 20)));
      assertEquals(Reason.FULL, e.reason(), "on the way");
    }
    engine.remove(3);
    engine.remove(4);
    assertEquals(Reason.TOO_FEW_DRIVES, refusal(engine), "room on drive 5 would not help");
  }

  private static Reason refusal(EngineFixture engine) {
    return assertThrows(
            DataUnavailableException.class, () -> engine.put(new byte[100], new Random(1)))
        .reason();
  }

  @Test
  void moreThanMLossesEndInAnErrorNotInWrongBytes() throws Exception {
    EngineFixture engine = new EngineFixture(FOUR_TWO);
    engine.put(EngineFixture.bytes(new Random(1), 200_000), new Random(1));
    engine.remove(0);
    engine.remove(1);
    engine.remove(5);
    DataUnavailableException e =
        assertThrows(DataUnavailableException.class, () -> engine.get(0, 200_000));
    assertEquals(Reason.TOO_FEW_DRIVES, e.reason());
    assertEquals(0, engine.pool.lentBytes());
  }

  /** The second window was begun before the drive went, and turns to it after. */
  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void aDriveThatGoesAfterItWasCountedOnIsReplaced() throws Exception {
    EngineFixture engine = new EngineFixture(FOUR_TWO);
    byte[] bytes = EngineFixture.bytes(new Random(8), 3 << 20);
    engine.put(bytes, new Random(1));
    engine.remove(0);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    engine.store.read(
        Objects.requireNonNull(engine.metadata.object),
        new ByteRange(0, bytes.length),
        piece -> {
          engine.remove(4);
          byte[] some = new byte[piece.bytes().remaining()];
          piece.bytes().get(some);
          out.writeBytes(some);
          piece.release();
        });
    assertArrayEquals(bytes, out.toByteArray());
    assertEquals(0, engine.pool.lentBytes());
  }

  @Test
  void aRemovedBlobIsGone() throws Exception {
    EngineFixture engine = new EngineFixture(FOUR_TWO);
    engine.put(new byte[100], new Random(1));
    engine.metadata.rows.clear();
    for (MemoryShardStore drive : engine.drives) {
      drive.wipe();
    }
    DataUnavailableException e =
        assertThrows(DataUnavailableException.class, () -> engine.get(0, 100));
    assertEquals(Reason.GONE, e.reason());
  }

  @Test
  void aFullQueueFailsTheWriteInsteadOfLeavingADebt() throws Exception {
    EngineFixture engine = new EngineFixture(FOUR_TWO);
    try (ObjectWriter writer = engine.store.newWriter(3 << 20)) {
      writer.write(ByteBuffer.allocate(1));
      engine.drives.get(2).failWrites(ShardFault.OVERLOADED);
      DataUnavailableException e =
          assertThrows(
              DataUnavailableException.class, () -> writer.write(ByteBuffer.allocate(2 << 20)));
      assertEquals(Reason.OVERLOADED, e.reason());
    }
    assertEquals(0, engine.storedBytes());
  }

  @Test
  void aSlotBeyondItsDeadlineBecomesADebt() throws Exception {
    EngineConfig config = new EngineConfig(1 << 20, 2, 1 << 30, Duration.ofMillis(100));
    EngineFixture engine = new EngineFixture(FOUR_TWO, config);
    engine.drives.get(3).holdAnswers();
    byte[] bytes = EngineFixture.bytes(new Random(5), 300_000);
    assertEquals(ResultCode.OK, engine.put(bytes, new Random(1)).getCode());
    assertEquals(List.of(3), engine.metadata.rows.values().iterator().next().getDebtSlotsList());
    engine.drives.get(3).releaseAnswers();
    assertEquals(0, engine.pool.lentBytes());
    assertArrayEquals(bytes, engine.get(0, bytes.length));
  }

  @Test
  void aDriveThatDoesNotAnswerIsNotWaitedForInEachWindow() throws Exception {
    EngineConfig config = new EngineConfig(1 << 20, 2, 1 << 30, Duration.ofMillis(100));
    EngineFixture engine = new EngineFixture(FOUR_TWO, config);
    byte[] bytes = EngineFixture.bytes(new Random(6), 10 << 20);
    engine.put(bytes, new Random(1));
    engine.drives.get(1).holdAnswers();
    long before = engine.drives.get(1).reads();
    assertArrayEquals(bytes, engine.get(0, bytes.length));
    assertEquals(2, engine.drives.get(1).reads() - before, "asked by the windows in flight only");
    engine.drives.get(1).releaseAnswers();
    assertEquals(0, engine.pool.lentBytes());
  }

  @Test
  void aRefusedCommandLeavesNothingAnUnknownOneLeavesAll() throws Exception {
    EngineFixture engine = new EngineFixture(FOUR_TWO);
    engine.metadata.answer = ResultCode.PRECONDITION_FAILED;
    assertEquals(
        ResultCode.PRECONDITION_FAILED, engine.put(new byte[5000], new Random(1)).getCode());
    assertEquals(0, engine.storedBytes());
    engine.metadata.failure = MetadataUnavailableException.refused("queue full");
    assertThrows(
        MetadataUnavailableException.class, () -> engine.put(new byte[5000], new Random(1)));
    assertEquals(0, engine.storedBytes());
    engine.metadata.failure =
        MetadataUnavailableException.unknown("timed out", new IllegalStateException());
    assertThrows(
        MetadataUnavailableException.class, () -> engine.put(new byte[5000], new Random(1)));
    assertEquals(3 * 5000, engine.storedBytes());
  }

  @Test
  void aSinkThatFailsLeavesNoMemoryBehind() throws Exception {
    EngineFixture engine = new EngineFixture(FOUR_TWO);
    engine.put(new byte[5 << 20], new Random(1));
    assertThrows(
        DataUnavailableException.class,
        () ->
            engine.store.read(
                Objects.requireNonNull(engine.metadata.object),
                new ByteRange(0, 5 << 20),
                piece -> {
                  piece.release();
                  throw new DataUnavailableException(Reason.CANCELLED, "client gone");
                }));
    assertEquals(0, engine.pool.lentBytes());
  }

  private static long reads(EngineFixture engine) {
    return engine.drives.stream().mapToLong(MemoryShardStore::reads).sum();
  }

  private static long readBytes(EngineFixture engine) {
    return engine.drives.stream().mapToLong(MemoryShardStore::readBytes).sum();
  }
}
