package dev.ashlar.storage.drive;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.io.HangingFiles;
import dev.ashlar.storage.io.IoMode;
import dev.ashlar.storage.io.RawFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A drive that neither answers nor fails harms nobody but itself. */
class DriveHangTest {
  private static final int READ_THREADS = 4; // of TestDrives.resources
  private static final Duration HANG = Duration.ofSeconds(30);

  private final SlabPool slabs = new SlabPool();
  private final DriveResources resources = TestDrives.resources(slabs);
  private final AtomicReference<@Nullable HangingFiles> files = new AtomicReference<>();
  @TempDir Path folder = Path.of("set by JUnit");
  private @Nullable DriveStore hanging;

  @BeforeEach
  void open() throws IOException {
    hanging = open("hanging");
  }

  @AfterEach
  void close() throws IOException {
    files().release();
    hanging().close();
    resources.close();
    assertEquals(0, slabs.lentBytes(), "a slab was not given back");
  }

  private DriveStore open(String name) throws IOException {
    return open(name, System::nanoTime);
  }

  private DriveStore open(String name, LongSupplier nanoTime) throws IOException {
    DriveConfig config = TestDrives.config(folder.resolve(name), IoMode.BUFFERED);
    DriveConfig.Limits soon = TestDrives.LIMITS.withTimeouts(Duration.ofMillis(200), HANG);
    return DriveStore.open(
        new DriveConfig(config.folder(), config.cluster(), null, 0, config.ioMode(), soon),
        resources,
        this::hanging,
        nanoTime,
        Duration.ZERO);
  }

  private RawFiles hanging(RawFiles real) {
    HangingFiles made = new HangingFiles(real);
    files.compareAndSet(null, made);
    return made;
  }

  private HangingFiles files() {
    HangingFiles present = files.get();
    if (present == null) {
      throw new IllegalStateException("not open");
    }
    return present;
  }

  private DriveStore hanging() {
    if (hanging == null) {
      throw new IllegalStateException("not open");
    }
    return hanging;
  }

  @Test
  void hangingReadsDoNotBlockOtherDrives() throws Exception {
    put(hanging(), 1).await();
    try (DriveStore other = open("other")) {
      put(other, 1).await();
      files().hangReads();
      List<Answer<ShardData>> stuck = new ArrayList<>();
      for (int i = 0; i < 3 * READ_THREADS; i++) {
        stuck.add(get(hanging(), 1));
      }
      files().awaitHanging(READ_THREADS);
      for (int i = 0; i < 100; i++) {
        AbstractShardStoreContract.bytesOf(get(other, 1).await());
      }
      for (Answer<ShardData> answer : stuck.subList(0, READ_THREADS)) {
        assertFalse(answer.isDone());
      }
      // What waits behind them is told, and what comes now is refused at once.
      for (Answer<ShardData> answer : stuck.subList(READ_THREADS, stuck.size())) {
        assertEquals(ShardFault.UNAVAILABLE, answer.awaitFault());
      }
      assertEquals(ShardFault.UNAVAILABLE, get(hanging(), 1).awaitFault());
      files().release();
      for (Answer<ShardData> answer : stuck.subList(0, READ_THREADS)) {
        answer.await().release();
      }
      awaitRead();
    }
  }

  /** Who waits for a read hears of it before it counts as progress of the drive. */
  private void awaitRead() throws Exception {
    while (true) {
      try {
        AbstractShardStoreContract.bytesOf(get(hanging(), 1).await());
        return;
      } catch (ShardException e) {
        assertEquals(ShardFault.UNAVAILABLE, e.fault());
        TimeUnit.MILLISECONDS.sleep(5);
      }
    }
  }

  @Test
  void hangingCommitMakesTheDriveUnwritableUntilItReturns() throws Exception {
    files().hangSyncs();
    Answer<DriveId> stuck = put(hanging(), 1);
    files().awaitHanging(1);
    Answer<DriveId> behind = put(hanging(), 2);
    while (hanging().isWritable()) {
      TimeUnit.MILLISECONDS.sleep(5);
    }
    assertEquals(ShardFault.UNAVAILABLE, behind.awaitFault());
    assertEquals(ShardFault.UNAVAILABLE, put(hanging(), 3).awaitFault());
    Answer<DriveId> delete = new Answer<>();
    hanging().delete(List.of(new BlobId(1, 3)), delete);
    assertEquals(ShardFault.UNAVAILABLE, delete.awaitFault());
    assertFalse(stuck.isDone());
    files().release();
    stuck.await();
    assertTrue(hanging().isWritable());
    put(hanging(), 4).await();
    assertArrayEquals(noise(), AbstractShardStoreContract.bytesOf(get(hanging(), 1).await()));
    assertEquals(ShardFault.MISSING, get(hanging(), 2).awaitFault());
  }

