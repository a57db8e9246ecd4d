package dev.ashlar.storage.drive;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.index.IndexException;
import dev.ashlar.storage.drive.log.CommitQueue;
import dev.ashlar.storage.drive.log.LogRequest;
import dev.ashlar.storage.drive.log.LogWriteException;
import dev.ashlar.storage.io.FaultyFiles;
import dev.ashlar.storage.io.FaultyFiles.Call;
import dev.ashlar.storage.io.IoMode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What may go wrong where a drive writes, and what of it ends the drive's incarnation. */
class WriterFailuresTest {
  private final SlabPool slabs = new SlabPool();
  private final DriveResources resources = TestDrives.resources(slabs, 1);
  private final AtomicLong skippedNanos = new AtomicLong();
  @TempDir Path folder = Path.of("set by JUnit");
  private @Nullable FaultyFiles files;
  private @Nullable DriveStore drive;

  @BeforeEach
  void open() throws Exception {
    drive =
        DriveStore.open(
            TestDrives.config(folder, IoMode.BUFFERED),
            resources,
            real -> {
              FaultyFiles made = new FaultyFiles(real);
              files = made;
              return made;
            },
            () -> System.nanoTime() + skippedNanos.get(),
            Duration.ofMinutes(1));
  }

  @AfterEach
  void close() throws Exception {
    drive().close();
    resources.close();
    assertEquals(0, slabs.lentBytes(), "a slab was not given back");
  }

  private DriveStore drive() {
    return Objects.requireNonNull(drive);
  }

  private FaultyFiles files() {
    return Objects.requireNonNull(files);
  }

