package dev.ashlar.gateway.encryption.frame;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.ByteString;
import com.sun.management.ThreadMXBean;
import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.ObjectChange;
import dev.ashlar.blob.ObjectStore;
import dev.ashlar.blob.ObjectWriter;
import dev.ashlar.codec.checksum.Md5;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.fault.SimulationRuns;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.EncryptedRuns;
import dev.ashlar.protocol.layout.FrameLayout;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.message.EncryptedRun;
import dev.ashlar.protocol.message.ObjectFacts;
import dev.ashlar.protocol.message.ObjectRecord;
import java.io.ByteArrayOutputStream;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import javax.crypto.SecretKey;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code -Dashlar.frames.seed=N} replays one run, {@code -Dashlar.frames.runs=N} makes more. */
class FramesTest {
  private static final int FRAME = FrameLayout.PLAIN_BYTES;

  private final SlabPool slabs = new SlabPool();
  private final SecretKey key = new SecretKeySpec(new byte[32], "AES");

  /** An encrypted object in memory. */
  private record Sealed(List<EncryptedRun> runs, byte[] plain, byte[] stored) {
    ObjectRead object() {
      return new ObjectRead(
          ObjectRecord.newBuilder().setFacts(ObjectFacts.newBuilder().addAllRuns(runs)).build(),
          List.of());
    }

    Sealed with(byte[] otherStored) {
      return new Sealed(runs, plain, otherStored);
    }
  }

  @AfterEach
  void allSlabsAreBack() {
    assertEquals(0, slabs.lentBytes());
  }

  private Sealed seal(Random random, int... sizes) throws Exception {
    ByteArrayOutputStream plain = new ByteArrayOutputStream();
    ByteArrayOutputStream stored = new ByteArrayOutputStream();
    List<EncryptedRun> runs = new ArrayList<>();
    for (int size : sizes) {
      byte[] id = new byte[EncryptedRuns.ID_BYTES];
      random.nextBytes(id);
      byte[] bytes = new byte[size];
      random.nextBytes(bytes);
      plain.writeBytes(bytes);
      ByteString run = ByteString.copyFrom(id);
      runs.add(EncryptedRun.newBuilder().setId(run).setSize(size).build());
      long expected = random.nextInt(3) == 0 ? -1 : random.nextInt(3) == 0 ? size / 2 : size;
      FrameSealer sealer = FrameSealer.ofNewRun(key, run, expected, piece -> append(piece, stored));
      for (int at = 0; at < size; ) {
        int count = Math.min(size - at, 1 + random.nextInt(random.nextBoolean() ? 100_000 : 5000));
        sealer.write(ByteBuffer.wrap(bytes, at, count));
        at += count;
      }
      sealer.finish();
    }
    return new Sealed(runs, plain.toByteArray(), stored.toByteArray());
  }

  private static void append(ByteBuffer piece, ByteArrayOutputStream out) {
    byte[] copy = new byte[piece.remaining()];
    piece.get(copy);
    out.writeBytes(copy);
  }

