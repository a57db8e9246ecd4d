package dev.ashlar.storage.drive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.storage.drive.index.IndexException;
import dev.ashlar.storage.drive.index.IndexVerifier;
import dev.ashlar.storage.drive.scrub.ScrubConfig;
import dev.ashlar.storage.drive.scrub.Scrubber;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.io.HangingFiles;
import dev.ashlar.storage.io.IoMode;
import dev.ashlar.storage.io.RawFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;

/** What a drive does with failures of its index, whatever has caused them. */
@Tag("slow")
class IndexFailureTest {
  private final long seed = Long.getLong("seed", System.nanoTime());
  private final DriveContents contents = new DriveContents(1, new Random(seed));
  private final SlabPool slabs = new SlabPool();
  private final DriveResources resources = TestDrives.resources(slabs);
  private final AtomicReference<@Nullable HangingFiles> files = new AtomicReference<>();
  private final AtomicLong nanos = new AtomicLong();
  @TempDir Path folder = Path.of("set by JUnit");

  @AfterEach
  void closeResources() {
    resources.close();
    assertEquals(0, slabs.lentBytes(), "a slab was not given back");
  }

  private DriveStore open() throws IOException {
    return DriveStore.open(
        TestDrives.config(folder, IoMode.BUFFERED),
        resources,
        this::hanging,
        nanos::get,
        Duration.ZERO);
  }

  private RawFiles hanging(RawFiles real) {
    HangingFiles made = new HangingFiles(real);
    files.set(made);
    return made;
  }

  private HangingFiles files() {
    HangingFiles present = files.get();
    assertTrue(present != null);
    return Objects.requireNonNull(present);
  }

  private static IndexException of(Status.Code code, Status.SubCode subCode, String message) {
    return IndexException.of(new RocksDBException(message, new Status(code, subCode, message)));
  }

  private static RocksDBException exception(Status.Code code, String message) {
    return new RocksDBException(message, new Status(code, Status.SubCode.None, message));
  }

  private static IndexException damage() {
    return of(Status.Code.Corruption, Status.SubCode.None, "block checksum mismatch");
  }

  private static IndexException.Kind kind(String message) {
    return of(Status.Code.IOError, Status.SubCode.None, message).kind();
  }

  /** A list that is read beside the index names tables that a compaction has just deleted. */
  @Test
  void scrubFailuresAreClassified() {
    assertTrue(IndexVerifier.isOfList(exception(Status.Code.Corruption, "checksum mismatch")));
    assertTrue(
        IndexVerifier.isOfList(
            exception(
                Status.Code.IOError, "While opening: MANIFEST-000004: No such file or directory")));
    assertFalse(
        IndexVerifier.isOfList(
            exception(
                Status.Code.Corruption, "Can't access /000012.sst: No such file or directory")));
    assertFalse(
        IndexVerifier.isOfList(
            exception(Status.Code.IOError, "While open: MANIFEST-000004: Too many open files")));
  }

