package dev.ashlar.blob.move;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.protobuf.ByteString;
import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.ObjectChange;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.blob.context.ByteRateLimiter;
import dev.ashlar.blob.engine.ChangeFixture;
import dev.ashlar.blob.engine.EngineFixture;
import dev.ashlar.blob.engine.ReadBytes;
import dev.ashlar.blob.move.VersionMover.Outcome;
import dev.ashlar.codec.isal.NativeMd5;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.memory.TestProfiles;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.EncryptedRuns;
import dev.ashlar.protocol.layout.FrameLayout;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.EncryptedRun;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.ObjectSummary;
import dev.ashlar.protocol.message.PutObject;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.message.VersionRef;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Versions are moved to another profile, and whatever clients do meanwhile comes out right. */
class VersionMoverTest {
  private static final int HOT = 1;
  private static final int PIECE = 100_000;

  private final ChangeFixture engine = new ChangeFixture(new Profile(4, 2, 16384));
  private final HookedStore store = new HookedStore(engine.store);
  private final VersionMover mover = new VersionMover(engine.metadata, store, PIECE);
  private final Random random = new Random(25);

  VersionMoverTest() throws Exception {
    engine.metadata.require(TestProfiles.add(engine.metadata, "HOT", new Profile(1, 2, 4096), 3));
  }

  /** Goes on as long as it may. */
  private static final class Steps implements VersionMover.Follower {
    private final ByteRateLimiter unbounded = new ByteRateLimiter(0);
    private int left;
    private long bytes;

    Steps(int left) {
      this.left = left;
    }

    @Override
    public ByteRateLimiter rate() {
      return unbounded;
    }

    @Override
    public boolean goesOn() {
      return left-- > 0;
    }

    @Override
    public void moved(long moved) {
      bytes += moved;
    }
  }

  private byte[] bytes(int length) {
    return EngineFixture.bytes(random, length);
  }

  private static VersionMover.Order order(String storageClass, long position) {
    return new VersionMover.Order(
        ChangeFixture.BUCKET,
        ChangeFixture.KEY,
        VersionRef.getDefaultInstance(),
        position,
        storageClass);
  }

  private Outcome move(String storageClass) throws Exception {
    return mover.move(order(storageClass, 0), new Steps(1000));
  }

  private List<Integer> profiles() throws Exception {
    return profiles(engine.object());
  }

  private static List<Integer> profiles(ObjectRead read) {
    return read.object().getSlicesList().stream()
        .map(slice -> BlobId.of(slice.getBlob()).profile())
        .distinct()
        .toList();
  }

  private String storageClass() throws Exception {
    return engine.object().object().getSummary().getStorageClass();
  }

  private void put(byte[] bytes, String etag) throws Exception {
    put(
        bytes,
        PutObject.newBuilder()
            .setSummary(ObjectSummary.newBuilder().setSize(bytes.length).setEtag(etag)));
  }

  private void put(byte[] bytes, PutObject.Builder object) throws Exception {
    try (ObjectWriter writer = engine.store.newWriter(bytes.length)) {
      writer.write(ByteBuffer.wrap(bytes));
      assertEquals(
          ResultCode.OK,
          writer
              .commit(
                  blobs ->
                      Command.newBuilder()
                          .setPutObject(
                              object
                                  .setBucket(ChangeFixture.BUCKET)
                                  .setKey(ChangeFixture.KEY)
                                  .addAllBlobs(blobs)))
              .getCode());
    }
    engine.expected = bytes.clone();
  }

  private static String md5(byte[] bytes) throws Exception {
    return HexFormat.of().formatHex(MessageDigest.getInstance("MD5").digest(bytes));
  }

