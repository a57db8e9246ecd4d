package dev.ashlar.blob.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.blob.context.EngineConfig;
import dev.ashlar.blob.context.Hedging;
import dev.ashlar.blob.context.Hedging.HedgeConfig;
import dev.ashlar.blob.context.MemoryBudget;
import dev.ashlar.blob.context.RequestMemory;
import dev.ashlar.blob.write.BlobWriter;
import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.memory.TestProfiles;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.DebtLevel;
import dev.ashlar.protocol.message.ObjectPiece;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Blobs of several profiles in one store, all of which survive the loss of two drives. */
class SeveralProfilesTest {
  private static final int HOT = 1;
  private static final int WIDE = 2;

  private final ChangeFixture engine = new ChangeFixture(new Profile(4, 2, 16384));
  private final Random random = new Random(25);

  SeveralProfilesTest() throws Exception {
    engine.metadata.require(TestProfiles.add(engine.metadata, "HOT", new Profile(1, 2, 4096), 3));
    engine.metadata.require(TestProfiles.add(engine.metadata, "WIDE", new Profile(3, 2, 8192), 5));
  }

  private byte[] bytes(int length) {
    return EngineFixture.bytes(random, length);
  }

  private void setDefault(int number) {
    engine.metadata.require(TestProfiles.setDefault(engine.metadata, number));
  }

  private int profileOfLastBlob() throws Exception {
    return BlobId.of(engine.lastBlob().getId()).profile();
  }

  @Test
  void newDataHasTheDefaultProfile() throws Exception {
    for (int number : new int[] {HOT, WIDE, 0}) {
      setDefault(number);
      engine.put(bytes(300_000));
      assertEquals(number, profileOfLastBlob());
      BlobRow row = engine.lastBlob();
      assertEquals(
          engine.metadata.placement().numbered(number).orElseThrow().profile(),
          Profile.of(row.getProfile()));
      engine.assertContent("of profile " + number);
      engine.assertEveryLossIsRebuilt("of profile " + number);
    }
    engine.assertNothingHeld();
  }

  @Test
  void changesKeepTheProfileOfTheObject() throws Exception {
    setDefault(HOT);
    engine.put(bytes(50_000));
    setDefault(WIDE);
    assertEquals(ResultCode.OK, engine.change(50_000, bytes(70_000)).getCode());
    assertEquals(ResultCode.OK, engine.change(3_000, bytes(9_000)).getCode());
    assertEquals(HOT, profileOfLastBlob());
    engine.foldAll();
    engine.assertWhole("changed in place");
    engine.copyTo("other");
    assertEquals(ResultCode.OK, engine.change(engine.expected.length, bytes(20_000)).getCode());
    assertEquals(HOT, profileOfLastBlob(), "a new blob, because the others are shared");
    engine.assertContent("changed beside a copy");
  }

  @Test
  void anEmptyObjectGetsDataOfItsClass() throws Exception {
    PutObject.Builder empty =
        PutObject.newBuilder()
            .setBucket(ChangeFixture.BUCKET)
            .setKey(ChangeFixture.KEY)
            .setSummary(ObjectSummary.newBuilder().setEtag("e").setStorageClass("WIDE"));
    engine.metadata.require(Command.newBuilder().setPutObject(empty));
    assertEquals(ResultCode.OK, engine.change(0, bytes(100)).getCode());
    assertEquals(WIDE, profileOfLastBlob());
  }

  @Test
  void aLostDriveIsRebuiltForEveryProfile() throws Exception {
    for (int number : new int[] {HOT, WIDE}) {
      setDefault(number);
      engine.put(bytes(200_000));
      for (int drive = 0; drive < engine.drives.size(); drive++) {
        engine.replace(drive, true);
        engine.repairAll();
      }
      BlobRow row = engine.lastBlob();
      assertTrue(row.getRebuiltCount() > 0);
      row.getRebuiltList()
          .forEach(shard -> assertEquals(number, BlobId.of(shard.getName()).profile()));
      assertEquals(0, engine.metadata.debts().size());
      engine.assertContent("rebuilt");
      engine.assertEveryLossIsRebuilt("rebuilt");
    }
  }

