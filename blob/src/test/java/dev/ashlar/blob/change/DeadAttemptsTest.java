package dev.ashlar.blob.change;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.ashlar.blob.ObjectChange;
import dev.ashlar.blob.context.EngineConfig;
import dev.ashlar.blob.engine.ChangeFixture;
import dev.ashlar.blob.engine.EngineFixture;
import dev.ashlar.metadata.garbage.GarbageCollector;
import dev.ashlar.metadata.garbage.GarbageConfig;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.Profile;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DeadAttemptsTest {
  private static final Profile PROFILE = Profile.parse("4+2", 16384);

  /** Drives are soon not waited for any more. */
  private static final EngineConfig IMPATIENT =
      new EngineConfig(1 << 20, 2, 1L << 30, Duration.ofMillis(50));

  @Test
  void uncommittedAttemptsOfALostProcessAreDiscardedAndCommittedOnesStay() throws Exception {
    ChangeFixture engine = new ChangeFixture(PROFILE);
    Random random = new Random(3);
    engine.put(EngineFixture.bytes(random, 200_000));
    engine.change(70_000, EngineFixture.bytes(random, 10_000));
    long stored = engine.storedBytes();
    ObjectChange lost = engine.store.newChange(engine.object(), 5, 150_000);
    lost.write(ByteBuffer.wrap(EngineFixture.bytes(random, 150_000)));
    MemoryMetadata next = new MemoryMetadata(engine.metadata.table(), engine.clock);
    GarbageCollector collector =
        new GarbageCollector(
            next,
            id -> null,
            engine.clock::millis,
            engine.clock,
            GarbageConfig.DEFAULT,
            new SimpleMeterRegistry());
    assertEquals(6, collector.sweepDeadSessions(engine.drives), "one attempt on six drives");
    assertEquals(stored, engine.storedBytes());
    engine.assertEveryLossIsRebuilt("the committed change is there");
    assertEquals(0, collector.sweepDeadSessions(engine.drives));
  }

  @Test
  void intentsAreDiscardedOnlyAfterTheDriveAnsweredEarlierWrites() throws Exception {
    ChangeFixture engine = new ChangeFixture(PROFILE, IMPATIENT);
    Random random = new Random(4);
    engine.put(EngineFixture.bytes(random, 200_000));
    long stored = engine.storedBytes();
    MemoryShardStore late = engine.drives.getFirst();
    try (ObjectChange change = engine.store.newChange(engine.object(), 5, 150_000)) {
      late.holdAnswers();
      change.write(ByteBuffer.wrap(EngineFixture.bytes(random, 150_000)));
    }
    assertNotEquals(stored, engine.storedBytes(), "the drop has overtaken the intent");
    late.releaseAnswers();
    assertEquals(stored, engine.storedBytes());
    engine.assertNothingHeld();
  }

  @Test
  void anIntentThatCameTooLateForItsCommitIsDropped() throws Exception {
    ChangeFixture engine = new ChangeFixture(PROFILE, IMPATIENT);
    Random random = new Random(5);
    engine.put(EngineFixture.bytes(random, 200_000));
    MemoryShardStore late = engine.drives.getFirst();
    long stored = late.storedBytes();
    late.holdAnswers();
    assertEquals(ResultCode.OK, engine.change(0, EngineFixture.bytes(random, 65_536)).getCode());
    assertNotEquals(stored, late.storedBytes(), "the intent never came");
    late.releaseAnswers();
    assertEquals(stored, late.storedBytes());
    engine.assertContent("without the late drive");
    engine.assertNothingHeld();
  }
}
