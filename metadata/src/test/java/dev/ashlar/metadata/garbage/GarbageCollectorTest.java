package dev.ashlar.metadata.garbage;

import static java.util.Objects.requireNonNull;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.MemoryTable;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.table.Changes;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.protocol.client.ManualClock;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.message.BalanceRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.message.MoveSlots;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SetBalance;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class GarbageCollectorTest {
  private final ManualClock clock = new ManualClock(1_000_000);
  private final MemoryTable table = new MemoryTable();
  private final MemoryMetadata metadata = new MemoryMetadata(table, clock);
  private final Map<UUID, FakeDrive> drives = new HashMap<>();
  private long oldestReadMs;
  private final GarbageCollector collector = collector(metadata);

  private GarbageCollector collector(MetadataClient client) {
    return collector(client, GarbageConfig.DEFAULT);
  }

  private GarbageCollector collector(MetadataClient client, GarbageConfig config) {
    return new GarbageCollector(
        client,
        drives::get,
        () -> oldestReadMs == 0 ? clock.millis() : oldestReadMs,
        clock,
        config,
        new SimpleMeterRegistry());
  }

  @BeforeEach
  void installDrives() throws Exception {
    List<UUID> ids = MemoryMetadata.sequentialIds(3);
    ids.forEach(id -> drives.put(id, new FakeDrive(new DriveId(id, 1))));
    metadata.submit(
        Command.newBuilder().setPutDrives(MemoryMetadata.drives(new Profile(2, 1, 16384), ids, 8)));
    metadata.submit(TestBlobs.createBucket("b"));
  }

  private BlobId put(String key, long sequence) throws Exception {
    BlobId id = write(metadata.session(), sequence);
    metadata.submit(TestBlobs.put("b", key, TestBlobs.acknowledged(metadata, id, 100_000)));
    return id;
  }

  private BlobId write(long session, long sequence) {
    BlobId id = new BlobId(session, sequence);
    drives.values().forEach(drive -> drive.blobs().add(id));
    return id;
  }

  private FakeDrive drive(int number) {
    return requireNonNull(drives.get(new UUID(0, number)));
  }

  @Test
  void aBlobLeavesTheDrivesAfterTheGrace() throws Exception {
    BlobId dead = put("k", 1);
    BlobId live = put("k", 2);
    assertEquals(0, collector.collect());
    clock.advanceMs(59_999);
    assertEquals(0, collector.collect(), "a read may begin with what it saw a minute ago");
    assertTrue(drive(1).blobs().contains(dead));
    clock.advanceMs(2);
    assertEquals(1, collector.collect());
    assertEquals(List.of(live), List.copyOf(drive(1).blobs()));
    assertTrue(metadata.neededShards(new UUID(0, 1), List.of(dead)).isEmpty());
  }

  /** The restored rows may name a shard as garbage that is all there is of a later object. */
  @Test
  void nothingIsDeletedBeforeARestoreIsAccepted() throws Exception {
    BlobId dead = put("k", 1);
    BlobId unknown = write(metadata.session(), 2);
    metadata.submit(TestBlobs.delete("b", "k"));
    clock.advanceMs(60_001);
    BalanceRow held = BalanceRow.newBuilder().setPaused(true).setRestored(true).build();
    TreeMap<byte[], Optional<byte[]>> rows = new TreeMap<>(Arrays::compareUnsigned);
    rows.put(Keys.balance(), Optional.of(held.toByteArray()));
    table.write(new Changes(rows));
    assertTrue(metadata.registry().getRestored());
    MemoryMetadata next = metadata.anotherClient();
    assertEquals(0, collector.collect());
    assertEquals(0, collector(next).sweepDeadSessions(drives.values()));
    assertEquals(List.of(dead, unknown), List.copyOf(drive(1).blobs()));
    next.submit(Command.newBuilder().setSetBalance(SetBalance.getDefaultInstance()));
    assertFalse(next.registry().getRestored());
    assertEquals(3, collector(next).sweepDeadSessions(drives.values()));
    assertEquals(1, collector(next).collect());
    assertTrue(drive(1).blobs().isEmpty());
  }

  @Test
  void theRowStaysWhileADriveMayHoldAShard() throws Exception {
    BlobId dead = put("k", 1);
    metadata.submit(TestBlobs.delete("b", "k"));
    clock.advanceMs(60_001);
    FakeDrive absent = drive(2);
    drives.remove(new UUID(0, 2));
    drive(3).setFailing(true);
    assertEquals(0, collector.collect());
    assertFalse(drive(1).blobs().contains(dead));
    assertFalse(metadata.neededShards(new UUID(0, 1), List.of(dead)).isEmpty());

    drives.put(new UUID(0, 2), absent);
    drive(3).setFailing(false);
    assertEquals(0, collector.collect()); // it rests
    clock.advanceMs(60_001);
    assertEquals(1, collector.collect());
    assertTrue(absent.blobs().isEmpty());
    assertTrue(drive(3).blobs().isEmpty());
  }

  @Test
  void aDriveThatFailedAndIsOutKeepsNothing() throws Exception {
    put("k", 1);
    metadata.submit(TestBlobs.delete("b", "k"));
    clock.advanceMs(60_001);
    drive(3).setFailing(true);
    assertEquals(0, collector.collect());
    DriveRow out =
        drive(3).drive().toMessage().toBuilder().setStanding(DriveStanding.STANDING_OUT).build();
    metadata.require(
        Command.newBuilder()
            .setMoveSlots(
                MoveSlots.newBuilder().setBaseEpoch(metadata.placement().epoch()).addDrives(out)));
    clock.advanceMs(60_001);
    assertEquals(1, collector.collect());
    assertTrue(drive(1).blobs().isEmpty());
  }

  @Test
  void aSweepOfMoreOrphansThanItKeepsFindsThemAll() throws Exception {
    BlobId committed = put("k", 1);
    int orphans = 2 * DeadSessionSweep.ORPHANS_MAX + 1500;
    for (int i = 0; i < orphans; i++) {
      drive(1).blobs().add(new BlobId(metadata.session(), 10 + i));
    }
    MemoryMetadata next = new MemoryMetadata(table, clock);
    assertEquals(orphans, collector(next).sweepDeadSessions(List.of(drive(1))));
    assertEquals(List.of(committed), List.copyOf(drive(1).blobs()));
  }

  /** What a drive that is away keeps from going must not keep back what came later. */
  @Test
  void undeletableBlobsDoNotDelayOthers() throws Exception {
    GarbageConfig usual = GarbageConfig.DEFAULT;
    GarbageCollector slow =
        collector(
            metadata,
            new GarbageConfig(
                usual.grace(),
                usual.heldByReadMax(),
                usual.interval(),
                2,
                usual.deleteTimeout(),
                usual.retryDelay()));
    FakeDrive absent = requireNonNull(drives.remove(new UUID(0, 2)));
    for (int i = 1; i <= 7; i++) {
      put("k" + i, i);
      metadata.submit(TestBlobs.delete("b", "k" + i));
    }
    clock.advanceMs(60_001);
    for (int round = 0; round < 4; round++) {
      assertEquals(0, slow.collect());
    }
    assertTrue(drive(1).blobs().isEmpty());

    drives.put(new UUID(0, 2), absent);
    put("new", 100);
    metadata.submit(TestBlobs.delete("b", "new"));
    clock.advanceMs(60_001);
    assertEquals(1, slow.collect()); // the new one first, then all the others
    assertEquals(2, slow.collect());
    assertEquals(2, slow.collect());
    assertEquals(2, slow.collect());
    assertEquals(1, slow.collect());
    assertEquals(0, slow.collect());
    assertTrue(absent.blobs().isEmpty());
  }

  /** Rule 10: what a running read may need stays, but not for ever. */
  @Test
  void aRunningReadHoldsWhatWasThereWhenItBegan() throws Exception {
    put("k", 1);
    clock.advanceMs(1000);
    oldestReadMs = clock.millis();
    clock.advanceMs(100_000);
    metadata.submit(TestBlobs.delete("b", "k"));
    clock.advanceMs(1_000_000);
    assertEquals(0, collector.collect());
    clock.advanceMs(GarbageConfig.DEFAULT.heldByReadMax().toMillis());
    assertEquals(1, collector.collect());

    put("k", 2);
    metadata.submit(TestBlobs.delete("b", "k"));
    oldestReadMs = clock.millis() + 60_001; // began long after
    clock.advanceMs(120_000);
    assertEquals(1, collector.collect());
  }

  /** Rule 5: only what can never be committed any more is deleted. */
  @Test
  void aSweepEndsTheSessionsBeforeItDeletesTheirOrphans() throws Exception {
    BlobId committed = put("k", 1);
    BlobId orphan = write(metadata.session(), 2);
    MemoryMetadata next = new MemoryMetadata(table, clock);
    BlobId inProgress = write(next.session(), 1);
    long orphans = collector(next).sweepDeadSessions(drives.values());
    assertEquals(3, orphans); // on three drives
    assertEquals(List.of(committed, inProgress), List.copyOf(drive(1).blobs()));
    Command.Builder late = TestBlobs.put("b", "l", TestBlobs.acknowledged(next, orphan, 100_000));
    assertEquals(ResultCode.DEAD_SESSION, next.submit(late).getCode());
  }
}
