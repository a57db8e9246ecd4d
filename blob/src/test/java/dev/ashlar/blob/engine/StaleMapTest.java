package dev.ashlar.blob.engine;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.repair.BlobRepair.Outcome;
import dev.ashlar.blob.repair.RepairRates;
import dev.ashlar.metadata.garbage.GarbageCollector;
import dev.ashlar.metadata.garbage.GarbageConfig;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Clock;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Work on a blob whose placement group the map of this process does not have yet. */
class StaleMapTest {
  private static final int UNKNOWN_GROUP = 7;

  private final EngineFixture engine = new EngineFixture(new Profile(4, 2, 16384));
  private final BlobId id;
  private final BlobRow row;

  StaleMapTest() throws Exception {
    engine.put(EngineFixture.bytes(new Random(3), 200_000), new Random(3));
    id = engine.metadata.rows.keySet().iterator().next();
    row =
        requireNonNull(engine.metadata.rows.get(id)).toBuilder()
            .setPg(UNKNOWN_GROUP)
            .addDebtSlots(1)
            .build();
    engine.metadata.rows.put(id, row);
    ObjectRead object = requireNonNull(engine.metadata.object);
    engine.metadata.object = new ObjectRead(object.object(), List.of(row));
  }

  @Test
  void aReadEndsAsIfTheDrivesWereAway() {
    DataUnavailableException failure =
        assertThrows(DataUnavailableException.class, () -> engine.get(0, 200_000));
    assertEquals(Reason.TOO_FEW_DRIVES, failure.reason());
    assertEquals(0, engine.pool.lentBytes());
    assertEquals(0, engine.memory.reservedBytes());
  }

  @Test
  void aRepairIsLeftForLater() throws Exception {
    assertEquals(
        Outcome.UNAVAILABLE, engine.engine.newBlobRepair(RepairRates.unbounded()).repair(id));
  }

  @Test
  void noGarbageIsForgotten() throws Exception {
    engine.metadata.garbage = List.of(row.toBuilder().setReferences(0).build());
    GarbageCollector collector =
        new GarbageCollector(
            engine.metadata,
            drive -> null,
            () -> 0,
            Clock.systemUTC(),
            GarbageConfig.DEFAULT,
            new SimpleMeterRegistry());
    assertEquals(0, collector.collect());
  }
}
