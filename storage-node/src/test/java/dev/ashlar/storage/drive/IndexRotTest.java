package dev.ashlar.storage.drive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.index.RocksIndexCrashes;
import dev.ashlar.storage.drive.scrub.ScrubConfig;
import dev.ashlar.storage.drive.scrub.ScrubProgress;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.io.IoMode;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whatever becomes of the index, and whoever meets it first: the drive makes it anew from its log,
 * says until then that it cannot tell, and goes on in the same incarnation.
 */
@Tag("slow")
class IndexRotTest {
  private static final int SHARDS = 500;
  private static final int PAGE = 100;
  private static final int LOAD_SHARDS_MAX = 20_000;

  private final long seed = Long.getLong("seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final DriveContents contents = new DriveContents(1, random);
  private final SlabPool slabs = new SlabPool();
  private final DriveResources resources = TestDrives.resources(slabs);
  @TempDir Path folder = Path.of("set by JUnit");

  @AfterEach
  void closeResources() {
    resources.close();
    assertEquals(0, slabs.lentBytes(), "a slab was not given back");
  }

  private DriveStore open(Path where) throws IOException {
    return DriveStore.open(config(where), resources);
  }

  /** Of which the index is written to tables all the time. */
  private static DriveConfig config(Path where) {
    DriveConfig.Limits usual = TestDrives.LIMITS;
    DriveConfig.Limits limits =
        new DriveConfig.Limits(
            usual.segmentBytes(),
            usual.capacityBytesMax(),
            usual.reserveBytes(),
            usual.queuedWritesMax(),
            usual.queuedBytesMax(),
            usual.queuedReadsMax(),
            usual.batchBytesMax(),
            256 << 10,
            usual.compactionBytesPerSecond(),
            usual.stallTimeout(),
            usual.hangTimeout());
    return new DriveConfig(where, TestDrives.CLUSTER, null, 0, IoMode.AUTO, limits);
  }

  private Path drive() {
    return folder.resolve("drive");
  }

  /** Fills a drive and closes it. */
  private DriveId filled() throws Exception {
    try (DriveStore store = open(drive())) {
      contents.add(store, SHARDS);
      return store.drive();
    }
  }

  private static List<Path> files(Path drive, String kind) throws IOException {
    try (Stream<Path> files = Files.list(drive.resolve("index"))) {
      return files.filter(file -> file.toString().contains(kind)).sorted().toList();
    }
  }

  private static void flip(Path file, long at, int bit) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer one = ByteBuffer.allocate(1);
      channel.read(one, at);
      one.put(0, (byte) (one.get(0) ^ 1 << bit)).flip();
      channel.write(one, at);
    }
  }

  /** Bits of the rows that are read, in every block of every table. */
  private void flipTables(Path drive) throws IOException {
    List<Path> tables = files(drive, ".sst");
    assertFalse(tables.isEmpty());
    for (Path table : tables) {
      try {
        flipTable(table);
      } catch (NoSuchFileException e) {
        // Under load, tables are merged, and the first damage may have been found already.
      }
    }
  }

  private void flipTable(Path table) throws IOException {
    long size = Files.size(table);
    if (size < 8) {
      return; // under load, one that is being written
    }
    int spread = Math.toIntExact(Math.min(1000, size / 8)); // a table may have only a few rows
    long first = Math.min(100, size - spread);
    flip(table, first + random.nextInt(spread), random.nextInt(8));
    for (long at = 2100; at < size - 2000; at += 2000) {
      flip(table, at + random.nextInt(spread), random.nextInt(8));
    }
  }

  private double rebuilds(DriveId drive) {
    MeterRegistry meters = resources.meters();
    return meters
        .get("ashlar.drive.index.rebuilds")
        .tag("drive", drive.id().toString())
        .functionCounter()
        .count();
  }

  private static void await(String what, BooleanSupplier isSo) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!isSo.getAsBoolean()) {
      assertTrue(System.nanoTime() < deadline, () -> "not in time: " + what);
      Thread.sleep(10);
    }
  }

  /** It serves, in the same life, all that was acknowledged, and takes more. */
  private void assertWell(DriveStore store, DriveId life, String what) throws Exception {
    contents.check(store, what);
    assertEquals(life, store.drive(), what);
    await("it takes writes: " + what, () -> store.writeRefusal() == null);
    contents.add(store, 5);
    contents.check(store, what);
  }

  @Test
  void readFindsDamage() throws Exception {
    DriveId life = filled();
    flipTables(drive());
    try (DriveStore store = open(drive())) {
      contents.check(store, "seed " + seed);
      assertEquals(1, rebuilds(life));
      assertWell(store, life, "seed " + seed);
    }
    try (DriveStore store = open(drive())) {
      assertWell(store, life, "after a restart, seed " + seed);
      assertEquals(0, rebuilds(life));
    }
  }

  @Test
  void listFindsDamage() throws Exception {
    DriveId life = filled();
    flipTables(drive());
    try (DriveStore store = open(drive())) {
      List<BlobId> found = null;
      while (found == null) {
        found = listed(store);
      }
      assertEquals(contents.size(), found.size(), "a list must not end where it cannot be read");
      assertEquals(1, rebuilds(life));
      assertWell(store, life, "seed " + seed);
    }
  }

  /** Null if it cannot be told now. */
  private static @Nullable List<BlobId> listed(DriveStore store) throws InterruptedException {
    List<BlobId> all = new ArrayList<>();
    List<BlobId> page;
    try {
      do {
        page = store.blobsBelow(Long.MAX_VALUE, all.isEmpty() ? null : all.getLast(), PAGE);
        all.addAll(page);
      } while (page.size() == PAGE);
      return all;
    } catch (ShardException e) {
      assertEquals(ShardFault.UNAVAILABLE, e.fault());
      Thread.sleep(5);
      return null;
    }
  }

  @Test
  void scrubFindsDamage() throws Exception {
    DriveId life = filled();
    flipTables(drive());
    try (DriveStore store = open(drive())) {
      AtomicReference<@Nullable String> damaged = new AtomicReference<>();
      store.startScrub(
          new ScrubConfig(ScrubConfig.WHEN_ASKED, 0),
          (shard, range, fault) -> damaged.set(shard + " " + fault));
      store.scrubNow();
      await("it was found", () -> rebuilds(life) == 1);
      store.scrubNow(); // it begins once the index is rebuilt
      await("all is read", () -> isScrubbed(store));
      assertNull(damaged.get());
      assertEquals(1, rebuilds(life));
      assertWell(store, life, "seed " + seed);
    }
  }

  /** What only the next start would read is read by the scrub, too. */
  @Test
  void scrubReadsTheManifest() throws Exception {
    DriveId life = filled();
    try (DriveStore store = open(drive())) {
      Path list = files(drive(), "MANIFEST").getFirst();
      flip(list, 20 + random.nextInt(20), random.nextInt(8)); // of the first entry
      contents.check(store, "it is not read, seed " + seed);
      assertEquals(0, rebuilds(life));
      store.startScrub(new ScrubConfig(ScrubConfig.WHEN_ASKED, 0), (shard, range, fault) -> {});
      store.scrubNow();
      await("it was found", () -> rebuilds(life) == 1);
      assertWell(store, life, "seed " + seed);
    }
  }

  @Test
  void theScrubOfAWholeIndexFindsNothing() throws Exception {
    DriveId life = filled();
    try (DriveStore store = open(drive())) {
      store.startScrub(new ScrubConfig(ScrubConfig.WHEN_ASKED, 0), (shard, range, fault) -> {});
      store.scrubNow();
      await("all is read", () -> isScrubbed(store));
      assertEquals(0, rebuilds(life));
      assertWell(store, life, "seed " + seed);
    }
  }

  private static boolean isScrubbed(DriveStore store) {
    ScrubProgress progress = store.scrubProgress();
    return progress != null && progress.finishedMs() > 0 && !progress.running();
  }

  /** Of RocksDB, in the background; the drive is not read. */
  @Test
  void indexCompactionFindsDamage() throws Exception {
    DriveId life = filled();
    flipTables(drive());
    for (int i = 0; i < 6; i++) { // the fourth table or so is merged with the first
      try (DriveStore store = open(drive())) {
        contents.add(store, 20);
        await("it takes writes", () -> store.writeRefusal() == null);
      } catch (ShardException e) {
        assertEquals(ShardFault.UNAVAILABLE, e.fault());
      }
    }
    try (DriveStore store = open(drive())) {
      assertWell(store, life, "seed " + seed);
    }
  }

  /** In any place of any of its files. */
  @Test
  void flippedBitInAnyFile() throws Exception {
    DriveId life = filled();
    List<String> names = new ArrayList<>();
    for (Path file : files(drive(), "")) {
      if (Files.size(file) > 0 && !file.endsWith("LOG")) {
        names.add(file.getFileName().toString());
      }
    }
    assertTrue(names.size() >= 4, names.toString());
    for (String name : names) {
      for (int i = 0; i < 5; i++) {
        Path copy = folder.resolve("copy-" + name + "-" + i);
        copy(copy);
        Path file = copy.resolve("index").resolve(name);
        long at = random.nextLong(Files.size(file));
        flip(file, at, random.nextInt(8));
        assertMends(copy, life, name + " at " + at + ", seed " + seed);
      }
    }
  }

  @Test
  void missingFile() throws Exception {
    DriveId life = filled();
    for (Path file : files(drive(), "")) {
      String name = file.getFileName().toString();
      Path copy = folder.resolve("copy-" + name);
      copy(copy);
      Files.delete(copy.resolve("index").resolve(name));
      assertMends(copy, life, "without " + name + ", seed " + seed);
    }
  }

  @Test
  void truncatedFile() throws Exception {
    DriveId life = filled();
    for (Path file : files(drive(), "")) {
      String name = file.getFileName().toString();
      Path copy = folder.resolve("copy-" + name);
      copy(copy);
      try (FileChannel cut =
          FileChannel.open(copy.resolve("index").resolve(name), StandardOpenOption.WRITE)) {
        cut.truncate(Files.size(file) / 2);
      }
      assertMends(copy, life, name + " cut off, seed " + seed);
    }
  }

  /** As if the writes of its manifest were lost: it opens, but needs segments that were freed. */
  @Test
  void anIndexFromBeforeSegmentsWereFreedIsRebuilt() throws Exception {
    DriveId life = filled();
    Path old = folder.resolve("old");
    copy(old);
    try (DriveStore store = open(drive())) {
      for (int round = 0; !isAnySegmentFreed(); round++) {
        assertTrue(round < 500, "no segment is freed, seed " + seed);
        writeAndDelete(store, new BlobId(9, round));
      }
      contents.add(store, 20);
    }
    for (Path file : files(drive(), "")) {
      Files.delete(file);
    }
    RocksIndexCrashes.copy(old.resolve("index"), drive().resolve("index"));
    assertMends(drive(), life, "seed " + seed);
  }

  /** Whether segments begun before others are gone. */
  private boolean isAnySegmentFreed() throws IOException {
    try (Stream<Path> files = Files.list(drive())) {
      List<Long> ids =
          files
              .map(file -> file.getFileName().toString())
              .filter(Segment::isSegment)
              .map(name -> Long.parseLong(name.substring("segment-".length()), 16))
              .toList();
      return ids.size() < ids.stream().mapToLong(id -> id).max().orElse(0);
    }
  }

  private static void writeAndDelete(DriveStore store, BlobId blob) throws ShardException {
    Answer<DriveId> written = new Answer<>();
    byte[] bytes = new byte[200_000];
    store.write(AbstractShardStoreContract.shardWrite(new ShardId(blob, 0), 0, bytes), written);
    written.await();
    Answer<DriveId> deleted = new Answer<>();
    store.delete(List.of(blob), deleted);
    deleted.await();
  }

  private void copy(Path copy) throws IOException {
    Files.createDirectories(copy.resolve("index"));
    RocksIndexCrashes.copy(drive(), copy);
    RocksIndexCrashes.copy(drive().resolve("index"), copy.resolve("index"));
  }

  /** Twice: what was mended must last. */
  private void assertMends(Path copy, DriveId life, String what) throws Exception {
    for (int start = 1; start <= 2; start++) {
      try (DriveStore store = open(copy)) {
        contents.check(store, what + ", start " + start);
        assertEquals(life, store.drive(), what);
        await("it takes writes: " + what, () -> store.writeRefusal() == null);
      }
    }
  }

  /** Until it is over, and no more than fits in memory. */
  private static void write(DriveContents other, DriveStore store, AtomicBoolean isOver) {
    while (!isOver.get()) {
      try {
        if (other.size() < LOAD_SHARDS_MAX) {
          other.addOne(store);
        } else {
          Thread.sleep(10);
        }
      } catch (ShardException e) {
        assertEquals(ShardFault.UNAVAILABLE, e.fault());
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  @Test
  void bitsThatFlipUnderLoad() throws Exception {
    DriveId life = filled();
    DriveContents other = new DriveContents(2, new Random(seed + 1));
    try (DriveStore store = open(drive())) {
      AtomicBoolean isOver = new AtomicBoolean();
      FutureTask<@Nullable Void> writer = new FutureTask<>(() -> write(other, store, isOver), null);
      Thread.ofPlatform().start(writer);
      try {
        for (int i = 1; i <= 2; i++) {
          await("it takes writes", () -> store.writeRefusal() == null);
          double before = rebuilds(life);
          flipTables(drive());
          contents.check(store, "seed " + seed);
          await("it was found", () -> rebuilds(life) > before);
        }
      } finally {
        isOver.set(true);
        writer.get();
      }
      other.check(store, "seed " + seed);
      assertWell(store, life, "seed " + seed);
    }
    try (DriveStore store = open(drive())) {
      other.check(store, "after a restart, seed " + seed);
      assertWell(store, life, "after a restart, seed " + seed);
    }
  }
}