  static Stream<Arguments> failures() {
    return Stream.of(
        Arguments.of(Call.WRITE, new IOException("planned"), true),
        Arguments.of(Call.SYNC, new IOException("planned"), true),
        Arguments.of(Call.WRITE, new OutOfMemoryError("planned"), false),
        Arguments.of(Call.SYNC, new OutOfMemoryError("planned"), false),
        Arguments.of(Call.WRITE, new IllegalStateException("planned"), false),
        Arguments.of(Call.SYNC, new StackOverflowError("planned"), false));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void onlyAFailedWriteOrSyncEndsTheIncarnation(Call call, Throwable failure, boolean ends)
      throws Exception {
    long before = drive().drive().incarnation();
    put(1).await();
    files().failOnce(call, failure);
    assertEquals(ShardFault.IO_ERROR, put(2).awaitFault());
    assertEquals(ShardFault.READ_ONLY, put(3).awaitFault());
    assertEquals(ShardFault.READ_ONLY, drive().writeRefusal());
    assertHas(1);
    reopen();
    assertEquals(before + (ends ? 1 : 0), drive().drive().incarnation());
    assertHas(1);
    put(4).await();
    assertHas(4);
  }

  /** A replay would take the batch of the failed sync from the page cache. */
  @Test
  void indexIsNotRecoveredAfterAFailedSync() throws Exception {
    put(1).await();
    files().failOnce(Call.SYNC, new IOException("planned"));
    assertEquals(ShardFault.IO_ERROR, put(2).awaitFault());
    DriveEngine engine = drive().engines().engine();
    drive().engines().fail(new IndexException(IndexException.Kind.DAMAGED, "planned", null));
    assertFalse(drive().engines().isRecovering());
    assertEquals(ShardFault.READ_ONLY, drive().writeRefusal());
    assertHas(1);
    assertSame(engine, drive().engines().engine());
    reopen();
    assertHas(1);
    put(3).await();
    assertHas(3);
  }

  /** The engine is about to be ended for a failed index while its last write fails. */
  @Test
  void indexIsNotRecoveredIfTheLastWriteFails() throws Exception {
    put(1).await();
    DriveEngine engine = drive().engines().engine();
    CountDownLatch isSyncing = new CountDownLatch(1);
    CountDownLatch mayFail = new CountDownLatch(1);
    files()
        .failOnce(
            Call.SYNC,
            () -> {
              isSyncing.countDown();
              mayFail.await();
              return new IOException("planned");
            });
    Answer<DriveId> late = put(2);
    isSyncing.await();
    drive().engines().fail(new IndexException(IndexException.Kind.DAMAGED, "planned", null));
    assertTrue(drive().engines().isRecovering());
    mayFail.countDown();
    assertEquals(ShardFault.IO_ERROR, late.awaitFault());
    await("it is left as it is", () -> !drive().engines().isRecovering());
    assertSame(engine, drive().engines().engine());
    assertHas(1);
  }

  /** While an index is opened again: who waits for it would wait for ever. */
  @Test
  void errorDuringRecoveryIsReported() throws Exception {
    put(1).await();
    files().failOnce(Call.LIST, new OutOfMemoryError("planned"));
    drive().engines().fail(new IndexException(IndexException.Kind.DAMAGED, "planned", null));
    await("it is given up", () -> !drive().engines().isRecovering());
    assertEquals(ShardFault.READ_ONLY, drive().writeRefusal());
    reopen(); // the index was closed, else it could not be opened
    assertHas(1);
    put(2).await();
  }

  private static void await(String what, BooleanSupplier isSo) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!isSo.getAsBoolean()) {
      assertTrue(System.nanoTime() < deadline, () -> "not in time: " + what);
      Thread.sleep(10);
    }
  }

  /** No byte of what was acknowledged is in such a file. */
  @Test
  void failedSegmentCreationDoesNotEndTheIncarnation() throws Exception {
    long before = drive().drive().incarnation();
    put(1).await();
    files().failOnce(Call.RENAME, new IOException("planned"));
    int blob = 2;
    while (isTaken(put(blob))) {
      blob++;
      assertTrue(blob < 1000, "segments are made now and then");
    }
    assertEquals(ShardFault.READ_ONLY, drive().writeRefusal());
    reopen();
    assertEquals(before, drive().drive().incarnation());
    for (int each = 1; each < blob; each++) {
      assertHas(each);
    }
  }

  /** Only one segment is open at a time, and nothing is written to one that is not. */
  @Test
  void unopenedSegmentDoesNotEndWrites() throws Exception {
    long before = drive().drive().incarnation();
    int written = fillSegment();
    files().failOpens(true);
    written = putUntilNotOpened(written);
    assertNull(drive().writeRefusal());
    assertEquals(ShardFault.UNAVAILABLE, put(2000).awaitFault());
    files().failOpens(false);
    put(1000).await();
    reopen();
    assertEquals(before, drive().drive().incarnation());
    assertHas(1000);
    for (int each = 1; each <= written; each++) {
      assertHas(each);
    }
  }

  @Test
  void segmentUnopenedForLongEndsOnlyWrites() throws Exception {
    long before = drive().drive().incarnation();
    int written = fillSegment();
    files().failOpens(true);
    written = putUntilNotOpened(written);
    skippedNanos.set(TestDrives.STALL.plusSeconds(1).toNanos());
    ShardFault fault = put(1000).awaitFault();
    while (fault == ShardFault.UNAVAILABLE) { // the first attempt after that time, too
      fault = put(1000).awaitFault();
    }
    assertEquals(ShardFault.READ_ONLY, fault);
    assertEquals(ShardFault.READ_ONLY, drive().writeRefusal());
    reopen();
    assertEquals(before, drive().drive().incarnation());
    for (int each = 1; each <= written; each++) {
      assertHas(each);
    }
  }

  /** And begins another; returns the last blob. */
  private int fillSegment() throws Exception {
    int last = TestDrives.LIMITS.segmentBytes() / content(1).length + 2;
    for (int blob = 1; blob <= last; blob++) {
      put(blob).await();
    }
    return last;
  }

  /** Reading from the other segment closes the one that is written to; returns the last blob. */
  private int putUntilNotOpened(int written) throws Exception {
    for (int blob = written + 1; ; blob++) {
      Answer<ShardData> read = new Answer<>();
      drive().read(new ShardId(new BlobId(1, 1), 0), ShardView.ORIGINAL, 0, 100_000, read);
      try {
        AbstractShardStoreContract.bytesOf(read.await());
      } catch (ShardException e) {
        assertEquals(ShardFault.IO_ERROR, e.fault());
      }
      Answer<DriveId> answer = put(blob);
      try {
        answer.await();
      } catch (ShardException e) {
        assertEquals(ShardFault.UNAVAILABLE, e.fault(), e::toString);
        return blob - 1;
      }
    }
  }

  /** Gathering a batch fails before anything of it is written. */
  @Test
  void failureBeforeTheWriteLeavesNoDataInDoubt() throws Exception {
    SimulatedCore core = new SimulatedCore(TestDrives.LIMITS);
    List<Throwable> planned =
        List.of(new OutOfMemoryError("planned"), new IllegalStateException("planned"));
    for (Throwable failure : planned) {
      List<Exception> failures = new ArrayList<>();
      CommitQueue queue = queue(core, failures);
      queue.start();
      Answer<DriveId> answer = new Answer<>();
      queue.add(new LogRequest.Delete(new FailingList(failure), answer));
      assertEquals(ShardFault.READ_ONLY, answer.awaitFault());
      queue.stop();
      assertEquals(1, failures.size());
      assertTrue(!(failures.getFirst() instanceof LogWriteException), failures.toString());
      core.reopen();
    }
  }

  private static CommitQueue queue(SimulatedCore core, List<Exception> failures) {
    return new CommitQueue(
        core.core().log(),
        TestDrives.LIMITS,
        core.core().drive(),
        "test",
        failures::add,
        System::nanoTime);
  }

  /** Else everybody who comes later would wait for ever. */
  @Test
  void failingCompletionDoesNotEndTheWriter() throws Exception {
    drive()
        .delete(
            List.of(new BlobId(1, 1)),
            new Completion<>() {
              @Override
              public void succeeded(DriveId by) {
                throw new OutOfMemoryError("planned");
              }

              @Override
              public void failed(ShardException failure) {
                throw new OutOfMemoryError("planned");
              }
            });
    put(1).await();
    assertHas(1);
  }

  private static final class FailingList extends AbstractList<BlobId> {
    private final Throwable failure;

    FailingList(Throwable failure) {
      this.failure = failure;
    }

    @Override
    public BlobId get(int index) {
      if (failure instanceof Error error) {
        throw error;
      }
      throw (RuntimeException) failure;
    }

    @Override
    public int size() {
      return 1;
    }
  }

  private void reopen() throws Exception {
    drive().close();
    open();
  }

  private static boolean isTaken(Answer<DriveId> answer) {
    try {
      answer.await();
      return true;
    } catch (ShardException e) {
      return false;
    }
  }

  private static byte[] content(int blob) {
    return SimulatedCore.noise(blob, 100_000);
  }

  private Answer<DriveId> put(int blob) {
    Answer<DriveId> answer = new Answer<>();
    ShardId shard = new ShardId(new BlobId(1, blob), 0);
    drive().write(AbstractShardStoreContract.shardWrite(shard, 0, content(blob)), answer);
    return answer;
  }

  private void assertHas(int blob) throws Exception {
    Answer<ShardData> read = new Answer<>();
    drive().read(new ShardId(new BlobId(1, blob), 0), ShardView.ORIGINAL, 0, 100_000, read);
    assertArrayEquals(content(blob), AbstractShardStoreContract.bytesOf(read.await()));
  }
}