  @Test
  void aVersionIsMovedThereAndBack() throws Exception {
    byte[] content = bytes(90_000);
    put(content, md5(content));
    ObjectRead before = engine.object();
    assertEquals(Outcome.MOVED, move("HOT"));
    assertEquals(List.of(HOT), profiles());
    assertEquals("HOT", storageClass());
    assertEquals(before.object().getVersion(), engine.object().object().getVersion());
    engine.assertContent("moved");
    engine.assertEveryLossIsRebuilt("moved");
    assertEquals(Outcome.UNCHANGED, move("HOT"));
    assertEquals(Outcome.MOVED, move(""));
    assertEquals(List.of(0), profiles());
    assertEquals("", storageClass());
    engine.assertContent("moved back");
    engine.assertEveryLossIsRebuilt("moved back");
    engine.assertNothingHeld();
  }

  /** Its ETag is of the plain bytes, and its blobs hold more bytes than it has. */
  @Test
  void anEncryptedVersionIsMovedAsItIsStored() throws Exception {
    int size = 150_000;
    EncryptedRun run =
        EncryptedRun.newBuilder()
            .setId(ByteString.copyFrom(new byte[EncryptedRuns.ID_BYTES]))
            .setSize(size)
            .build();
    put(
        bytes((int) FrameLayout.storedSize(size)),
        PutObject.newBuilder()
            .setFacts(
                ObjectFacts.newBuilder()
                    .setWrappedKey(ByteString.copyFromUtf8("wrapped"))
                    .addRuns(run))
            .setSummary(ObjectSummary.newBuilder().setSize(size).setEtag(md5(bytes(size)))));
    assertEquals(Outcome.MOVED, mover.move(order("HOT", 0), new Steps(10)));
    assertEquals(List.of(HOT), profiles());
    engine.assertContent("moved in pieces");
    assertEquals(
        Outcome.MOVED, new VersionMover(engine.metadata, store).move(order("", 0), new Steps(1)));
    engine.assertContent("moved back at once");
    assertTrue(EncryptedRuns.isEncrypted(engine.object().object()));
  }

  @Test
  void onlyTheClassOfAnEmptyObjectChanges() throws Exception {
    put(new byte[0], "e");
    assertEquals(Outcome.MOVED, move("HOT"));
    assertEquals("HOT", storageClass());
    assertEquals(Outcome.UNCHANGED, move("HOT"));
  }

  @Test
  void aLongVersionIsMovedPieceByPiece() throws Exception {
    engine.put(bytes(1_050_000)); // several blobs
    long slices = engine.object().object().getSlicesCount();
    assertTrue(slices > 1);
    Steps some = new Steps(3);
    assertEquals(Outcome.STOPPED, mover.move(order("HOT", 0), some));
    assertEquals(3 * PIECE, some.bytes);
    assertEquals("", storageClass());
    assertEquals(List.of(HOT, 0), profiles());
    engine.assertContent("moved in part");
    Steps rest = new Steps(1000);
    assertEquals(Outcome.MOVED, mover.move(order("HOT", 0), rest));
    assertEquals(1_050_000 - 3 * PIECE, rest.bytes);
    assertEquals(11, engine.object().object().getSlicesCount());
    assertEquals(List.of(HOT), profiles());
    assertEquals("HOT", storageClass());
    engine.assertContent("moved");
    engine.assertEveryLossIsRebuilt("moved");
    engine.assertNothingHeld();
  }

  @Test
  void changesThatAreNotFoldedAreMovedToo() throws Exception {
    engine.put(bytes(90_000));
    engine.change(10_000, bytes(500));
    engine.change(90_000, bytes(3_000));
    assertEquals(Outcome.MOVED, move("HOT"));
    engine.assertContent("moved with its changes");
    engine.change(50, bytes(100));
    engine.change(93_000, bytes(100));
    assertEquals(List.of(HOT), profiles());
    engine.foldAll();
    engine.assertContent("changed again");
    engine.assertEveryLossIsRebuilt("changed again");
  }

  @Test
  void aVersionThatChangesWhileItIsReadIsReadAgain() throws Exception {
    for (boolean isAppend : new boolean[] {false, true}) {
      for (boolean isBefore : new boolean[] {false, true}) {
        engine.put(bytes(90_000));
        HookedStore.Hook change =
            () -> {
              store.calm();
              assertEquals(
                  ResultCode.OK, engine.change(isAppend ? 90_000 : 100, bytes(700)).getCode());
            };
        if (isBefore) {
          store.before(change);
        } else {
          store.after(change);
        }
        assertEquals(Outcome.MOVED, move("HOT"));
        assertEquals(List.of(HOT), profiles());
        engine.assertContent("append " + isAppend + ", before " + isBefore);
        engine.assertNothingHeld();
      }
    }
  }