  private byte[] read(Sealed sealed, Random random, ByteRange range) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    FrameOpener.read(
        new Stored(sealed.stored, random),
        sealed.object(),
        key,
        range,
        piece -> {
          append(piece.bytes(), out);
          piece.release();
        });
    return out.toByteArray();
  }

  private byte[] readAll(Sealed sealed) throws Exception {
    return read(sealed, new Random(1), new ByteRange(0, sealed.plain.length));
  }

  /** Hands out bytes in pieces of random lengths, several of one slab. */
  private class Stored implements ObjectStore {
    private final byte[] bytes;
    private final Random random;

    Stored(byte[] bytes, Random random) {
      this.bytes = bytes;
      this.random = random;
    }

    @Override
    public void read(ObjectRead object, ByteRange range, DataSink sink)
        throws DataUnavailableException, InterruptedException {
      int at = (int) range.offset();
      while (at < range.end()) {
        int length = Math.min((int) range.end() - at, 1 + random.nextInt(150_000));
        Slab slab = slabs.acquire(length);
        slab.buffer().put(bytes, at, length);
        try {
          int cut = random.nextInt(length + 1);
          sink.accept(new ShardData(slab.retain(), slab.slice(0, cut)));
          sink.accept(new ShardData(slab.retain(), slab.slice(cut, length - cut)));
        } finally {
          slab.release();
        }
        at += length;
      }
    }

    @Override
    public ObjectWriter newWriter(int profile, long expectedLength) {
      throw new IllegalStateException("only read");
    }

    @Override
    public ObjectWriter newWriter(long expectedLength) {
      throw new IllegalStateException("only read");
    }

    @Override
    public ObjectWriter newWriterWithoutMd5(int profile, long expectedLength) {
      throw new IllegalStateException("only read");
    }

    @Override
    public Md5 newMd5() {
      throw new IllegalStateException("only read");
    }

    @Override
    public ObjectChange newChange(ObjectRead object, long offset, long expectedLength) {
      throw new IllegalStateException("only read");
    }
  }

  private static int size(Random random) {
    return switch (random.nextInt(4)) {
      case 0 -> random.nextInt(3);
      case 1 -> FRAME * random.nextInt(3) + random.nextInt(3);
      case 2 -> Math.max(0, FRAME * random.nextInt(4) - 1 - random.nextInt(2));
      default -> random.nextInt(300_000);
    };
  }

  @Test
  void everyRangeOfEveryRunComesBack() {
    SimulationRuns.repeat(
        "FramesTest",
        "ashlar.frames",
        60,
        seed -> {
          Random random = new Random(seed);
          int[] sizes = random.ints(1 + random.nextInt(4), 0, 4).map(i -> size(random)).toArray();
          Sealed sealed = seal(random, sizes);
          assertEquals(EncryptedRuns.storedSize(sealed.runs), sealed.stored.length);
          int size = sealed.plain.length;
          assertArrayEquals(sealed.plain, readAll(sealed));
          for (int i = 0; i < 5 && size > 0; i++) {
            int from = random.nextInt(size);
            int to = from + 1 + random.nextInt(size - from);
            assertArrayEquals(
                Arrays.copyOfRange(sealed.plain, from, to),
                read(sealed, random, new ByteRange(from, to - from)));
          }
        });
  }

  @Test
  void theMapOfRunsPassesOverEmptyOnes() {
    RunMap map =
        new RunMap(
            List.of(run('a', 0), run('b', FRAME + 1), run('c', 0), run('d', 5), run('e', 0)));
    assertEquals(FRAME + 6, map.size());
    List<Frame> frames = new ArrayList<>();
    map.framesFrom(0).forEachRemaining(frames::add);
    int stored = FrameLayout.FRAME_BYTES;
    assertEquals(
        List.of(
            new Frame(id('b'), 0, FRAME, 0, 0),
            new Frame(id('b'), 1, 1, FRAME, stored),
            new Frame(id('d'), 0, 5, FRAME + 1, stored + 29)),
        frames);
    assertEquals(frames.get(2), map.frame(FRAME + 1));
    assertFalse(map.framesFrom(FRAME + 6).hasNext());
    assertEquals(new ByteRange(stored, 29 + 33), map.stored(new ByteRange(FRAME, 2)));
    assertEquals(
        new Frame(id('e'), 0, 3, FRAME + 6, stored + 62), map.grownTo(FRAME + 9).frame(FRAME + 8));
  }

  private static EncryptedRun run(char id, long size) {
    return EncryptedRun.newBuilder().setId(id(id)).setSize(size).build();
  }

  private static ByteString id(char id) {
    return ByteString.copyFromUtf8(String.valueOf(id).repeat(EncryptedRuns.ID_BYTES));
  }

  private void assertDamaged(Sealed sealed) {
    DataUnavailableException e =
        assertThrows(DataUnavailableException.class, () -> readAll(sealed));
    assertEquals(Reason.DAMAGED, e.reason());
  }

  /** In the nonce, at the ends of the encrypted bytes, and in the tag. */
  @ParameterizedTest
  @ValueSource(ints = {0, 11, 12, 5000, 12 + FRAME - 1, 12 + FRAME, 12 + FRAME + 15})
  void noChangedBitGoesUnnoticed(int at) throws Exception {
    Sealed sealed = seal(new Random(at), 2 * FRAME + 7);
    for (int frame = 0; frame < 2; frame++) {
      byte[] changed = sealed.stored.clone();
      changed[frame * FrameLayout.FRAME_BYTES + at] ^= 0x10;
      assertDamaged(sealed.with(changed));
    }
  }

  @Test
  void bytesBeforeADamagedFrameAreRight() throws Exception {
    Sealed sealed = seal(new Random(3), 2 * FRAME + 7);
    byte[] changed = sealed.stored.clone();
    changed[changed.length - 1] ^= 1;
    ByteArrayOutputStream seen = new ByteArrayOutputStream();
    assertThrows(
        DataUnavailableException.class,
        () ->
            FrameOpener.read(
                new Stored(changed, new Random(4)),
                sealed.object(),
                key,
                new ByteRange(0, sealed.plain.length),
                piece -> {
                  append(piece.bytes(), seen);
                  piece.release();
                }));
    assertArrayEquals(Arrays.copyOf(sealed.plain, 2 * FRAME), seen.toByteArray());
    assertArrayEquals(
        Arrays.copyOf(sealed.plain, FRAME + 1),
        read(sealed.with(changed), new Random(5), new ByteRange(0, FRAME + 1)),
        "a frame that is not touched does not matter");
  }

  @Test
  void aFrameIsValidOnlyInItsPlace() throws Exception {
    int frame = FrameLayout.FRAME_BYTES;
    Sealed sealed = seal(new Random(6), 2 * FRAME, 2 * FRAME);
    byte[] swapped = sealed.stored.clone();
    System.arraycopy(sealed.stored, 0, swapped, frame, frame);
    System.arraycopy(sealed.stored, frame, swapped, 0, frame);
    assertDamaged(sealed.with(swapped));
    byte[] ofOtherRun = sealed.stored.clone();
    System.arraycopy(sealed.stored, 2 * frame, ofOtherRun, 0, frame);
    assertDamaged(sealed.with(ofOtherRun));
    Sealed other = seal(new Random(7), 2 * FRAME, 2 * FRAME);
    byte[] ofOtherObject = sealed.stored.clone();
    System.arraycopy(other.stored, 0, ofOtherObject, 0, frame);
    assertDamaged(sealed.with(ofOtherObject));
  }

  /** As if metadata and bytes came from different states of the object. */
  @Test
  void anotherLengthIsNoticed() throws Exception {
    Sealed sealed = seal(new Random(8), FRAME + 100);
    EncryptedRun run = sealed.runs.getFirst();
    for (long size : new long[] {FRAME + 99, 17}) {
      assertDamaged(
          new Sealed(
              List.of(run.toBuilder().setSize(size).build()),
              Arrays.copyOf(sealed.plain, (int) size),
              sealed.stored));
    }
  }

  @Test
  void anotherKeyOpensNothing() throws Exception {
    Sealed sealed = seal(new Random(9), 100);
    byte[] other = new byte[32];
    other[31] = 1;
    assertThrows(
        DataUnavailableException.class,
        () ->
            FrameOpener.read(
                new Stored(sealed.stored, new Random(1)),
                sealed.object(),
                new SecretKeySpec(other, "AES"),
                new ByteRange(0, 100),
                piece -> piece.release()));
  }

  private static long allocatedBytes() {
    return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getCurrentThreadAllocatedBytes();
  }

  /** Requests wait for their first bytes, and for memory, in any number. */
  @Test
  void memoryIsTakenWithTheFirstBytes() throws Exception {
    Sealed sealed = seal(new Random(13), 2 * FRAME);
    ByteString run = sealed.runs.getFirst().getId();
    long[] atFirstRead = {0};
    int times = 100;
    for (int warm = 0; warm < 2; warm++) {
      long before = allocatedBytes();
      for (int i = 0; i < times; i++) {
        FrameSealer.ofNewRun(key, run, -1, bytes -> {});
        FrameOpener.read(
            new Stored(sealed.stored, new Random(1)) {
              @Override
              public void read(ObjectRead object, ByteRange range, DataSink sink) {
                atFirstRead[0] = allocatedBytes();
              }
            },
            sealed.object(),
            key,
            new ByteRange(0, 2 * FRAME),
            ShardData::release);
      }
      long each = (atFirstRead[0] - before) / times;
      assertTrue(warm == 0 || each < FRAME / 2, () -> each + " bytes each");
    }
  }

  /** A range of a few bytes costs two arrays of a frame only where none is idle. */
  @Test
  void framesAreOpenedInMemoryThatIsThere() throws Exception {
    Sealed sealed = seal(new Random(14), FRAME);
    int times = 100;
    for (int warm = 0; warm < 2; warm++) {
      long before = allocatedBytes();
      for (int i = 0; i < times; i++) {
        FrameOpener.read(
            new Stored(sealed.stored, new Random(1)),
            sealed.object(),
            key,
            new ByteRange(5, 10),
            ShardData::release);
      }
      long each = (allocatedBytes() - before) / times;
      assertTrue(warm == 0 || each < FRAME / 2, () -> each + " bytes each");
    }
  }

  /** Made by another implementation: frame 3 of a run. */
  @Test
  void theFormatStaysReadable() {
    byte[] key = new byte[32];
    byte[] id = new byte[EncryptedRuns.ID_BYTES];
    for (int i = 0; i < key.length; i++) {
      key[i] = (byte) i;
      id[i % id.length] = (byte) (i % id.length);
    }
    byte[] stored =
        HexFormat.of()
            .parseHex(
                "6465666768696a6b6c6d6e6f"
                    + "3877bf0f17c934e74a072c"
                    + "4ca73b67b2a8c1cd8b521dd9902ae490");
    Frame frame = new Frame(ByteString.copyFrom(id), 3, 11, 0, 0);
    FrameCipher cipher = FrameCipher.take();
    System.arraycopy(stored, 0, cipher.stored(), 0, stored.length);
    assertTrue(cipher.open(new SecretKeySpec(key, "AES"), frame));
    assertEquals("plain bytes", new String(cipher.plain(), 0, 11, StandardCharsets.UTF_8));
  }

  @Test
  void aCipherThatIsClearedHasNoPlainBytes() throws Exception {
    for (int size : new int[] {FRAME, 1, 1000}) {
      Sealed sealed = seal(new Random(15), size);
      FrameCipher cipher = FrameCipher.take();
      System.arraycopy(sealed.stored, 0, cipher.stored(), 0, sealed.stored.length);
      Frame frame = new Frame(sealed.runs.getFirst().getId(), 0, size, 0, 0);
      assertTrue(cipher.open(key, frame));
      assertArrayEquals(sealed.plain, Arrays.copyOf(cipher.plain(), size));
      cipher.forget();
      assertArrayEquals(sealed.plain, Arrays.copyOf(cipher.plain(), size)); // it is in use
      cipher.giveBack();
      cipher.forget();
      assertArrayEquals(new byte[FRAME], cipher.plain());
    }
  }

  @Test
  void aReadLeavesNoPlainBytesInCiphers() throws Exception {
    Sealed sealed = seal(new Random(17), 2 * FRAME + 100); // ends with a short frame
    assertArrayEquals(sealed.plain, readAll(sealed));
    assertNoPlainBytes();
    byte[] damaged = sealed.stored.clone();
    damaged[damaged.length - 1] ^= 1;
    assertThrows(DataUnavailableException.class, () -> readAll(sealed.with(damaged)));
    assertNoPlainBytes();
  }

  /** The read ends while a writer has its cipher. */
  @Test
  void whoSealsLeavesNoPlainBytesOfReads() throws Exception {
    byte[] bytes = new byte[FrameLayout.FRAME_BYTES];
    ByteString run = ByteString.copyFrom(new byte[EncryptedRuns.ID_BYTES]);
    seal(new Random(18), FRAME); // there is an idle cipher
    FrameCipher cipher = FrameCipher.take();
    Arrays.fill(cipher.stored(), (byte) 1);
    Frame frame = new Frame(run, 0, FRAME, 0, 0);
    assertFalse(cipher.open(key, frame));
    Arrays.fill(cipher.plain(), (byte) 2);
    cipher.forget(); // of the reader
    cipher.seal(key, frame, bytes);
    cipher.giveBack();
    assertNoPlainBytes();
  }

  /** In no cipher that waits for its next use. */
  private static void assertNoPlainBytes() {
    List<FrameCipher> taken = new ArrayList<>();
    for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
      taken.add(FrameCipher.take());
    }
    taken.forEach(cipher -> assertArrayEquals(new byte[FRAME], cipher.plain()));
    taken.forEach(FrameCipher::giveBack);
  }

  @Test
  void theSameBytesAreNeverStoredTwice() throws Exception {
    byte[] first = seal(new Random(10), FRAME).stored;
    byte[] second = seal(new Random(10), FRAME).stored;
    assertFalse(Arrays.equals(first, second), "each frame has a fresh nonce");
  }

  @Test
  void aReceiverThatLeavesEndsTheRead() throws Exception {
    Sealed sealed = seal(new Random(11), 3 * FRAME);
    assertThrows(
        DataUnavailableException.class,
        () ->
            FrameOpener.read(
                new Stored(sealed.stored, new Random(12)),
                sealed.object(),
                key,
                new ByteRange(0, 3 * FRAME),
                piece -> {
                  piece.release();
                  throw new DataUnavailableException(Reason.CANCELLED, "gone");
                }));
  }
}