  private static void await(String what, BooleanSupplier isSo) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!isSo.getAsBoolean()) {
      assertTrue(System.nanoTime() < deadline, () -> "not in time: " + what);
      Thread.sleep(10);
    }
  }

  @Test
  void failuresAreClassified() {
    assertEquals(IndexException.Kind.DAMAGED, damage().kind());
    assertEquals(
        IndexException.Kind.NO_SPACE,
        of(Status.Code.IOError, Status.SubCode.NoSpace, "No space left on device").kind());
    assertEquals(
        IndexException.Kind.NO_SPACE, kind("While appending to file: 1.sst: No space left"));
    assertEquals(
        IndexException.Kind.NO_FILES,
        kind("While open a file for random read: 1.sst: Too many open files"));
    assertEquals(
        IndexException.Kind.UNREADABLE,
        kind("While pread offset 0 len 9: 1.sst: Input/output error"));
    assertEquals(
        IndexException.Kind.FAILED, kind("While fsync: MANIFEST-000004: Input/output error"));
  }

  @Test
  void failedIndexLookupIsUnavailableNotMissing() throws Exception {
    try (DriveStore store = open()) {
      DriveId life = store.drive();
      contents.add(store, 50);
      files().hangReads();
      store.engines().fail(damage());
      assertEquals(ShardFault.UNAVAILABLE, store.writeRefusal());
      ShardException refused =
          assertThrows(ShardException.class, () -> contents.add(store, 1), "not acknowledged");
      assertEquals(ShardFault.UNAVAILABLE, refused.fault());
      await("the threads have ended", () -> isUnavailable(store));
      files().release();
      contents.check(store, "seed " + seed);
      assertEquals(life, store.drive());
      await("it takes writes", store::isWritable);
      contents.add(store, 20);
      contents.check(store, "seed " + seed);
    }
  }

  /** It would read an index that is closed under it. */
  @Test
  void engineStartsOneScrubberAndNoneAfterItsEnd() throws Exception {
    ScrubConfig config = new ScrubConfig(ScrubConfig.WHEN_ASKED, 0);
    try (DriveStore store = open()) {
      store.startScrub(config, (shard, range, fault) -> {});
      DriveEngine first = Objects.requireNonNull(store.engines().engine());
      Scrubber scrubber = first.scrubber();
      first.startScrub(new Scrubber.Task(config, (shard, range, fault) -> {}));
      assertSame(scrubber, first.scrubber());
      store.engines().fail(damage());
      await("it is mended", store::isWritable);
      DriveEngine second = Objects.requireNonNull(store.engines().engine());
      await("it is scrubbed", () -> second.scrubber() != null);
      assertNotSame(scrubber, second.scrubber());
    }
    try (DriveStore store = open()) {
      DriveEngine ended = Objects.requireNonNull(store.engines().engine());
      assertTrue(ended.stop());
      store.startScrub(config, (shard, range, fault) -> {});
      assertNull(ended.scrubber());
    }
  }

  private static boolean isUnavailable(DriveStore store) {
    try {
      store.blobsBelow(Long.MAX_VALUE, null, 1);
      return false;
    } catch (ShardException e) {
      return e.fault() == ShardFault.UNAVAILABLE;
    }
  }

  @Test
  void driveCanBeClosedDuringAnIndexRebuild() throws Exception {
    DriveId life;
    try (DriveStore store = open()) {
      life = store.drive();
      contents.add(store, 200);
      store.engines().fail(damage());
    }
    try (DriveStore store = open()) {
      contents.check(store, "seed " + seed);
      assertEquals(life, store.drive());
    }
  }

  @Test
  void repeatedFailuresEndRecovery() throws Exception {
    try (DriveStore store = open()) {
      DriveId life = store.drive();
      contents.add(store, 50);
      for (int i = 0; i < IndexRecoveryLimit.MAX; i++) {
        store.engines().fail(damage());
        await("it is mended", store::isWritable);
      }
      store.engines().fail(damage());
      await("it is given up", () -> store.writeRefusal() == ShardFault.READ_ONLY);
      contents.check(store, "what can be read is read, seed " + seed);
      assertEquals(life, store.drive());
    }
    try (DriveStore store = open()) {
      contents.check(store, "nothing was in doubt, seed " + seed);
      contents.add(store, 10);
    }
  }

  @Test
  void rareFailuresAreAlwaysRecovered() throws Exception {
    try (DriveStore store = open()) {
      contents.add(store, 20);
      for (int i = 0; i < 2 * IndexRecoveryLimit.MAX; i++) {
        nanos.addAndGet(IndexRecoveryLimit.PERIOD.toNanos());
        store.engines().fail(damage());
        await("it is mended", store::isWritable);
        contents.check(store, "seed " + seed);
      }
    }
  }

  /** Then the rules for damage of the log apply: what was acknowledged is in doubt. */
  @Test
  void logDamageFoundByARebuildBeginsANewIncarnation() throws Exception {
    DriveId life;
    try (DriveStore store = open()) {
      life = store.drive();
      contents.add(store, 200);
      flipMagic(folder.resolve(Segment.fileName(1)));
      store.engines().fail(damage());
      await("it can tell", () -> store.writeRefusal() == ShardFault.READ_ONLY);
      assertEquals(life, store.drive(), "others were told so");
      assertFalse(isUnavailable(store));
    }
    try (DriveStore store = open()) {
      assertNotEquals(life, store.drive());
      await("it takes writes", store::isWritable);
    }
  }

  private static void flipMagic(Path segment) throws IOException {
    try (FileChannel file = FileChannel.open(segment, StandardOpenOption.WRITE)) {
      file.write(ByteBuffer.wrap(new byte[] {1}), 0);
    }
  }

  /** What else was mounted there is not to be formatted or emptied. */
  @Test
  void missingDirectoryIsLeftAlone() throws Exception {
    try (DriveStore store = open()) {
      contents.add(store, 20);
      Files.delete(folder.resolve(DriveIdentity.FILE));
      store.engines().fail(damage());
      await("it is given up", () -> store.writeRefusal() == ShardFault.READ_ONLY);
      assertTrue(Files.exists(folder.resolve("index/CURRENT")));
      assertFalse(Files.exists(folder.resolve(DriveIdentity.FILE)));
      assertTrue(isUnavailable(store));
    }
  }

  /** A flush for which there is no room: full is not damaged, and passes. Needs root. */
  @Test
  void indexWithoutSpaceRecoversWhenSpaceIsFreed() throws Exception {
    Path index = Files.createDirectory(folder.resolve("index"));
    assumeTrue(
        run("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", index.toString()) == 0,
        "cannot mount a file system: needs root");
    try (DriveStore store = open()) {
      DriveId life = store.drive();
      contents.add(store, 300);
      try (FileChannel full =
          FileChannel.open(
              index.resolve("of-others"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
        fill(full);
      }
      assertThrows(
          IOException.class, () -> Objects.requireNonNull(store.engines().engine()).checkpoint());
      await("it is full", () -> store.writeRefusal() == ShardFault.FULL);
      contents.check(store, "it is read, seed " + seed);
      assertEquals(
          ShardFault.FULL,
          assertThrows(ShardException.class, () -> contents.add(store, 1)).fault());
      Files.delete(index.resolve("of-others"));
      await("it takes writes", store::isWritable);
      assertEquals(life, store.drive());
      contents.add(store, 10);
      contents.check(store, "seed " + seed);
    } finally {
      assertEquals(0, run("umount", index.toString()));
    }
  }

  /** Remounted read-only after an error: what is readable stays so. Needs root. */
  @Test
  void unwritableIndexStaysReadable() throws Exception {
    Path index = Files.createDirectory(folder.resolve("index"));
    try (DriveStore store = open()) {
      contents.add(store, 50);
      assumeTrue(
          run("mount", "--bind", index.toString(), index.toString()) == 0,
          "cannot mount a file system: needs root");
      try {
        assertEquals(0, run("mount", "-o", "remount,bind,ro", index.toString()));
        DriveEngine engine = store.engines().engine();
        store.engines().fail(of(Status.Code.IOError, Status.SubCode.None, "While fsync: planned"));
        // longer than it takes to end the engine
        for (int i = 0; i < 20; i++) {
          Thread.sleep(50);
          assertSame(engine, store.engines().engine());
          contents.check(store, "it is read, seed " + seed);
        }
        assertEquals(ShardFault.UNAVAILABLE, store.writeRefusal());
        assertTrue(store.engines().isRecovering());
      } finally {
        assertEquals(0, run("umount", index.toString()));
      }
      await("it takes writes", store::isWritable);
      contents.check(store, "seed " + seed);
      contents.add(store, 10);
    }
  }

  private static IndexException readError() {
    return of(Status.Code.IOError, Status.SubCode.None, "While pread 1.sst: Input/output error");
  }

  private double rebuilds(DriveStore store) {
    return resources
        .meters()
        .get("ashlar.drive.index.rebuilds")
        .tag("drive", store.drive().id().toString())
        .functionCounter()
        .count();
  }

  /** All drives behind a controller may fail to read at once: none gives up its index for that. */
  @Test
  void unreadableIndexIsDiscardedOnlyIfReopeningFails() throws Exception {
    try (DriveStore store = open()) {
      contents.add(store, 50);
      store.engines().fail(readError());
      await("it is opened again", store::isWritable);
      assertEquals(0, rebuilds(store), "nothing was discarded");
      contents.check(store, "seed " + seed);
      store.engines().fail(readError());
      await("it is made anew", store::isWritable);
      assertEquals(1, rebuilds(store));
      contents.check(store, "seed " + seed);
    }
  }

  /** As after a remount for an input/output error: nothing could be made anew. */
  @Test
  void damagedIndexStaysReadableWhileNoOtherCanBeWritten() throws Exception {
    try (DriveStore store = open()) {
      contents.add(store, 50);
      Path inTheWay = Files.createDirectory(folder.resolve("index/probe"));
      DriveEngine engine = store.engines().engine();
      store.engines().fail(damage());
      for (int i = 0; i < 20; i++) {
        Thread.sleep(50);
        assertSame(engine, store.engines().engine());
        contents.check(store, "it is read, seed " + seed);
      }
      Files.delete(inTheWay);
      await("it takes writes", store::isWritable);
      contents.check(store, "seed " + seed);
    }
  }

  private static void fill(FileChannel file) {
    try {
      while (true) {
        file.write(ByteBuffer.allocate(4096));
      }
    } catch (IOException e) {
      assertTrue(String.valueOf(e.getMessage()).contains("No space"), e.toString());
    }
  }

  private static int run(String... command) throws IOException, InterruptedException {
    return new ProcessBuilder(command).inheritIO().start().waitFor();
  }
}