  /** At level 1 a blob of 2+1 only has to move; at level 3 one of 1+4 lacks a shard. */
  @Test
  void debtsOfAllProfilesAreRepairedBeforeAnythingMoves() throws Exception {
    ChangeFixture store = new ChangeFixture(new Profile(4, 2, 4096));
    store.metadata.require(TestProfiles.add(store.metadata, "WEAK", new Profile(2, 1, 4096), 1));
    store.metadata.require(TestProfiles.add(store.metadata, "DEEP", new Profile(1, 4, 4096), 1));
    store.metadata.require(TestProfiles.setDefault(store.metadata, 2)); // on all but the second
    store.put(bytes(10_000));
    store.copyTo("deep");
    store.metadata.require(TestProfiles.setDefault(store.metadata, 1)); // on drives 1 to 3
    store.put(bytes(30_000));
    store.exchangeDrives(0, 1);
    store.replace(4, true);
    assertEquals(1, store.repairer.round());
    assertEquals(List.of(1), store.metadata.debts().stream().map(DebtLevel::getSpare).toList());
    assertEquals(0, store.count("ashlar.repair.moved.shards"));
    store.meters.get("ashlar.repair.debt.level.blobs").tag("spare", "3").gauge();
    assertEquals(1, store.repairer.round());
    assertEquals(List.of(), store.metadata.debts());
    assertEquals(2, store.count("ashlar.repair.moved.shards"));
    store.assertContent("moved");
  }

  /** Memory of which another request holds so much that no more than the first share is granted. */
  private record ScarceStore(ChangeFixture store, long held) {
    private static final int LIMIT = 4 << 20;
    private static final int BIG = 1;

    /** An object whose second blob has much larger stripes than its first one. */
    static ScarceStore with(byte[] first, byte[] second) throws Exception {
      Profile small = new Profile(4, 2, 4096);
      MemoryBudget memory = new MemoryBudget(LIMIT, Duration.ofMillis(200));
      ChangeFixture store =
          new ChangeFixture(
              new EngineConfig(small.stripeBytes(), 2, 1 << 20, Duration.ofSeconds(20)),
              new Hedging(HedgeConfig.OFF, System::nanoTime),
              MemoryMetadata.withDrives(small, small.shards(), 1),
              memory);
      store.metadata.require(TestProfiles.add(store.metadata, "BIG", new Profile(3, 2, 65536), 1));
      store.put(first);
      ObjectPiece piece;
      try (RequestMemory request = new RequestMemory(memory)) {
        BlobWriter writer = new BlobWriter(store.context, BIG, second.length, request, null);
        writer.write(ByteBuffer.wrap(second));
        piece = writer.finish();
      }
      store.metadata.require(
          Command.newBuilder()
              .setModifyObject(
                  TestBlobs.modify(
                          ChangeFixture.BUCKET, ChangeFixture.KEY, first.length, List.of(piece))
                      .setExpectedVersion(store.object().object().getVersion())));
      store.expect(first.length, second);
      long held = LIMIT / 2 - (200 << 10);
      memory.reserve(held);
      return new ScarceStore(store, held);
    }

    void end() {
      store.memory.release(held);
      store.assertNothingHeld();
    }
  }

  @Test
  void aReadReservesMemoryForTheLargestOfItsBlobs() throws Exception {
    ScarceStore scarce = ScarceStore.with(bytes(50_000), bytes(600_000));
    scarce.store().assertContent("of two profiles");
    scarce.end();
  }

