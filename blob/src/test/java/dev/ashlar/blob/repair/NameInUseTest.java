package dev.ashlar.blob.repair;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.blob.engine.ChangeFixture;
import dev.ashlar.blob.engine.EngineFixture;
import dev.ashlar.metadata.garbage.GarbageCollector;
import dev.ashlar.metadata.garbage.GarbageConfig;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.MoveSlots;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SlotMove;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** A shard that is left under a name that its drive needs for another shard of the blob. */
class NameInUseTest {
  private static final int UNIT = 4096;
  private static final int PG = 0;

  /** Owed by its drive, which has it nevertheless. */
  private static final int LATE = 4;

  /** Without bytes at first. Its drive and that of the other change places. */
  private static final int EMPTY = 1;

  private static final GarbageConfig GARBAGE =
      new GarbageConfig(
          Duration.ofSeconds(2),
          Duration.ofHours(6),
          Duration.ofHours(1),
          100,
          Duration.ofHours(1),
          Duration.ofSeconds(3));

  private final Random random = new Random(5);

  @Test
  void leftoverShardIsDeletedWithItsBlob() throws Exception {
    ChangeFixture fixture = new ChangeFixture(Profile.parse("4+2", UNIT));
    MemoryShardStore drive = fixture.drives.get(LATE);
    drive.failWrites(ShardFault.UNAVAILABLE);
    putWhileSlotsMove(fixture, EngineFixture.bytes(random, 3000));
    BlobRow row = fixture.lastBlob();
    BlobId name = BlobId.of(row.getId());
    assertEquals(List.of(LATE), row.getDebtSlotsList());
    drive.failWrites(null);
    drive.write(
        AbstractShardStoreContract.shardWrite(new ShardId(name, LATE), 0, fixture.expected),
        new Answer<>());
    fixture.change(3000, EngineFixture.bytes(random, 2 * UNIT)); // the other slot has bytes now
    fixture.foldAll();
    fixture.repairAll();
    assertEquals(List.of(), fixture.metadata.debts());
    assertEquals(drive, fixture.holder(EMPTY));
    assertEquals(new ShardId(name, EMPTY), ShardId.of(fixture.lastBlob(), EMPTY));
    assertTrue(drive.holds(new ShardId(name, LATE)), "drives delete by name");
    fixture.assertContent("what is left does no harm");
    fixture.assertEveryLossIsRebuilt("nor where drives are away");
    deleteAndCollect(fixture);
    assertEquals(0, fixture.storedBytes(), "it goes with its blob");
  }

  private static void putWhileSlotsMove(ChangeFixture fixture, byte[] bytes) throws Exception {
    PutObject.Builder put =
        PutObject.newBuilder()
            .setBucket(ChangeFixture.BUCKET)
            .setKey(ChangeFixture.KEY)
            .setSummary(ObjectSummary.newBuilder().setSize(bytes.length).setEtag("e"));
    try (ObjectWriter writer = fixture.store.newWriter(bytes.length)) {
      writer.write(ByteBuffer.wrap(bytes));
      ResultCode code =
          writer
              .commit(
                  blobs -> {
                    exchange(fixture);
                    return Command.newBuilder().setPutObject(put.clone().addAllBlobs(blobs));
                  })
              .getCode();
      assertEquals(ResultCode.OK, code);
    }
    fixture.expected = bytes.clone();
  }

  private static void exchange(ChangeFixture fixture) {
    PlacementMap map = fixture.metadata.placement();
    fixture.metadata.require(
        Command.newBuilder()
            .setMoveSlots(
                MoveSlots.newBuilder()
                    .setBaseEpoch(map.epoch())
                    .addMoves(move(LATE, map.drive(PG, EMPTY)))
                    .addMoves(move(EMPTY, map.drive(PG, LATE)))));
  }

  private static SlotMove.Builder move(int slot, UUID drive) {
    return SlotMove.newBuilder()
        .setPg(PG)
        .setSlot(slot)
        .setDriveHigh(drive.getMostSignificantBits())
        .setDriveLow(drive.getLeastSignificantBits());
  }

  private static void deleteAndCollect(ChangeFixture fixture) throws Exception {
    fixture.metadata.submit(TestBlobs.delete(ChangeFixture.BUCKET, ChangeFixture.KEY));
    GarbageCollector collector =
        new GarbageCollector(
            fixture.metadata,
            fixture.context.drives(),
            fixture.clock::millis,
            fixture.clock,
            GARBAGE,
            fixture.meters);
    fixture.clock.setMs(Clock.systemUTC().millis()); // by which the log's time goes here
    for (int i = 0; i < 3; i++) {
      fixture.clock.advanceMs(3_600_000);
      collector.collect();
    }
    assertEquals(List.of(), fixture.metadata.garbage(Long.MAX_VALUE, null, 1));
  }
}
