package dev.ashlar.blob.repair;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.ObjectChange;
import dev.ashlar.blob.context.EngineConfig;
import dev.ashlar.blob.context.Hedging;
import dev.ashlar.blob.context.Hedging.HedgeConfig;
import dev.ashlar.blob.engine.ChangeFixture;
import dev.ashlar.blob.engine.EngineFixture;
import dev.ashlar.metadata.garbage.GarbageCollector;
import dev.ashlar.metadata.garbage.GarbageConfig;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ForwardingShardStore;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.RecordDebts;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Any drives, also all at once, begin a new incarnation with all that they had, while a blob has
 * changes that are not folded: what was acknowledged stays readable and becomes whole again. Every
 * set of drives is tried with every order of what follows.
 */
class NewIncarnationsTest {
  private static final Profile PROFILE = Profile.parse("4+2", 4096);
  private final Random random = new Random(1);

  /** What is done after the new incarnations began, before all is folded and repaired. */
  private enum Next {
    NOTHING,
    FOLD,
    NOTE_AND_FOLD,
    REPAIR,
    NOTE_AND_REPAIR_ONCE,
    NOTE_FOLD_AND_BEGIN_AGAIN
  }

  @ParameterizedTest
  @ValueSource(strings = {"4+2", "2+1", "1+2", "3+0", "2+2,optimizations=off"})
  void nothingIsLostWhicheverDrivesBegin(String text) throws Exception {
    Profile profile = Profile.parse(text, 4096);
    for (int drives = 1; drives < 1 << profile.shards(); drives++) {
      for (Next next : Next.values()) {
        for (int shape = 0; shape < 4; shape++) {
          String what = text + ", drives " + Integer.toBinaryString(drives) + ", " + next;
          check(profile, drives, next, shape, what + ", shape " + shape);
        }
      }
    }
  }

  private void check(Profile profile, int drives, Next next, int shape, String what)
      throws Exception {
    ChangeFixture engine = new ChangeFixture(profile);
    change(engine, shape);
    begin(engine, drives);
    engine.assertContent(what);
    switch (next) {
      case NOTHING -> {}
      case FOLD -> engine.foldAll();
      case NOTE_AND_FOLD -> {
        note(engine);
        engine.assertContent(what + ", noted");
        engine.foldAll();
      }
      case REPAIR -> engine.repairAll();
      case NOTE_AND_REPAIR_ONCE -> {
        note(engine);
        engine.repair.repair(id(engine));
      }
      case NOTE_FOLD_AND_BEGIN_AGAIN -> {
        note(engine);
        engine.foldAll();
        begin(engine, (1 << profile.shards()) - 1);
        note(engine);
      }
    }
    engine.assertContent(what + ", done");
    engine.repairAll();
    engine.foldAll();
    engine.repairAll();
    assertEquals(0, engine.lastBlob().getAttemptsCount(), what);
    engine.assertWhole(what + ", repaired");
    assertEquals(ResultCode.OK, append(engine, 5000), what);
    engine.assertContent(what + ", changed again");
  }

  /** Within a strip, in all strips, over the end, and growth from one strip. */
  private void change(ChangeFixture engine, int shape) throws Exception {
    int stripe = engine.profile.stripeBytes();
    engine.put(EngineFixture.bytes(random, shape == 3 ? 100 : 2 * stripe + 5000));
    switch (shape) {
      case 0 -> engine.change(random.nextInt(stripe), EngineFixture.bytes(random, 10));
      case 1 -> engine.change(0, EngineFixture.bytes(random, 2 * stripe));
      case 2 -> {
        engine.change(stripe, EngineFixture.bytes(random, 2 * stripe));
        engine.change(5, EngineFixture.bytes(random, 100));
        append(engine, 3 * stripe);
      }
      default -> {
        append(engine, 50);
        append(engine, 2 * stripe);
      }
    }
  }

  private ResultCode append(ChangeFixture engine, int length) throws Exception {
    return engine.change(engine.expected.length, EngineFixture.bytes(random, length)).getCode();
  }

  private static void begin(ChangeFixture engine, int drives) throws Exception {
    for (int slot = 0; slot < engine.profile.shards(); slot++) {
      if ((drives >> slot & 1) == 1) {
        engine.replace(slot, false);
      }
    }
  }

  private static void note(ChangeFixture engine) throws Exception {
    engine.metadata.require(
        Command.newBuilder()
            .setRecordDebts(RecordDebts.newBuilder().addBlobs(engine.lastBlob().getId())));
  }

  private static BlobId id(ChangeFixture engine) throws Exception {
    return BlobId.of(engine.lastBlob().getId());
  }

  /** The drive of slot 1 gets the first window of an append, and fails. */
  private static void appendWithAPart(ChangeFixture engine, byte[] bytes) throws Exception {
    int window = 3 * PROFILE.stripeBytes();
    long end = engine.expected.length;
    try (ObjectChange change = engine.store.newChange(engine.object(), end, bytes.length)) {
      change.write(ByteBuffer.wrap(bytes, 0, window));
      engine.drives.get(1).failWrites(ShardFault.UNAVAILABLE);
      change.write(ByteBuffer.wrap(bytes, window, bytes.length - window));
      assertEquals(ResultCode.OK, change.commit(ChangeFixture.command()).getCode());
    }
    engine.drives.get(1).failWrites(null);
    engine.expect(end, bytes);
  }