  @Test
  void aVersionThatIsReplacedOrDeletedMeanwhileIsNotTouched() throws Exception {
    engine.put(bytes(90_000));
    long position = engine.object().object().getVersion();
    byte[] other = bytes(1000);
    store.after(
        () -> {
          store.calm();
          engine.put(other);
        });
    assertEquals(Outcome.GONE, mover.move(order("HOT", position), new Steps(9)));
    engine.assertContent("the other one");
    assertEquals(List.of(0), profiles());
    store.after(
        () -> engine.metadata.require(TestBlobs.delete(ChangeFixture.BUCKET, ChangeFixture.KEY)));
    assertEquals(Outcome.GONE, move("HOT"));
    store.calm();
    assertEquals(Outcome.GONE, move("HOT"));
    engine.assertNothingHeld();
  }

  /** Whoever loses removes what it has written. */
  @Test
  void twoMoversMoveItOnce() throws Exception {
    engine.put(bytes(90_000));
    VersionMover other = new VersionMover(engine.metadata, engine.store, PIECE);
    store.after(
        () -> {
          store.calm();
          assertEquals(Outcome.MOVED, other.move(order("HOT", 0), new Steps(9)));
        });
    assertEquals(Outcome.UNCHANGED, move("HOT"));
    engine.assertContent("moved once");
    engine.cleaner.retry();
    long referenced = engine.storedBytes();
    assertEquals(1, engine.metadata.garbage(Long.MAX_VALUE, null, 10).size());
    // What the first blob and the one that took its place have.
    assertEquals(stored(0) + stored(HOT), referenced);
  }

  private long stored(int number) {
    Profile profile = engine.metadata.placement().numbered(number).orElseThrow().profile();
    return new StripeLayout(profile, 90_000).storedBytes();
  }

  @Test
  void aVersionThatChangesAllTheTimeIsLeftForLater() throws Exception {
    engine.put(bytes(90_000));
    store.after(() -> engine.change(100, bytes(10)));
    NotMovedException busy = assertThrows(NotMovedException.class, () -> move("HOT"));
    assertEquals("it changes all the time", busy.getMessage());
    engine.assertContent("as clients left it");
    store.calm();
    assertEquals(Outcome.MOVED, move("HOT"));
    engine.assertContent("moved");
  }

  @Test
  void aSmallChangeThatWasUnderWayIsMadeAfterTheMove() throws Exception {
    for (long offset : new long[] {700, 90_000}) {
      engine.put(bytes(90_000));
      byte[] mine = bytes(500);
      try (ObjectChange slow = engine.store.newChange(engine.object(), offset, 500)) {
        slow.write(ByteBuffer.wrap(mine));
        assertEquals(Outcome.MOVED, move("HOT"));
        assertEquals(
            ResultCode.OK,
            slow.commit(ChangeFixture.command().setAppend(offset == 90_000)).getCode());
      }
      engine.expect(offset, mine);
      engine.foldAll();
      engine.assertContent("at " + offset);
      assertEquals(List.of(HOT), profiles());
    }
  }

  /** Its bytes are on the drives of the blob that was replaced, and it cannot be sent again. */
  @Test
  void aLongChangeThatWasUnderWayFails() throws Exception {
    engine.put(bytes(300_000));
    try (ObjectChange slow = engine.store.newChange(engine.object(), 0, 200_000)) {
      slow.write(ByteBuffer.wrap(bytes(150_000)));
      assertEquals(Outcome.MOVED, move("HOT"));
      slow.write(ByteBuffer.wrap(bytes(50_000)));
      assertEquals(ResultCode.CONDITIONAL_CONFLICT, slow.commit(ChangeFixture.command()).getCode());
    }
    engine.assertContent("as it was");
    engine.assertNothingHeld();
  }

