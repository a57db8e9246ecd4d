package dev.ashlar.storage.drive;

import static dev.ashlar.protocol.client.AbstractShardStoreContract.shardWrite;
import static dev.ashlar.storage.drive.SimulatedCore.noise;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ForwardingShardStore;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.io.CachedFiles;
import dev.ashlar.storage.io.IoMode;
import dev.ashlar.storage.io.RawFiles;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads on the caller's thread. */
class CachedReadTest {
  private static final ShardId SHARD = new ShardId(new BlobId(1, 1), 0);
  private static final int BYTES = 700_000;

  /** As the engine writes them; where others begin is not known without a search. */
  private static final int EXTENT_BYTES = 256 << 10;

  private static final int TRIES_MAX = 3;

  private final SlabPool slabs = new SlabPool();
  private final DriveResources resources = TestDrives.resources(slabs);
  private @Nullable CachedFiles files;
  private final byte[] bytes = noise(1, BYTES);
  @TempDir Path folder = Path.of("set by JUnit");
  private @Nullable DriveStore opened;

  @BeforeEach
  void open() throws Exception {
    opened =
        DriveStore.open(TestDrives.config(folder, IoMode.BUFFERED), resources, this::cachedFiles);
    for (int at = 0; at < BYTES; at += EXTENT_BYTES) {
      put(SHARD, at, Arrays.copyOfRange(bytes, at, Math.min(BYTES, at + EXTENT_BYTES)));
    }
  }

  private RawFiles cachedFiles(RawFiles real) {
    CachedFiles cached = new CachedFiles(real);
    files = cached;
    return cached;
  }

  @AfterEach
  void close() throws Exception {
    drive().close();
    resources.close();
    assertEquals(0, slabs.lentBytes(), "a slab was not given back");
  }

  private void cache(boolean isOn) {
    CachedFiles cached = files;
    assertNotNull(cached);
    cached.cache(isOn);
  }

  private DriveStore drive() {
    DriveStore drive = opened;
    assertNotNull(drive);
    return drive;
  }

  private void put(ShardId shard, int offset, byte[] content) throws Exception {
    Answer<DriveId> answer = new Answer<>();
    drive().write(shardWrite(shard, offset, content), answer);
    answer.await();
  }

  private Answer<ShardData> read(int offset, int length) {
    Answer<ShardData> answer = new Answer<>();
    drive().read(SHARD, ShardView.ORIGINAL, offset, length, answer);
    return answer;
  }

  private @Nullable ShardData cached(int offset, int length) {
    return drive().readCached(SHARD, ShardView.ORIGINAL, offset, length);
  }

  /** A checkpoint of the index may move rows from memory to a table. A read brings them back. */
  private void assertCached(int offset, int length) throws Exception {
    ShardData data = cached(offset, length);
    for (int reads = 0; data == null && reads < TRIES_MAX; reads++) {
      read(offset, length).await().release();
      data = cached(offset, length);
    }
    assertNotNull(data);
    assertEquals(ByteBuffer.wrap(bytes, offset, length), data.bytes());
    data.release();
  }

  @Test
  void whatIsInMemoryIsRead() throws Exception {
    assertCached(0, BYTES);
    assertCached(0, 1);
    assertCached(BYTES - 1, 1);
    assertCached(300_001, 200_000);
  }

  /** A checkpoint may come between once, but hardly each time. */
  @Test
  void whatWasJustWrittenIsRead() throws Exception {
    ShardData data = null;
    for (int i = 1; data == null && i <= TRIES_MAX; i++) {
      ShardId fresh = new ShardId(new BlobId(1, 1 + i), 0);
      put(fresh, 0, noise(1, 10));
      data = drive().readCached(fresh, ShardView.ORIGINAL, 0, 10);
    }
    assertNotNull(data);
    data.release();
  }

  @Test
  void whatIsNotInMemoryIsLeftToTheReadThreads() throws Exception {
    cache(false);
    assertNull(cached(0, 10));
    read(0, 10).await().release();
    cache(true);
    assertCached(0, 10);
  }

  @Test
  void onlyTheReadReportsAbsentAndDamagedBlocks() throws Exception {
    assertNull(cached(BYTES - 1, 2));
    assertNull(drive().readCached(new ShardId(SHARD.blob(), 1), ShardView.ORIGINAL, 0, 1));
    damage();
    assertNull(cached(0, BYTES));
    assertEquals(0, corruptBlocks());
    assertEquals(ShardFault.CORRUPT, read(0, BYTES).awaitFault());
    assertEquals(1, corruptBlocks());
  }

  private double corruptBlocks() {
    return resources.meters().get("ashlar.drive.corrupt.blocks").functionCounter().count();
  }

  /** Inverts a byte in the midst of the shard, wherever it lies. */
  private void damage() throws Exception {
    try (FileChannel file =
        FileChannel.open(
            folder.resolve(Segment.fileName(1)),
            StandardOpenOption.READ,
            StandardOpenOption.WRITE)) {
      ByteBuffer content = ByteBuffer.allocate(1 << 20);
      file.read(content, 0);
      int at = 0;
      while (!content.slice(at, 100).equals(ByteBuffer.wrap(bytes, 400_000, 100))) {
        at++;
      }
      file.write(ByteBuffer.wrap(new byte[] {(byte) ~bytes[400_000]}), at);
    }
  }

  @Test
  void aClosedDriveReadsNothing() throws Exception {
    drive().close();
    assertNull(cached(0, 10));
  }

  @Test
  void rangesThatNoReadMayHaveAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> cached(-1, 10));
    assertThrows(IllegalArgumentException.class, () -> cached(0, 0));
    assertThrows(IllegalArgumentException.class, () -> cached(0, SlabPool.MAX_SLAB_BYTES));
  }

  /** A store whose reads are made so if possible is one like any other. */
  @Nested
  class Contract extends AbstractShardStoreContract {
    private final DriveResources own = TestDrives.resources(slabs);
    private @Nullable DriveStore real;

    @Override
    protected ShardStore newStore() throws Exception {
      DriveStore drive =
          DriveStore.open(
              TestDrives.config(folder.resolve("contract"), IoMode.BUFFERED),
              own,
              CachedFiles::new);
      real = drive;
      return new ForwardingShardStore(drive) {
        @Override
        public void read(
            ShardId shard,
            ShardView view,
            long offset,
            int length,
            Completion<ShardData> completion) {
          ShardData data = drive.readCached(shard, view, offset, length);
          if (data == null) {
            super.read(shard, view, offset, length, completion);
          } else {
            completion.succeeded(data);
          }
        }
      };
    }

    @Override
    protected void close(ShardStore closing) throws Exception {
      if (real != null) {
        real.close();
      }
      own.close();
    }
  }
}
