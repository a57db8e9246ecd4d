package dev.ashlar.blob.read;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.blob.engine.EngineFixture;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ForwardingShardStore;
import dev.ashlar.protocol.client.MemoryShardStore;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Drives that have in memory what is read from them. */
class CachedReadTest {
  private static final Profile FOUR_TWO = Profile.parse("4+2", 16384);
  private static final int WINDOW = 1 << 20;
  private static final int BYTES = 5 * WINDOW + 12_345;

  private final EngineFixture engine = new EngineFixture(FOUR_TWO);
  private final List<CachedDrive> drives = new ArrayList<>();
  private final byte[] bytes = EngineFixture.bytes(new Random(1), BYTES);

  /** A drive that counts its reads. */
  private static final class CachedDrive extends ForwardingShardStore {
    private boolean isCached = true;
    private int cachedReads;
    private int otherReads;

    CachedDrive(MemoryShardStore drive) {
      super(drive);
    }

    @Override
    public @Nullable ShardData readCached(ShardId shard, ShardView view, long offset, int length) {
      if (!isCached) {
        return null;
      }
      Answer<ShardData> answer = new Answer<>();
      super.read(shard, view, offset, length, answer);
      cachedReads++;
      try {
        return answer.await();
      } catch (ShardException e) {
        return null;
      }
    }

    @Override
    public void read(
        ShardId shard, ShardView view, long offset, int length, Completion<ShardData> completion) {
      otherReads++;
      super.read(shard, view, offset, length, completion);
    }
  }

  CachedReadTest() throws Exception {
    for (int slot = 0; slot < FOUR_TWO.shards(); slot++) {
      CachedDrive drive = new CachedDrive(engine.drives.get(slot));
      drives.add(drive);
      engine.reachThrough(slot, drive);
    }
    engine.put(bytes, new Random(1));
  }

  @AfterEach
  void nothingIsHeld() {
    assertEquals(0, engine.pool.lentBytes());
    assertEquals(0, engine.memory.reservedBytes());
  }

  private int cachedReads() {
    return drives.stream().mapToInt(drive -> drive.cachedReads).sum();
  }

  private int otherReads() {
    return drives.stream().mapToInt(drive -> drive.otherReads).sum();
  }

  private void assertRead(int offset, int length) throws Exception {
    assertArrayEquals(
        Arrays.copyOfRange(bytes, offset, offset + length), engine.get(offset, length));
  }

  @Test
  void noDriveIsAskedForWhatIsInMemory() throws Exception {
    assertRead(0, BYTES);
    assertRead(100_000, 3);
    assertEquals(0, otherReads());
  }

  /** It is in the processor's cache then, and takes no memory while another one is read. */
  @Test
  void eachWindowIsDeliveredBeforeTheNextIsRead() throws Exception {
    int[] delivered = new int[1];
    engine.store.read(
        Objects.requireNonNull(engine.metadata.object),
        new ByteRange(0, BYTES),
        piece -> {
          int window = delivered[0] / WINDOW;
          assertEquals(window < 5 ? 4 * (window + 1) : 21, cachedReads());
          delivered[0] += piece.bytes().remaining();
          piece.release();
        });
    assertEquals(BYTES, delivered[0]);
  }

  @Test
  void whatIsNotInMemoryIsReadBesideIt() throws Exception {
    drives.get(1).isCached = false;
    assertRead(0, BYTES);
    assertEquals(drives.get(1).otherReads, otherReads());
    assertEquals(drives.get(0).cachedReads, drives.get(2).cachedReads + 1);
  }

  @Test
  void whatIsLostIsRebuiltFromMemory() throws Exception {
    engine.remove(0);
    engine.remove(3);
    assertRead(0, BYTES);
    assertRead(2 * WINDOW + 5, 70_000);
    assertEquals(0, otherReads());
  }

  @Test
  void onlyTheReadReportsFailures() throws Exception {
    engine
        .metadata
        .rows
        .keySet()
        .forEach(blob -> engine.drives.get(2).corrupt(new ShardId(blob, 2)));
    assertRead(0, BYTES);
    assertEquals(drives.get(2).otherReads, otherReads());
  }
}
