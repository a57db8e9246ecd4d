package dev.ashlar.blob.fold;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.blob.engine.ChangeFixture;
import dev.ashlar.blob.engine.EngineBuilder;
import dev.ashlar.blob.engine.EngineFixture;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FoldSchedulerTest {
  private final Random random = new Random(1);
  private ChangeFixture engine;
  private FoldScheduler folds;

  FoldSchedulerTest() throws Exception {
    engine = new ChangeFixture(Profile.parse("4+2", 16384));
    folds = engine.folds;
  }

  @BeforeEach
  void putObject() throws Exception {
    engine.put(EngineFixture.bytes(random, 100_000));
  }

  private void changeAt(long ms) throws Exception {
    engine.clock.setMs(ms);
    engine.change(random.nextInt(90_000), EngineFixture.bytes(random, 1000));
  }

  private int unfolded() throws Exception {
    return engine.lastBlob().getAttemptsCount();
  }

  @Test
  void oldChangesAreFoldedAndManyAre() throws Exception {
    changeAt(2000);
    engine.clock.setMs(2999);
    folds.round(2999);
    assertEquals(1, unfolded(), "neither old nor many");
    engine.clock.setMs(3000);
    folds.round(3000);
    assertEquals(0, unfolded(), "old");
    assertEquals(0, folds.waiting());
    for (int i = 0; i < 8; i++) {
      changeAt(4000 + i);
    }
    engine.clock.setMs(4008);
    folds.round(4008);
    assertEquals(0, unfolded(), "many");
    assertEquals(0, folds.waiting());
    assertEquals(2, engine.count("ashlar.blob.folds"));
    engine.assertEveryLossIsRebuilt("folded");
  }

  @Test
  void changesNeededByRunningReadsStay() throws Exception {
    changeAt(2000);
    changeAt(2500);
    changeAt(2600);
    engine.clock.setMs(9000);
    folds.round(2500);
    assertEquals(2, unfolded(), "a read runs since 2500");
    assertEquals(1, folds.waiting());
    folds.round(9000);
    assertEquals(2, unfolded(), "back in line");
    engine.clock.setMs(10_000);
    folds.round(10_000);
    assertEquals(0, unfolded());
    engine.assertContent("folded");
  }

  @Test
  void sweepFindsUnknownChanges() throws Exception {
    changeAt(2000);
    FoldScheduler other =
        newScheduler(
            id ->
                engine.drives.stream()
                    .filter(drive -> drive.drive().id().equals(id))
                    .findAny()
                    .orElseThrow());
    other.sweep();
    assertEquals(1, other.waiting());
    engine.clock.setMs(3000);
    other.round(3000);
    assertEquals(0, unfolded());
    engine.assertContent("folded by another");
  }

  @Test
  void foldingContinuesWhenMetadataComesBack() throws Exception {
    for (int i = 0; i < 8; i++) {
      changeAt(2000);
    }
    boolean[] isAway = {true};
    FoldScheduler other =
        newScheduler(
            id -> {
              engine.metadata.setUnavailable(isAway[0]);
              return engine.drives.stream()
                  .filter(drive -> drive.drive().id().equals(id))
                  .findAny()
                  .orElseThrow();
            });
    other.sweep();
    engine.clock.setMs(2001);
    other.round(2001);
    isAway[0] = false;
    engine.metadata.setUnavailable(false);
    assertEquals(8, unfolded(), "folded on the drives, and not recorded");
    other.round(2001);
    assertEquals(0, unfolded());
    assertEquals(List.of(), engine.lastBlob().getDebtSlotsList());
    engine.assertContent("folded twice");
  }

  @Test
  void aSilentDriveIsWaitedForUntilTheRowIsNearlyFull() throws Exception {
    for (int i = 0; i < 23; i++) {
      changeAt(2000);
    }
    engine.drives.get(4).failAll(ShardFault.UNAVAILABLE);
    engine.clock.setMs(3000);
    folds.round(3000);
    assertEquals(23, unfolded());
    engine.drives.get(4).failAll(null);
    changeAt(3000);
    engine.drives.get(4).failAll(ShardFault.UNAVAILABLE);
    engine.clock.setMs(9000);
    folds.round(9000);
    assertEquals(0, unfolded());
    assertEquals(List.of(4), engine.lastBlob().getDebtSlotsList());
    engine.drives.get(4).failAll(null);
    engine.assertContent("a debt");
  }

  @Test
  void aFullQueueMakesNoDebt() throws Exception {
    for (int i = 0; i < 30; i++) {
      changeAt(2000);
    }
    engine.drives.get(4).failAll(ShardFault.OVERLOADED);
    engine.clock.setMs(9000);
    folds.round(9000);
    assertEquals(List.of(), engine.lastBlob().getDebtSlotsList());
    engine.drives.get(4).failAll(null);
    folds.round(9000);
    assertEquals(0, unfolded());
    assertEquals(List.of(), engine.lastBlob().getDebtSlotsList());
  }

  @Test
  void lostIntentsBecomeADebtAtOnce() throws Exception {
    changeAt(2000);
    engine.drives.get(5).delete(List.of(BlobId.of(engine.lastBlob().getId())), new Answer<>());
    engine.clock.setMs(3000);
    folds.round(3000);
    assertEquals(0, unfolded());
    assertEquals(List.of(5), engine.lastBlob().getDebtSlotsList());
    engine.assertContent("a debt");
  }

  private FoldScheduler newScheduler(Function<UUID, @Nullable ShardStore> drives) {
    return new EngineBuilder(
            engine.metadata, drives, engine.context.codes(), engine.pool, engine.memory)
        .clock(engine.clock)
        .build(engine.context.config())
        .folds();
  }
}
