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
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.index.RocksIndexCrashes;
import dev.ashlar.storage.drive.scrub.ScrubConfig;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.io.IoMode;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The whole store, with its threads, on a real folder. */
class DriveStoreTest {
  private final SlabPool slabs = new SlabPool();
  private final DriveResources resources = TestDrives.resources(slabs);
  @TempDir Path folder = Path.of("set by JUnit");

  @AfterEach
  void closeResources() {
    resources.close();
    assertEquals(0, slabs.lentBytes(), "a slab was not given back");
  }

  private DriveStore open(Path where) throws IOException {
    return DriveStore.open(TestDrives.config(where, IoMode.AUTO), resources);
  }

  @Test
  void acknowledgedDataSurvivesARestart() throws Exception {
    DriveId id;
    try (DriveStore store = open(folder)) {
      id = store.drive();
      for (int i = 1; i <= 200; i++) {
        put(store, i, noise(i, i * 331));
      }
      delete(store, 7);
    }
    try (DriveStore store = open(folder)) {
      assertEquals(id, store.drive());
      for (int i = 1; i <= 200; i++) {
        if (i != 7) {
          assertArrayEquals(noise(i, i * 331), get(store, i, i * 331));
        }
      }
      assertEquals(ShardFault.MISSING, fault(store, 7));
    }
  }

  @Test
  void acknowledgedDataSurvivesAKill() throws Exception {
    Path copy = folder.resolve("copy");
    try (DriveStore store = open(folder.resolve("drive"))) {
      for (int i = 1; i <= 100; i++) {
        put(store, i, noise(i, i * 3310));
      }
      delete(store, 9);
      copyDrive(folder.resolve("drive"), copy);
    }
    try (DriveStore store = open(copy)) {
      for (int i = 1; i <= 100; i++) {
        if (i != 9) {
          assertArrayEquals(noise(i, i * 3310), get(store, i, i * 3310));
        }
      }
      assertEquals(ShardFault.MISSING, fault(store, 9));
    }
  }

  @Test
  void aLostIndexIsRebuiltFromTheSegments() throws Exception {
    DriveId id;
    try (DriveStore store = open(folder)) {
      id = store.drive();
      for (int i = 1; i <= 100; i++) {
        put(store, i, noise(i, i * 1000));
      }
      delete(store, 50);
    }
    loseIndex();
    try (DriveStore store = open(folder)) {
      assertEquals(id, store.drive());
      assertArrayEquals(noise(100, 100_000), get(store, 100, 100_000));
      assertEquals(ShardFault.MISSING, fault(store, 50));
    }
  }

  private void loseIndex() throws IOException {
    try (Stream<Path> files = Files.list(folder.resolve("index"))) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
  }

  /** Scrub and compaction do it together, each on its thread. */
  @Test
  void aDamagedDirectoryIsMendedWhileTheDriveIsUsed() throws Exception {
    Path damaged = folder.resolve(Segment.fileName(1));
    DriveId id;
    try (DriveStore store = open(folder)) {
      id = store.drive();
      for (int i = 1; i <= 100; i++) {
        put(store, i, noise(i, i * 1000)); // more than a segment
      }
      flipBit(damaged, 41);
      store.startScrub(
          new ScrubConfig(ScrubConfig.WHEN_ASKED, 0),
          (shard, range, fault) -> {
            throw new AssertionError(shard + " is damaged: " + fault);
          });
      store.scrubNow();
      while (Files.exists(damaged)) {
        Thread.sleep(20);
      }
      assertArrayEquals(noise(1, 1000), get(store, 1, 1000));
    }
    loseIndex();
    try (DriveStore store = open(folder)) {
      assertEquals(id, store.drive(), "no damage is left");
      for (int i = 1; i <= 100; i++) {
        assertArrayEquals(noise(i, i * 1000), get(store, i, i * 1000));
      }
    }
  }

