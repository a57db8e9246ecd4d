package dev.ashlar.blob.change;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.ObjectChange;
import dev.ashlar.blob.ObjectStore.DataSink;
import dev.ashlar.blob.engine.ChangeFixture;
import dev.ashlar.blob.engine.EngineFixture;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.Profile;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A change that others come before, and readers who are under way meanwhile. */
class RacedObjectChangeTest {
  private static final Profile TWO_TWO = Profile.parse("2+2", 8192);
  private static final Profile FOUR_TWO = Profile.parse("4+2", 16384);
  private final Random random = new Random(4711);

  private byte[] bytes(int length) {
    return EngineFixture.bytes(random, length);
  }

  @Test
  void lateAppendFails() throws Exception {
    ChangeFixture engine = new ChangeFixture(FOUR_TWO);
    engine.put(bytes(1000));
    try (ObjectChange late = engine.store.newChange(engine.object(), 1000, 10)) {
      late.write(ByteBuffer.wrap(bytes(10)));
      engine.change(1000, bytes(20));
      assertEquals(
          ResultCode.INVALID_OFFSET,
          late.commit(ChangeFixture.command().setAppend(true)).getCode());
    }
    engine.assertContent("the first append");
  }

  @Test
  void aSmallChangeThatLosesARaceIsTriedAgain() throws Exception {
    ChangeFixture engine = new ChangeFixture(FOUR_TWO);
    engine.put(bytes(100_000));
    byte[] mine = bytes(500);
    try (ObjectChange slow = engine.store.newChange(engine.object(), 700, 500)) {
      slow.write(ByteBuffer.wrap(mine));
      engine.change(600, bytes(1000));
      engine.foldAll();
      engine.change(100, bytes(1000));
      assertEquals(ResultCode.OK, slow.commit(ChangeFixture.command()).getCode());
      engine.expect(700, mine);
    }
    engine.assertContent("both");
    assertTrue(engine.count("ashlar.blob.conflicts") > 0);
  }

  /** What is written, such as the frames of an encrypted object, fits no other version. */
  @Test
  void aChangeOfOneVersionIsNotTriedAgain() throws Exception {
    ChangeFixture engine = new ChangeFixture(FOUR_TWO);
    engine.put(bytes(100_000));
    engine.copyTo("copy"); // so that new blobs replace what is changed
    ObjectRead seen = engine.object();
    for (int offset : new int[] {700, 50_000, 100_000}) {
      try (ObjectChange slow = engine.store.newChange(seen, offset, 500)) {
        slow.write(ByteBuffer.wrap(bytes(500)));
        engine.change(600, bytes(1000));
        assertEquals(
            ResultCode.CONDITIONAL_CONFLICT,
            slow.commit(ChangeFixture.command().setExpectedVersion(seen.object().getVersion()))
                .getCode());
      }
    }
    engine.assertContent("only the others");
  }

  @Test
  void longChangeThatLosesARaceFails() throws Exception {
    ChangeFixture engine = new ChangeFixture(FOUR_TWO);
    engine.put(bytes(300_000));
    long stored = engine.storedBytes();
    try (ObjectChange slow = engine.store.newChange(engine.object(), 0, 200_000)) {
      slow.write(ByteBuffer.wrap(bytes(150_000)));
      engine.change(100_000, bytes(10));
      slow.write(ByteBuffer.wrap(bytes(50_000)));
      assertEquals(ResultCode.CONDITIONAL_CONFLICT, slow.commit(ChangeFixture.command()).getCode());
    }
    engine.assertContent("only the other");
    engine.foldAll();
    assertEquals(stored, engine.storedBytes());
  }

  @Test
  void changesOfDifferentStripesDoNotConflict() throws Exception {
    ChangeFixture engine = new ChangeFixture(FOUR_TWO);
    engine.put(bytes(300_000));
    byte[] mine = bytes(100);
    try (ObjectChange slow = engine.store.newChange(engine.object(), 10, 100)) {
      slow.write(ByteBuffer.wrap(mine));
      engine.change(200_000, bytes(5000));
      assertEquals(ResultCode.OK, slow.commit(ChangeFixture.command()).getCode());
      engine.expect(10, mine);
    }
    assertEquals(0, engine.count("ashlar.blob.conflicts"));
    engine.assertContent("both");
  }

  @Test
  void readerKeepsItsRevisionOrFailsAsGone() throws Exception {
    for (boolean isFolded : new boolean[] {false, true}) {
      for (boolean isAppend : new boolean[] {false, true}) {
        ChangeFixture engine = new ChangeFixture(TWO_TWO);
        engine.put(bytes(100_000));
        byte[] before = engine.expected;
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        boolean[] isChanged = {false};
        DataSink sink =
            piece -> {
              byte[] got = new byte[piece.bytes().remaining()];
              piece.bytes().get(got);
              out.writeBytes(got);
              piece.release();
              if (!isChanged[0]) {
                isChanged[0] = true;
                change(engine, isAppend ? 100_000 : 0, isFolded);
              }
            };
        ObjectRead object = engine.object();
        if (isFolded && !isAppend) {
          DataUnavailableException e =
              assertThrows(
                  DataUnavailableException.class,
                  () -> engine.store.read(object, new ByteRange(0, 100_000), sink));
          assertEquals(Reason.GONE, e.reason());
        } else {
          engine.store.read(object, new ByteRange(0, 100_000), sink);
          assertArrayEquals(before, out.toByteArray());
        }
        engine.assertContent("afterwards");
        engine.assertNothingHeld();
      }
    }
  }

  /** The rows of more blobs than come with the object are read later. */
  @Test
  void aReadOfManyBlobsNeverMixesVersions() throws Exception {
    ChangeFixture engine = new ChangeFixture(TWO_TWO);
    int blobBytes = 7 * TWO_TWO.stripeBytes();
    engine.put(bytes(10 * blobBytes));
    ObjectRead object = engine.object();
    assertEquals(10, object.object().getSlicesCount());
    boolean[] isChanged = {false};
    DataSink sink =
        piece -> {
          piece.release();
          if (!isChanged[0]) {
            isChanged[0] = true;
            changeBytes(engine, 0);
            changeBytes(engine, 9 * blobBytes);
          }
        };
    DataUnavailableException e =
        assertThrows(
            DataUnavailableException.class,
            () ->
                engine.store.read(
                    object, new ByteRange(0, object.object().getSummary().getSize()), sink));
    assertEquals(Reason.GONE, e.reason());
    engine.assertContent("afterwards");
  }

  private void changeBytes(ChangeFixture engine, int offset) {
    try {
      engine.change(offset, bytes(10));
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private void change(ChangeFixture engine, int offset, boolean isFolded) {
    try {
      engine.change(offset, bytes(100_000));
      if (isFolded) {
        engine.foldAll();
      }
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
