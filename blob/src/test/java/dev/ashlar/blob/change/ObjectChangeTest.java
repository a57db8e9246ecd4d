package dev.ashlar.blob.change;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.ObjectChange;
import dev.ashlar.blob.engine.ChangeFixture;
import dev.ashlar.blob.engine.EngineFixture;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.Precondition;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class ObjectChangeTest {
  private static final Profile TWO_TWO = Profile.parse("2+2", 8192);
  private static final Profile FOUR_TWO = Profile.parse("4+2", 16384);
  private static final Profile CLASSIC = Profile.parse("4+2,optimizations=off", 4096);
  private final Random random = new Random(4711);

  private byte[] bytes(int length) {
    return EngineFixture.bytes(random, length);
  }

  /** Every place and end at a strip's, stripe's or block's boundary and beside it. */
  @Test
  void changesAtEveryBoundary() throws Exception {
    for (Profile profile :
        List.of(
            TWO_TWO,
            Profile.parse("3+1", 4096),
            Profile.parse("1+2", 8192),
            Profile.parse("2+2,optimizations=off", 8192))) {
      TreeSet<Integer> places = new TreeSet<>();
      for (int at = 0; at <= 2 * profile.stripeBytes(); at += profile.stripeUnit() / 2) {
        places.addAll(List.of(Math.max(0, at - 1), at, at + 1));
      }
      int length = profile.stripeBytes() + profile.stripeUnit() + 100;
      ChangeFixture engine = new ChangeFixture(profile);
      int steps = 0;
      for (int from : places.headSet(length)) {
        for (int to : places.tailSet(from, false)) {
          if (steps % 9 == 0) {
            engine.put(bytes(length)); // so that changes meet folded, unfolded and fresh blobs
          }
          String message = profile + " " + from + " to " + to;
          assertEquals(ResultCode.OK, engine.change(from, bytes(to - from)).getCode(), message);
          engine.assertContent(message);
          if (steps++ % 4 == 0) {
            engine.foldAll();
            engine.assertContent(message + " folded");
          }
          if (steps % 50 == 0) {
            engine.assertEveryLossIsRebuilt(message);
          }
        }
      }
      engine.assertNothingHeld();
    }
  }

  @Test
  void appendsAtEveryBoundaryAreOneGrowingBlob() throws Exception {
    for (Profile profile : List.of(TWO_TWO, Profile.parse("4+2", 4096), CLASSIC)) {
      ChangeFixture engine = new ChangeFixture(profile);
      engine.put(bytes(1));
      while (engine.expected.length < 3 * profile.stripeBytes()) {
        int unit = profile.stripeUnit();
        int left = unit - engine.expected.length % unit;
        int count = Math.max(1, left + random.nextInt(4) - 2);
        String message = profile + " at " + engine.expected.length + " +" + count;
        assertEquals(
            ResultCode.OK, engine.change(engine.expected.length, bytes(count)).getCode(), message);
        engine.assertContent(message);
        if (random.nextInt(3) == 0) {
          engine.foldAll();
        }
      }
      assertEquals(1, engine.object().object().getSlicesCount());
      engine.assertEveryLossIsRebuilt(profile + " appended");
      engine.foldAll();
      engine.assertEveryLossIsRebuilt(profile + " folded");
      assertEquals(0, engine.lastBlob().getAttemptsCount());
    }
  }

  @Test
  void longChangesFlowOverStripesAndBlobs() throws Exception {
    ChangeFixture engine = new ChangeFixture(TWO_TWO);
    int stripe = TWO_TWO.stripeBytes();
    engine.put(bytes(9 * stripe + 777)); // two blobs
    int[][] changes = {
      {0, 9 * stripe},
      {100, 5 * stripe},
      {stripe, 4 * stripe + 1},
      {6 * stripe + 5, 2 * stripe},
      {8 * stripe, 12 * stripe},
      {stripe - 1, 3 * stripe + 2}
    };
    for (int[] change : changes) {
      for (long hint : new long[] {-1, change[1], change[1] + 3L * stripe, stripe + 1}) {
        String message = Arrays.toString(change) + " hint " + hint;
        byte[] bytes = bytes(change[1]);
        assertEquals(
            ResultCode.OK, engine.change(change[0], bytes, hint, 10_000).getCode(), message);
        engine.assertContent(message);
        engine.assertNothingHeld();
      }
    }
    engine.assertEveryLossIsRebuilt("flowed");
  }

  @Test
  void sharedBlobsAreNotChanged() throws Exception {
    ChangeFixture engine = new ChangeFixture(TWO_TWO);
    byte[] original = bytes(100_000);
    engine.put(original);
    engine.copyTo("copy");
    assertEquals(ResultCode.OK, engine.change(20_000, bytes(30_000)).getCode());
    engine.assertContent("changed");
    assertEquals(3, engine.object().object().getSlicesCount());
    assertEquals(ResultCode.OK, engine.change(10_000, bytes(80_000)).getCode());
    engine.assertContent("over old and new slices");
    assertEquals(ResultCode.OK, engine.change(100_000, bytes(10)).getCode());
    assertEquals(ResultCode.OK, engine.change(100_010, bytes(10)).getCode());
    engine.assertContent("appended");
    ObjectRead copy = engine.metadata.object(ChangeFixture.BUCKET, "copy").orElseThrow();
    assertArrayEquals(original, engine.get(copy, new ByteRange(0, 100_000)));
  }

  @Test
  void smallOverwriteCostsAsTheFormulaSays() throws Exception {
    ChangeFixture engine = new ChangeFixture(FOUR_TWO);
    engine.put(bytes(4 * FOUR_TWO.stripeBytes()));
    long reads = reads(engine);
    long writes = writes(engine);
    engine.change(16384, bytes(4096));
    assertEquals(3, reads(engine) - reads);
    assertEquals(3, writes(engine) - writes);
    assertEquals(3, engine.count("ashlar.blob.changed.stripes.reads"));
    assertEquals(3, engine.count("ashlar.blob.changed.stripes.writes"));
    engine.change(0, bytes(FOUR_TWO.stripeBytes()));
    assertEquals(3, reads(engine) - reads, "a full stripe reads nothing");
    assertEquals(3 + 6, writes(engine) - writes);
  }

  @Test
  void aClassicStripeIsPaddedAndReadAndWrittenWhole() throws Exception {
    ChangeFixture engine = new ChangeFixture(CLASSIC);
    int stripe = CLASSIC.stripeBytes();
    engine.put(bytes(2 * stripe + 100));
    assertEquals(3 * 6 * 4096, engine.storedBytes());
    assertCost(engine, 4, 0, () -> engine.get(engine.object(), new ByteRange(5000, 1)));
    assertCost(engine, 4, 6, () -> engine.change(5000, bytes(1)));
    assertCost(engine, 4, 6, () -> engine.change(engine.expected.length, bytes(100)));
    assertCost(engine, 0, 6, () -> engine.change(stripe, bytes(stripe)));
    engine.setReachable(1, false);
    assertCost(engine, 4, 0, () -> engine.get(engine.object(), new ByteRange(1, 1)));
    engine.assertContent("with a drive away");
  }

  private interface Step {
    void run() throws Exception;
  }

  private static void assertCost(ChangeFixture engine, int reads, int writes, Step step)
      throws Exception {
    long readsBefore = reads(engine);
    long writesBefore = writes(engine);
    step.run();
    assertEquals(reads, reads(engine) - readsBefore);
    assertEquals(writes, writes(engine) - writesBefore);
  }

  @Test
  void drivesCountThePlannedOperationsAlsoWithOneMissing() throws Exception {
    for (Profile profile : List.of(FOUR_TWO, Profile.parse("6+2", 16384), TWO_TWO, CLASSIC)) {
      for (int away = -1; away < profile.shards(); away++) {
        ChangeFixture engine = new ChangeFixture(profile);
        engine.put(bytes(3 * profile.stripeBytes()));
        if (away >= 0) {
          engine.setReachable(away, false);
        }
        for (int i = 0; i < 40; i++) {
          changeOneStripCounted(engine, profile + " away " + away);
        }
        engine.assertContent(profile + " away " + away);
      }
    }
  }

  private void changeOneStripCounted(ChangeFixture engine, String message) throws Exception {
    int unit = engine.profile.stripeUnit();
    int strip = random.nextInt(engine.expected.length / unit);
    int from = random.nextInt(unit);
    int to = from + 1 + random.nextInt(unit - from);
    long plannedReads = engine.count("ashlar.blob.changed.stripes.reads");
    long plannedWrites = engine.count("ashlar.blob.changed.stripes.writes");
    long reads = reads(engine);
    long writes = writes(engine);
    engine.change((long) strip * unit + from, bytes(to - from));
    assertEquals(
        engine.count("ashlar.blob.changed.stripes.reads") - plannedReads,
        reads(engine) - reads,
        message);
    assertEquals(
        engine.count("ashlar.blob.changed.stripes.writes") - plannedWrites,
        writes(engine) - writes,
        message);
  }

  private static long reads(ChangeFixture engine) {
    return engine.drives.stream().mapToLong(MemoryShardStore::reads).sum();
  }

  private static long writes(ChangeFixture engine) {
    return engine.drives.stream().mapToLong(MemoryShardStore::writes).sum();
  }

  @Test
  void withADriveAwayChangesGoOnAndLeaveDebts() throws Exception {
    for (int away = 0; away < FOUR_TWO.shards(); away++) {
      ChangeFixture engine = new ChangeFixture(FOUR_TWO);
      engine.put(bytes(100_000));
      engine.setReachable(away, false);
      for (int at = 0; at <= 100_000; at += 12_500) {
        assertEquals(ResultCode.OK, engine.change(at, bytes(9000)).getCode());
        engine.assertContent("away " + away + " at " + at);
      }
      engine.setReachable(away, true);
      engine.assertContent("back " + away);
      assertEquals(List.of(away), engine.lastBlob().getDebtSlotsList());
      engine.foldAll();
      assertEquals(0, engine.lastBlob().getAttemptsCount());
      engine.setReachable((away + 1) % FOUR_TWO.shards(), false);
      engine.assertContent("another away " + away);
      engine.assertNothingHeld();
    }
  }

  @Test
  void belowTheDurableMinimumNothingIsChanged() throws Exception {
    ChangeFixture engine = new ChangeFixture(FOUR_TWO);
    engine.put(bytes(100_000));
    long stored = engine.storedBytes();
    engine.drives.get(0).failWrites(ShardFault.IO_ERROR);
    engine.drives.get(5).failWrites(ShardFault.IO_ERROR);
    DataUnavailableException e =
        assertThrows(DataUnavailableException.class, () -> engine.change(5, bytes(90_000)));
    assertEquals(Reason.TOO_FEW_DRIVES, e.reason());
    engine.assertContent("refused");
    assertEquals(stored, engine.storedBytes());
    engine.assertNothingHeld();
  }

  /** Between the moment the first part was sent and the one in which the second is planned. */
  @Test
  void parityThatFailsOnTheWayRefusesTheChange() throws Exception {
    ChangeFixture engine = new ChangeFixture(FOUR_TWO);
    engine.put(bytes(3 * FOUR_TWO.stripeBytes()));
    int first = FOUR_TWO.stripeBytes() - 50;
    try (ObjectChange change = engine.store.newChange(engine.object(), 50, first + 1000)) {
      change.write(ByteBuffer.wrap(bytes(1)));
      for (int slot : new int[] {4, 5}) {
        engine.drives.get(slot).failWrites(ShardFault.IO_ERROR);
        engine.drives.get(slot).holdAnswers();
      }
      change.write(ByteBuffer.wrap(bytes(first - 1)));
      engine.drives.get(4).releaseAnswers();
      engine.drives.get(5).releaseAnswers();
      change.write(ByteBuffer.wrap(bytes(1000)));
      DataUnavailableException e =
          assertThrows(
              DataUnavailableException.class, () -> change.commit(ChangeFixture.command()));
      assertEquals(Reason.TOO_FEW_DRIVES, e.reason());
    }
    engine.assertContent("refused");
    engine.assertNothingHeld();
  }

  @Test
  void aRefusedChangeLeavesNothing() throws Exception {
    ChangeFixture engine = new ChangeFixture(FOUR_TWO);
    engine.put(bytes(100_000));
    long stored = engine.storedBytes();
    for (int length : new int[] {100, 200_000}) {
      try (ObjectChange change = engine.store.newChange(engine.object(), 50_000, length)) {
        change.write(ByteBuffer.wrap(bytes(length)));
        ResultCode code =
            change
                .commit(
                    ChangeFixture.command()
                        .setPrecondition(Precondition.newBuilder().setIfMatch("other")))
                .getCode();
        assertEquals(ResultCode.PRECONDITION_FAILED, code);
      }
      assertEquals(stored, engine.storedBytes());
      try (ObjectChange change = engine.store.newChange(engine.object(), 50_000, length)) {
        change.write(ByteBuffer.wrap(bytes(length)));
        engine.metadata.setUnavailable(true);
        assertThrows(
            MetadataUnavailableException.class, () -> change.commit(ChangeFixture.command()));
      }
      engine.metadata.setUnavailable(false);
      assertEquals(stored, engine.storedBytes());
      engine.assertContent("refused");
    }
    engine.assertNothingHeld();
  }

  @Test
  void aCrashBeforeTheCommitLeavesTheOldBytes() throws Exception {
    ChangeFixture engine = new ChangeFixture(FOUR_TWO);
    engine.put(bytes(300_000));
    ObjectChange crashed = engine.store.newChange(engine.object(), 5, 250_000);
    crashed.write(ByteBuffer.wrap(bytes(250_000)));
    engine.assertContent("before its commit");
    engine.assertEveryLossIsRebuilt("before its commit");
    engine.change(7, bytes(100_000));
    engine.assertEveryLossIsRebuilt("another over it");
    engine.foldAll();
    engine.assertEveryLossIsRebuilt("the other folded");
    crashed.close();
    engine.assertContent("after it was dropped");
  }

  @Test
  void foldingThatStopsHalfWayIsFinishedLater() throws Exception {
    ChangeFixture engine = new ChangeFixture(FOUR_TWO);
    for (int slot = 0; slot < FOUR_TWO.shards(); slot++) {
      engine.put(bytes(100_000));
      engine.change(10_000L * slot, bytes(30_000));
      engine.change(9_000L * slot, bytes(50_000));
      engine.drives.get(slot).failAll(ShardFault.OVERLOADED);
      engine.foldAll();
      engine.assertContent("not folded by " + slot);
      engine.drives.get(slot).failAll(null);
      engine.assertEveryLossIsRebuilt("not folded by " + slot);
      assertTrue(engine.lastBlob().getAttemptsCount() > 0);
      engine.foldAll();
      assertEquals(0, engine.lastBlob().getAttemptsCount());
      engine.assertEveryLossIsRebuilt("folded");
    }
  }

  @Test
  void moreChangesThanCanBeUnfoldedFoldFirst() throws Exception {
    ChangeFixture engine = new ChangeFixture(FOUR_TWO);
    engine.put(bytes(1));
    for (int i = 0; i < 100; i++) {
      assertEquals(
          ResultCode.OK,
          engine.change(engine.expected.length, bytes(100)).getCode(),
          "append " + i);
    }
    engine.assertContent("appended");
    assertTrue(engine.lastBlob().getAttemptsCount() < 32);
    assertEquals(1, engine.object().object().getSlicesCount());
  }
}
