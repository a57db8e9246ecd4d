package dev.ashlar.storage.drive;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
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
import dev.ashlar.storage.io.CountedFiles;
import dev.ashlar.storage.io.IoMode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** While the process may open no more files, requests are refused that may be sent again. */
class TooManyOpenFilesTest {
  private static final int BYTES = 400_000; // ten of them fill a segment
  private static final long INCARNATION = 1000;

  private final SlabPool slabs = new SlabPool();
  private final DriveResources resources = TestDrives.resources(slabs, 1);
  @TempDir Path folder = Path.of("set by JUnit");
  private @Nullable CountedFiles files;
  private @Nullable DriveStore drive;

  /** What was acknowledged. */
  private final Set<Integer> written = new HashSet<>();

  /** What was refused. */
  private final Set<Integer> refused = new HashSet<>();

  @BeforeEach
  void open() throws IOException {
    open(Integer.MAX_VALUE);
  }

  private void open(int limit) throws IOException {
    drive =
        DriveStore.open(
            TestDrives.config(folder, IoMode.BUFFERED),
            resources,
            real -> {
              CountedFiles made = new CountedFiles(real);
              made.limit(limit);
              files = made;
              return made;
            });
  }

  @AfterEach
  void close() throws IOException {
    drive().close();
    resources.close();
    assertEquals(0, slabs.lentBytes(), "a slab was not given back");
    assertEquals(List.of(), files().misuses());
  }

  private DriveStore drive() {
    return Objects.requireNonNull(drive);
  }

  private CountedFiles files() {
    return Objects.requireNonNull(files);
  }

  private void reopen() throws IOException {
    drive().close();
    open();
  }

  private static ShardId shard(int blob) {
    return new ShardId(new BlobId(1, blob), 0);
  }

  private static byte[] content(int blob) {
    return SimulatedCore.noise(blob, BYTES);
  }

  /** False if it is refused for want of files. */
  private boolean put(int blob) throws InterruptedException {
    Answer<DriveId> answer = new Answer<>();
    drive().write(AbstractShardStoreContract.shardWrite(shard(blob), 0, content(blob)), answer);
    boolean isTaken = isTaken(answer);
    (isTaken ? written : refused).add(blob);
    (isTaken ? refused : written).remove(blob);
    return isTaken;
  }

  private boolean delete(int blob) throws InterruptedException {
    Answer<DriveId> answer = new Answer<>();
    drive().delete(List.of(new BlobId(1, blob)), answer);
    boolean isTaken = isTaken(answer);
    if (isTaken) {
      written.remove(blob);
      refused.add(blob);
    }
    return isTaken;
  }

  private boolean isTaken(Answer<DriveId> answer) throws InterruptedException {
    try {
      answer.await();
      return true;
    } catch (ShardException e) {
      assertEquals(ShardFault.OVERLOADED, e.fault(), e::toString);
      return false;
    }
  }

  private @Nullable ShardFault read(int blob) throws InterruptedException {
    Answer<ShardData> read = new Answer<>();
    drive().read(shard(blob), ShardView.ORIGINAL, 0, BYTES, read);
    try {
      assertArrayEquals(content(blob), AbstractShardStoreContract.bytesOf(read.await()));
      return null;
    } catch (ShardException e) {
      return e.fault();
    }
  }

  /** All that was acknowledged is there, and nothing else, in the same incarnation. */
  private void checkAll() throws InterruptedException {
    assertEquals(INCARNATION, drive().drive().incarnation());
    assertNull(drive().writeRefusal());
    for (int blob : written) {
      assertNull(read(blob), () -> "blob " + blob);
    }
    for (int blob : refused) {
      assertEquals(ShardFault.MISSING, read(blob), () -> "blob " + blob);
    }
  }

  private void fillSegments() throws InterruptedException {
    for (int blob = 1; blob <= 25; blob++) {
      assertTrue(put(blob));
    }
  }

  @Test
  void requestsMayBeRepeated() throws Exception {
    fillSegments();
    files().limit(0);
    int blob = 100;
    do {
      read(1); // one of two segments has to be opened, and so the other is closed
      read(25);
    } while (put(blob++));
    assertTrue(files().refusals() > 0);
    for (int i = 0; i < 3; i++) {
      assertTrue(!put(blob++) && !delete(1));
      assertEquals(ShardFault.OVERLOADED, read(1));
      assertEquals(ShardFault.OVERLOADED, read(25));
    }
    files().limit(Integer.MAX_VALUE);
    checkAll();
    assertTrue(put(50) && delete(2));
    checkAll();
    reopen();
    checkAll();
  }

  @Test
  void failedOpenLeavesTheDriveUnchanged() throws Exception {
    fillSegments();
    drive().close();
    assertThrows(IOException.class, () -> open(0));
    open();
    checkAll();
    assertTrue(put(50));
  }

  /** Also while the log goes on to other segments. */
  @Test
  void noAcknowledgedDataIsLostWhenFilesRunOut() throws Exception {
    long seed = Long.getLong("ashlar.seed", System.nanoTime());
    try {
      run(new Random(seed));
    } catch (Exception | AssertionError e) {
      throw new AssertionError("-Dashlar.seed=" + seed, e);
    }
  }

  private void run(Random random) throws Exception {
    int blob = 1;
    for (int round = 0; round < 60; round++) {
      files().limit(random.nextInt(3));
      for (int step = random.nextInt(4); step >= 0; step--) {
        put(blob++);
        read(1 + random.nextInt(blob));
        if (random.nextInt(4) == 0) {
          delete(1 + random.nextInt(blob));
        }
      }
      files().limit(Integer.MAX_VALUE);
      put(blob++);
      if (round % 20 == 19) {
        checkAll();
        reopen();
        checkAll();
      }
    }
    assertTrue(!written.isEmpty() && !refused.isEmpty());
  }
}