  @Test
  void aSmallChangeReservesMemoryForTheLargestOfItsBlobs() throws Exception {
    ScarceStore scarce = ScarceStore.with(bytes(50_000), bytes(600_000));
    assertEquals(ResultCode.OK, scarce.store().change(49_000, bytes(2_000)).getCode());
    scarce.end();
    scarce.store().foldAll();
    scarce.store().assertContent("changed in both");
  }

  @Test
  void aLongChangeReservesMemoryForTheLargestOfItsBlobs() throws Exception {
    ScarceStore scarce = ScarceStore.with(bytes(50_000), bytes(600_000));
    assertEquals(ResultCode.OK, scarce.store().change(10_000, bytes(400_000)).getCode());
    scarce.end();
    scarce.store().foldAll();
    scarce.store().assertContent("changed in both");
  }

  /** It was added, and made the default, by a process with more memory. */
  @Test
  void aProcessWithTooLittleMemoryForAnAddedDefaultStarts() throws Exception {
    Profile small = new Profile(4, 2, 4096);
    MemoryMetadata metadata = MemoryMetadata.withDrives(small, small.shards(), 1);
    metadata.require(TestProfiles.add(metadata, "HUGE", new Profile(5, 1, 1 << 20), 1));
    metadata.require(TestProfiles.setDefault(metadata, 1));
    ChangeFixture store =
        new ChangeFixture(
            new EngineConfig(small.stripeBytes(), 2, 1 << 20, Duration.ofSeconds(20)),
            new Hedging(HedgeConfig.OFF, System::nanoTime),
            metadata,
            new MemoryBudget(4 << 20, Duration.ofMillis(200)));
    assertThrows(
        IllegalArgumentException.class,
        () -> store.engine.checkMemory(metadata.placement().standard().profile()));
    metadata.require(TestProfiles.setDefault(metadata, 0));
    store.put(bytes(50_000));
    store.assertContent("of the first profile");
  }

  @Test
  void bytesAppendedToAnEmptyObjectOfARemovedClassGetTheDefault() throws Exception {
    PutObject.Builder empty =
        PutObject.newBuilder()
            .setBucket(ChangeFixture.BUCKET)
            .setKey(ChangeFixture.KEY)
            .setSummary(ObjectSummary.newBuilder().setEtag("e").setStorageClass("WIDE"));
    engine.metadata.require(Command.newBuilder().setPutObject(empty));
    engine.metadata.require(TestProfiles.remove(engine.metadata, WIDE));
    assertEquals(ResultCode.OK, engine.change(0, bytes(100)).getCode());
    assertEquals(0, profileOfLastBlob());
  }

  private CommandResult commit(ObjectWriter writer) throws Exception {
    return writer.commit(
        blobs ->
            Command.newBuilder()
                .setPutObject(
                    PutObject.newBuilder()
                        .setBucket(ChangeFixture.BUCKET)
                        .setKey(ChangeFixture.KEY)
                        .setSummary(ObjectSummary.newBuilder().setSize(10_000).setEtag("e"))
                        .addAllBlobs(blobs)));
  }

  @Test
  void dataOfAProfileThatIsRemovedMeanwhileIsRefusedAndDeleted() throws Exception {
    try (ObjectWriter writer = engine.store.newWriter(HOT, 10_000)) {
      writer.write(ByteBuffer.wrap(bytes(10_000)));
      engine.metadata.require(TestProfiles.remove(engine.metadata, HOT));
      assertEquals(ResultCode.NO_SUCH_PROFILE, commit(writer).getCode());
    }
    engine.cleaner.retry();
    assertEquals(0, engine.storedBytes());
    try (ObjectWriter writer = engine.store.newWriter(HOT, 10_000)) {
      DataUnavailableException refusal =
          assertThrows(
              DataUnavailableException.class, () -> writer.write(ByteBuffer.wrap(bytes(10_000))));
      assertEquals(Reason.MISPLACED, refusal.reason());
    }
    engine.assertNothingHeld();
  }
}
