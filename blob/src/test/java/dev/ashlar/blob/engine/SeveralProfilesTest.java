package dev.ashlar.blob.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.metadata.memory.TestProfiles;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;
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