  private static void flipBit(Path file, long at) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer one = ByteBuffer.allocate(1);
      channel.read(one, at);
      one.put(0, (byte) (one.get(0) ^ 1)).flip();
      channel.write(one, at);
      channel.force(true);
    }
  }

  @Test
  void aDriveInTheWrongPlaceIsRefused() throws Exception {
    DriveId id;
    try (DriveStore store = open(folder)) {
      id = store.drive();
      IOException inUse = assertThrows(IOException.class, () -> open(folder));
      assertTrue(inUse.toString().contains("in use"), inUse.toString());
    }
    DriveConfig right = TestDrives.config(folder, IoMode.AUTO);
    DriveConfig otherCluster =
        new DriveConfig(folder, new UUID(9, 9), null, 0, right.ioMode(), right.limits());
    assertTrue(refusal(otherCluster).contains("cluster " + TestDrives.CLUSTER));
    DriveConfig otherDrive =
        new DriveConfig(folder, right.cluster(), new UUID(9, 9), 0, right.ioMode(), right.limits());
    assertTrue(refusal(otherDrive).contains("this is drive " + id.id()));
    Files.delete(folder.resolve(DriveIdentity.FILE));
    put(folder.resolve("segment-0000000000000001"));
    assertTrue(refusal(right).contains("lost its identity"));
  }

  private static void put(Path segment) throws IOException {
    if (!Files.exists(segment)) {
      Files.createFile(segment);
    }
  }

  @Test
  void wipedDriveGetsALaterIncarnationDespiteASlowClock() throws Exception {
    UUID id = new UUID(3, 4);
    long last = TestDrives.CLOCK.instant().getEpochSecond() + 10_000;
    for (long known : new long[] {0, 1, last}) {
      DriveConfig config =
          new DriveConfig(
              folder.resolve("life-" + known),
              TestDrives.CLUSTER,
              id,
              known,
              IoMode.AUTO,
              TestDrives.LIMITS);
      try (DriveStore store = DriveStore.open(config, resources)) {
        long expected = Math.max(TestDrives.CLOCK.instant().getEpochSecond(), known + 1);
        assertEquals(expected, store.drive().incarnation());
      }
    }
  }

  @Test
  void wipedDriveGetsANewIncarnation() throws Exception {
    UUID id = new UUID(3, 4);
    DriveConfig config =
        new DriveConfig(folder, TestDrives.CLUSTER, id, 0, IoMode.AUTO, TestDrives.LIMITS);
    DriveId first;
    try (DriveStore store = DriveStore.open(config, resources)) {
      first = store.drive();
      put(store, 1, noise(1, 10));
    }
    wipe(folder);
    Clock later = Clock.offset(TestDrives.CLOCK, Duration.ofSeconds(1));
    try (DriveResources then =
            new DriveResources(
                slabs,
                new SimpleMeterRegistry(),
                later,
                TestDrives::code,
                DriveResources.Budget.DEFAULT);
        DriveStore store = DriveStore.open(config, then)) {
      assertEquals(id, store.drive().id());
      assertTrue(store.drive().incarnation() > first.incarnation());
      assertEquals(ShardFault.MISSING, fault(store, 1));
    }
  }

  private static void wipe(Path drive) throws IOException {
    List<Path> all;
    try (Stream<Path> tree = Files.walk(drive)) {
      all = tree.filter(Files::isRegularFile).toList();
    }
    for (Path file : all) {
      Files.delete(file);
    }
  }

  @Test
  void payloadsInAlignedSlabsAreWrittenFromWhereTheyAre() throws Exception {
    try (DriveStore store = open(folder)) {
      for (int length : new int[] {65_536, 262_144, 262_144 + 77, 1 << 20}) {
        byte[] bytes = noise(length, length);
        Slab slab = slabs.acquire(length);
        Answer<DriveId> answer = new Answer<>();
        store.write(
            new ShardWrite(
                shard(length),
                0,
                slab.slice(0, length).put(bytes).flip(),
                AbstractShardStoreContract.crcs(bytes)),
            answer);
        answer.await();
        slab.release();
        assertArrayEquals(bytes, get(store, length, length));
        Answer<ShardData> tail = new Answer<>();
        store.read(shard(length), ShardView.ORIGINAL, length - 100, 100, tail);
        assertArrayEquals(
            Arrays.copyOfRange(bytes, length - 100, length),
            AbstractShardStoreContract.bytesOf(tail.await()));
      }
    }
  }

  @Test
  void compactionUnderReadsNeverShowsAWrongByte() throws Exception {
    try (DriveStore store = open(folder)) {
      AtomicBoolean isOver = new AtomicBoolean();
      List<Throwable> wrong = new ArrayList<>();
      int kept = 40;
      for (int i = 1; i <= kept; i++) {
        put(store, i, noise(i, 20_000));
        put(store, 10_000 + i, noise(i, 200_000));
      }
      Thread reader = Thread.ofPlatform().start(() -> readAll(store, kept, isOver, wrong));
      long before = firstSegments(folder);
      for (int round = 0; round < 4; round++) {
        for (int i = 1; i <= kept; i++) {
          put(store, 1000 * (round + 20) + i, noise(i, 200_000));
        }
        for (int i = 1; i <= kept; i++) {
          delete(store, round == 0 ? 10_000 + i : 1000 * (round + 19) + i);
        }
      }
      for (int i = 1; i <= kept; i++) {
        delete(store, 23_000 + i); // with as much alive, what is dead could wait
      }
      while (firstSegments(folder) == before) {
        Thread.sleep(20);
      }
      isOver.set(true);
      reader.join();
      assertEquals(List.of(), wrong);
      for (int i = 1; i <= kept; i++) {
        assertArrayEquals(noise(i, 20_000), get(store, i, 20_000));
      }
    }
  }

  private static void readAll(
      DriveStore store, int kept, AtomicBoolean isOver, List<Throwable> wrong) {
    try {
      for (int i = 0; !isOver.get(); i = (i + 1) % kept) {
        assertArrayEquals(noise(i + 1, 20_000), get(store, i + 1, 20_000));
      }
    } catch (ShardException | AssertionError e) {
      wrong.add(e);
    }
  }

  /** The lowest number of a segment file. */
  private static long firstSegments(Path drive) throws IOException {
    try (Stream<Path> files = Files.list(drive)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(Segment::isSegment)
          .mapToLong(name -> Long.parseLong(name.substring("segment-".length()), 16))
          .min()
          .orElse(0);
    }
  }

  @Test
  void filesOfADriveArePrivate() throws Exception {
    Path drive = folder.resolve("private");
    try (DriveStore store = open(drive)) {
      put(store, 1, noise(1, 10));
      assertEquals("rwx------", mode(drive));
      assertEquals("rwx------", mode(drive.resolve("index")));
      try (Stream<Path> files = Files.list(drive)) {
        for (Path file : files.filter(Files::isRegularFile).toList()) {
          assertEquals("rw-------", mode(file), file.toString());
        }
      }
    }
  }

  private static String mode(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  @Test
  void theSmallestDriveTakesDataAndASmallerOneNone() throws Exception {
    for (int missing = 0; missing <= 1; missing++) {
      long capacity = TestDrives.LIMITS.capacityBytesMin() - missing;
      DriveConfig whole = TestDrives.config(folder.resolve("drive-" + missing), IoMode.AUTO);
      DriveConfig small =
          new DriveConfig(
              whole.folder(),
              whole.cluster(),
              null,
              0,
              whole.ioMode(),
              whole.limits().withCapacity(capacity));
      try (DriveStore store = DriveStore.open(small, resources)) {
        Answer<DriveId> answer = new Answer<>();
        store.write(AbstractShardStoreContract.shardWrite(shard(1), 0, noise(1, 100)), answer);
        if (missing == 0) {
          answer.await();
        } else {
          assertEquals(ShardFault.FULL, answer.awaitFault());
        }
      }
    }
  }

  @Test
  void aClosedDriveIsUnavailable() throws Exception {
    DriveStore store = open(folder);
    store.close();
    assertFalse(store.isWritable());
    assertEquals(ShardFault.UNAVAILABLE, fault(store, 1));
    Answer<DriveId> answer = new Answer<>();
    store.delete(List.of(new BlobId(1, 1)), answer);
    assertEquals(ShardFault.UNAVAILABLE, answer.awaitFault());
    store.close();
  }

  @Test
  void manyBlobsAreDeletedInOneCall() throws Exception {
    try (DriveStore store = open(folder)) {
      List<BlobId> blobs = new ArrayList<>();
      for (int i = 1; i <= 1500; i++) {
        blobs.add(new BlobId(1, i));
      }
      put(store, 3, noise(3, 10));
      put(store, 1499, noise(3, 10));
      Answer<DriveId> answer = new Answer<>();
      store.delete(blobs, answer);
      assertEquals(store.drive(), answer.await());
      assertEquals(ShardFault.MISSING, fault(store, 3));
      assertEquals(ShardFault.MISSING, fault(store, 1499));
    }
  }

  private String refusal(DriveConfig config) {
    return assertThrows(IOException.class, () -> DriveStore.open(config, resources)).toString();
  }

  private static ShardId shard(int blob) {
    return new ShardId(new BlobId(1, blob), 0);
  }

  private static void put(DriveStore store, int blob, byte[] bytes) throws ShardException {
    Answer<DriveId> answer = new Answer<>();
    store.write(AbstractShardStoreContract.shardWrite(shard(blob), 0, bytes), answer);
    answer.await();
  }

  private static void delete(DriveStore store, int blob) throws ShardException {
    Answer<DriveId> answer = new Answer<>();
    store.delete(List.of(new BlobId(1, blob)), answer);
    answer.await();
  }

  private static byte[] get(DriveStore store, int blob, int length) throws ShardException {
    Answer<ShardData> answer = new Answer<>();
    store.read(shard(blob), ShardView.ORIGINAL, 0, length, answer);
    return AbstractShardStoreContract.bytesOf(answer.await());
  }

  private static ShardFault fault(DriveStore store, int blob) {
    Answer<ShardData> answer = new Answer<>();
    store.read(shard(blob), ShardView.ORIGINAL, 0, 1, answer);
    return answer.awaitFault();
  }

  private static byte[] noise(int seed, int length) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static void copyDrive(Path from, Path to) throws IOException {
    RocksIndexCrashes.copy(from, to);
    RocksIndexCrashes.copy(from.resolve("index"), to.resolve("index"));
  }
}