  @Test
  void aSlotThatMissedAChangeIsNeverAskedForIt() throws Exception {
    ChangeFixture engine = new ChangeFixture(PROFILE);
    int stripe = PROFILE.stripeBytes();
    engine.put(EngineFixture.bytes(random, stripe));
    appendWithAPart(engine, EngineFixture.bytes(random, 6 * stripe));
    BlobRow row = engine.lastBlob();
    assertEquals(List.of(1), row.getAttempts(0).getMissedSlotsList());
    begin(engine, 0b111111);
    note(engine);
    assertEquals(6, engine.lastBlob().getDebtSlotsCount());
    engine.assertContent("others suffice");
    engine.drives.get(0).failAll(ShardFault.UNAVAILABLE);
    engine.assertContent("others still suffice");
    engine.drives.get(3).failAll(ShardFault.UNAVAILABLE);
    assertThrows(DataUnavailableException.class, engine::get);
    engine.drives.get(0).failAll(null);
    engine.drives.get(3).failAll(null);
    engine.foldAll();
    assertEquals(0, engine.lastBlob().getAttemptsCount());
    engine.assertContent("folded without the slot that missed it");
    engine.repairAll();
    engine.assertWhole("repaired");
  }

  /** Also after a slot was repaired, and its shard has a name of its own. */
  @Test
  void whatIsListedIsNotSwept() throws Exception {
    for (boolean isRepaired : List.of(false, true)) {
      ChangeFixture engine = new ChangeFixture(PROFILE);
      change(engine, 2);
      begin(engine, 0b111111);
      note(engine);
      if (isRepaired) {
        engine.setReachable(2, false);
        engine.repair.repair(id(engine));
        engine.setReachable(2, true);
      }
      long stored = engine.storedBytes();
      MemoryMetadata next = new MemoryMetadata(engine.metadata.table(), engine.clock);
      GarbageCollector collector =
          new GarbageCollector(
              next,
              id -> null,
              engine.clock::millis,
              engine.clock,
              GarbageConfig.DEFAULT,
              new SimpleMeterRegistry());
      collector.sweepDeadSessions(engine.drives);
      assertEquals(stored, engine.storedBytes());
      engine.assertContent("swept");
    }
  }

  /** As long as older builds take part, metadata would let everything leave the list. */
  @Test
  void underVersion2NothingLeavesThatMayBeNeeded() throws Exception {
    ChangeFixture engine =
        new ChangeFixture(
            new EngineConfig(1 << 20, 2, 1L << 30, Duration.ofSeconds(20)),
            new Hedging(HedgeConfig.OFF, System::nanoTime),
            MemoryMetadata.withDrives(2, PROFILE, 6, 1));
    change(engine, 1);
    begin(engine, 0b111111);
    engine.assertContent("not noted yet");
    note(engine);
    engine.foldAll();
    assertEquals(1, engine.lastBlob().getAttemptsCount());
    ChangeFixture other =
        new ChangeFixture(
            new EngineConfig(1 << 20, 2, 1L << 30, Duration.ofSeconds(20)),
            new Hedging(HedgeConfig.OFF, System::nanoTime),
            MemoryMetadata.withDrives(2, PROFILE, 6, 1));
    change(other, 1);
    other.metadata.raiseVersion();
    begin(other, 0b111111);
    note(other);
    other.assertContent("noted under version 3");
    other.foldAll();
    other.repairAll();
    other.assertWhole("repaired");
  }

  @Test
  void aDriveInDebtThatDoesNotAnswerIsWaitedFor() throws Exception {
    ChangeFixture engine = new ChangeFixture(PROFILE);
    change(engine, 1);
    begin(engine, 0b111111);
    note(engine);
    for (int slot = 1; slot < 4; slot++) {
      engine.drives.get(slot).failAll(ShardFault.UNAVAILABLE);
    }
    engine.foldAll();
    assertEquals(1, engine.lastBlob().getAttemptsCount());
    engine.drives.get(1).failAll(null);
    engine.drives.get(2).failAll(null);
    engine.drives.get(3).failAll(null);
    engine.foldAll();
    assertEquals(0, engine.lastBlob().getAttemptsCount());
    engine.assertContent("folded");
  }

  /** More than parity can make up for. */
  @Test
  void lostChangesStayListedAndAreRetriedLessOften() throws Exception {
    ChangeFixture engine = new ChangeFixture(PROFILE);
    change(engine, 1);
    for (int slot = 0; slot < 3; slot++) {
      engine.replace(slot, true);
    }
    note(engine);
    AtomicInteger commands = new AtomicInteger();
    engine.metadata.observe(
        (command, applied) -> commands.addAndGet(command.hasFoldBlob() ? 1 : 0));
    AtomicInteger tries = new AtomicInteger();
    engine.reachThrough(
        3,
        new ForwardingShardStore(engine.drives.get(3)) {
          @Override
          public void fold(List<FoldIntent> folds, Completion<DriveId> completion) {
            tries.incrementAndGet();
            super.fold(folds, completion);
          }
        });
    for (long ms = 2000; ms < 302_000; ms += 100) {
      engine.clock.setMs(ms);
      engine.folds.round(ms);
      assertEquals(1, engine.folds.waiting());
    }
    assertTrue(tries.get() >= 8 && tries.get() <= 16, tries + " tries in five minutes");
    assertEquals(0, commands.get(), "no command that would be refused");
    assertEquals(1, engine.lastBlob().getAttemptsCount());
    assertThrows(DataUnavailableException.class, engine::get);
    assertThrows(DataUnavailableException.class, () -> append(engine, 10));
    assertEquals(-1, engine.metadata.debts().getFirst().getSpare());
    engine.metadata.require(TestBlobs.delete(ChangeFixture.BUCKET, ChangeFixture.KEY));
    engine.clock.setMs(1_000_000);
    engine.folds.round(1_000_000);
    assertEquals(0, engine.folds.waiting());
    assertEquals(List.of(), engine.metadata.debts());
  }
}