  /** New blobs replace bytes of this version, whatever slices it has. */
  @Test
  void aLongChangeOfSharedBlobsDoesNotMeetTheMove() throws Exception {
    engine.put(bytes(300_000));
    engine.copyTo("copy");
    byte[] mine = bytes(200_000);
    try (ObjectChange slow = engine.store.newChange(engine.object(), 1000, 200_000)) {
      slow.write(ByteBuffer.wrap(mine));
      assertEquals(Outcome.MOVED, move("HOT"));
      assertEquals(ResultCode.OK, slow.commit(ChangeFixture.command()).getCode());
    }
    engine.expect(1000, mine);
    engine.assertContent("moved and changed");
  }

  @Test
  void whoeverReadsMeanwhileGetsTheSameBytes() throws Exception {
    engine.put(bytes(600_000));
    ObjectRead seen = engine.object();
    ReadBytes read = new ReadBytes();
    boolean[] isMoved = new boolean[1];
    engine.store.read(
        seen,
        new ByteRange(0, 600_000),
        piece -> {
          read.accept(piece);
          if (!isMoved[0]) {
            isMoved[0] = true;
            try {
              assertEquals(Outcome.MOVED, move("HOT"));
            } catch (Exception e) {
              throw new AssertionError(e);
            }
          }
        });
    assertArrayEquals(engine.expected, read.bytes());
    engine.assertContent("moved");
  }

  @Test
  void aCopyKeepsTheBlobsThatWereShared() throws Exception {
    engine.put(bytes(90_000));
    engine.copyTo("copy");
    SliceValue shared = engine.object().object().getSlices(0);
    assertEquals(Outcome.MOVED, move("HOT"));
    ObjectRead copy = engine.metadata.object(ChangeFixture.BUCKET, "copy").orElseThrow();
    assertEquals(shared, copy.object().getSlices(0));
    assertEquals(1, copy.blobs().getFirst().getReferences());
    assertArrayEquals(engine.expected, engine.get(copy, new ByteRange(0, 90_000)));
    assertEquals(List.of(), engine.metadata.garbage(Long.MAX_VALUE, null, 10));
  }

  @Test
  void bytesThatAreNotThoseOfTheEtagAreNotMoved() throws Exception {
    byte[] content = bytes(50_000);
    put(content, md5(bytes(1)));
    NotMovedException wrong = assertThrows(NotMovedException.class, () -> move("HOT"));
    assertTrue(String.valueOf(wrong.getMessage()).contains("MD5"));
    assertEquals(List.of(0), profiles());
    engine.cleaner.retry();
    assertEquals(List.of(), engine.metadata.garbage(Long.MAX_VALUE, null, 10));
  }

  @Test
  void withoutEnoughDrivesNothingIsMoved() throws Exception {
    engine.put(bytes(50_000));
    for (int slot = 0; slot < 3; slot++) {
      engine.setReachable(slot, false);
    }
    assertThrows(DataUnavailableException.class, () -> move("HOT"));
    for (int slot = 0; slot < 3; slot++) {
      engine.setReachable(slot, true);
    }
    assertEquals(Outcome.MOVED, move("HOT"));
    engine.assertContent("moved later");
  }

  @Test
  void anUnknownClassIsRefused() throws Exception {
    engine.put(bytes(10));
    assertThrows(NotMovedException.class, () -> move("COLD"));
    assertEquals(List.of(0), profiles());
  }

  @Test
  void theMd5OfWhatIsMovedIsCounted() throws Exception {
    assumeTrue(NativeMd5.isAvailable());
    byte[] content = bytes(3 * PIECE);
    put(content, md5(content));
    double before = md5Steps();
    assertEquals(
        Outcome.MOVED, engine.engine.newVersionMover().move(order("HOT", 0), new Steps(1000)));
    assertTrue(md5Steps() > before, "as many steps as before");
  }

  private double md5Steps() {
    return engine.meters.get("ashlar.blob.md5.steps").functionCounter().count();
  }
}