  @Test
  void closeDoesNotWaitForHangingCalls() throws Exception {
    files().hangSyncs();
    Answer<DriveId> stuck = put(hanging(), 1);
    files().awaitHanging(1);
    assertThrows(IOException.class, hanging()::close);
    files().release();
    stuck.await();
  }

  /** The drive's time, which only this class moves. */
  private final AtomicLong nanos = new AtomicLong();

  /** Time goes by, in which the drive is looked at. */
  private void pass(DriveStore watch, Duration time) {
    for (long left = time.toSeconds(); left > 0; left--) {
      nanos.addAndGet(Duration.ofSeconds(1).toNanos());
      watch.checkHealth();
    }
  }

  /** Its thread has come back from the files, and may not have said so yet. */
  private void awaitReadable() throws InterruptedException {
    boolean isRefused = true;
    while (isRefused) {
      TimeUnit.MILLISECONDS.sleep(1);
      hanging().checkHealth();
      try {
        get(hanging(), 1).await().release();
        isRefused = false;
      } catch (ShardException e) {
        assertEquals(ShardFault.UNAVAILABLE, e.fault());
      }
    }
  }

  private void reopenWithTime() throws IOException {
    hanging().close();
    files.set(null);
    hanging = open("hanging", nanos::get);
  }

  @Test
  void driveFailsAfterAHangingCommit() throws Exception {
    reopenWithTime();
    put(hanging(), 1).await();
    files().hangSyncs();
    Answer<DriveId> stuck = put(hanging(), 2);
    files().awaitHanging(1);
    pass(hanging(), HANG.minusSeconds(1));
    assertEquals(ShardFault.UNAVAILABLE, hanging().writeRefusal());
    pass(hanging(), Duration.ofSeconds(2));
    assertEquals(ShardFault.READ_ONLY, hanging().writeRefusal());
    assertEquals(ShardFault.READ_ONLY, put(hanging(), 3).awaitFault());
    assertArrayEquals(
        noise(), AbstractShardStoreContract.bytesOf(get(hanging(), 1).await()), "reads go on");

    files().release();
    stuck.await();
    pass(hanging(), HANG.minusSeconds(1));
    assertEquals(ShardFault.READ_ONLY, hanging().writeRefusal(), "it may hang again");
    pass(hanging(), Duration.ofSeconds(2));
    assertTrue(hanging().isWritable());
    put(hanging(), 3).await();
  }

  @Test
  void waitingReaderIsNotifiedWhenTheDriveFails() throws Exception {
    reopenWithTime();
    put(hanging(), 1).await();
    files().hangReads();
    Answer<ShardData> stuck = get(hanging(), 1);
    files().awaitHanging(1);
    pass(hanging(), HANG.minusSeconds(1));
    assertTrue(hanging().isWritable());
    assertFalse(stuck.isDone());
    pass(hanging(), Duration.ofSeconds(2));
    assertEquals(ShardFault.UNAVAILABLE, stuck.awaitFault());
    assertEquals(ShardFault.READ_ONLY, hanging().writeRefusal());
    assertEquals(ShardFault.UNAVAILABLE, get(hanging(), 1).awaitFault(), "not one thread more");
    assertThrows(ShardException.class, () -> hanging().blobsBelow(9, null, 1));

    files().release();
    awaitReadable();
    pass(hanging(), HANG.plusSeconds(1));
    assertTrue(hanging().isWritable());
    AbstractShardStoreContract.bytesOf(get(hanging(), 1).await());
  }

  @Test
  void readsThatReturnInTimeDoNotFailTheDrive() throws Exception {
    reopenWithTime();
    put(hanging(), 1).await();
    for (int i = 0; i < 5; i++) {
      files().hangReads();
      Answer<ShardData> slow = get(hanging(), 1);
      files().awaitHanging(1);
      pass(hanging(), HANG.minusSeconds(1));
      files().release();
      slow.await().release();
      pass(hanging(), Duration.ofSeconds(1));
      assertTrue(hanging().isWritable());
    }
  }

  private static Answer<DriveId> put(DriveStore store, int blob) {
    Answer<DriveId> answer = new Answer<>();
    ShardId shard = new ShardId(new BlobId(1, blob), 0);
    store.write(AbstractShardStoreContract.shardWrite(shard, 0, noise()), answer);
    return answer;
  }

  private static Answer<ShardData> get(DriveStore store, int blob) throws ShardException {
    Answer<ShardData> answer = new Answer<>();
    store.read(new ShardId(new BlobId(1, blob), 0), ShardView.ORIGINAL, 0, noise().length, answer);
    return answer;
  }

  private static byte[] noise() {
    return SimulatedCore.noise(7, 9000);
  }
}
