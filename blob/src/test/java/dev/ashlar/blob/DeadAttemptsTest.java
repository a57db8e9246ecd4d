package dev.ashlar.blob;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.metadata.garbage.GarbageCollector;
import dev.ashlar.metadata.garbage.GarbageConfig;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.protocol.model.Profile;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DeadAttemptsTest {
  @Test
  void whatALostProcessDidNotCommitIsDroppedAndWhatItCommittedStays() throws Exception {
    ChangeFixture engine = new ChangeFixture(Profile.parse("4+2", 16384));
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
}
