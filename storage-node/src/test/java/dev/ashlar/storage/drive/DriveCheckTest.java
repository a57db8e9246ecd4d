package dev.ashlar.storage.drive;

import static dev.ashlar.storage.drive.SimulatedCore.noise;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.DriveCheck.Finding;
import dev.ashlar.storage.drive.DriveCheck.Part;
import dev.ashlar.storage.drive.read.BlockingCompletion;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.io.IoMode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The check finds what is damaged, and leaves the drive as it was. */
class DriveCheckTest {
  private static final int SHARDS = 40;
  private static final int LENGTH = 60_000;
  private static final String FIRST_SEGMENT = Segment.fileName(1);

  @TempDir Path root = Path.of("");
  private final SlabPool slabs = new SlabPool();
  private Path folder = Path.of("");
  private Map<String, Long> before = Map.of();

  @BeforeEach
  void fill() throws Exception {
    folder = root.resolve("drive");
    try (DriveResources resources = TestDrives.resources(slabs);
        DriveStore store = open(resources)) {
      for (int blob = 1; blob <= SHARDS; blob++) {
        write(store, blob);
      }
    }
  }

  private DriveStore open(DriveResources resources) throws IOException {
    return DriveStore.open(TestDrives.config(folder, IoMode.AUTO), resources);
  }

  private static void write(DriveStore store, int blob) throws Exception {
    ShardId shard = new ShardId(new BlobId(1, blob), 0);
    BlockingCompletion<DriveId> written = new BlockingCompletion<>();
    store.write(AbstractShardStoreContract.shardWrite(shard, 0, noise(blob, LENGTH)), written);
    DriveId unused = written.await();
  }

  @AfterEach
  void theDriveIsAsItWas() throws IOException {
    assertEquals(before, sums());
  }

  private DriveCheck.Report check() throws IOException {
    before = sums();
    Path scratch = Files.createTempDirectory(root, "scratch");
    return DriveCheck.run(folder, scratch, TestDrives.LIMITS);
  }

  /** Of all files of the drive. */
  private Map<String, Long> sums() throws IOException {
    Map<String, Long> sums = new TreeMap<>();
    try (Stream<Path> tree = Files.walk(folder)) {
      for (Path file : tree.filter(Files::isRegularFile).toList()) {
        CRC32C crc = new CRC32C();
        crc.update(Files.readAllBytes(file));
        sums.put(folder.relativize(file).toString(), crc.getValue());
      }
    }
    return sums;
  }

  private static void flip(Path file, long at) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      ByteBuffer one = ByteBuffer.allocate(1);
      channel.read(one, at);
      one.put(0, (byte) (one.get(0) ^ 1)).flip();
      channel.write(one, at);
    }
  }

  private static Set<Part> parts(DriveCheck.Report report) {
    return report.findings().stream().map(Finding::part).collect(Collectors.toSet());
  }

  @Test
  void aWholeDriveHasNoFindings() throws Exception {
    DriveCheck.Report report = check();
    assertEquals(List.of(), report.findings());
    assertEquals((long) SHARDS * LENGTH, report.verifiedBytes());
    assertTrue(report.segments() >= 1);
  }

  @Test
  void damagedBytesAreTracedToTheirBlob() throws Exception {
    int block = SegmentFormat.BLOCK;
    byte[] payload = Arrays.copyOfRange(noise(7, LENGTH), block, block + 64);
    int at = indexOf(Files.readAllBytes(folder.resolve(FIRST_SEGMENT)), payload);
    flip(folder.resolve(FIRST_SEGMENT), at);
    assertEquals(
        List.of(
            new Finding(
                Part.SHARD,
                FIRST_SEGMENT,
                new BlobId(1, 7).toString(),
                0,
                block,
                block,
                "CORRUPT")),
        check().findings());
  }

  @Test
  void damagedBytesSideBySideAreOnePlace() throws Exception {
    int block = SegmentFormat.BLOCK;
    byte[] payload = Arrays.copyOfRange(noise(7, LENGTH), block, block + 64);
    int at = indexOf(Files.readAllBytes(folder.resolve(FIRST_SEGMENT)), payload);
    flip(folder.resolve(FIRST_SEGMENT), at);
    flip(folder.resolve(FIRST_SEGMENT), at + block);
    Finding found = check().findings().getFirst();
    assertEquals(List.of((long) block, 2L * block), List.of(found.offset(), found.length()));
  }

  private static int indexOf(byte[] all, byte[] part) {
    for (int i = 0; i <= all.length - part.length; i++) {
      if (ByteBuffer.wrap(all, i, part.length).equals(ByteBuffer.wrap(part))) {
        return i;
      }
    }
    throw new AssertionError("not found");
  }

  @Test
  void aLostIndexIsFoundAndRebuiltElsewhere() throws Exception {
    Files.delete(current());
    try (Stream<Path> files = Files.list(folder.resolve("index"))) {
      assertTrue(files.findAny().isPresent());
    }
    checkWithoutIndex();
    Files.writeString(current(), "MANIFEST-999999\n");
    checkWithoutIndex();
  }

  private void checkWithoutIndex() throws IOException {
    DriveCheck.Report report = check();
    assertEquals(Set.of(Part.INDEX), parts(report));
    assertEquals((long) SHARDS * LENGTH, report.verifiedBytes(), "from the log");
  }

  private Path current() {
    return folder.resolve("index").resolve("CURRENT");
  }

  @Test
  void aLostSegmentIsDamageOfTheLog() throws Exception {
    Files.delete(folder.resolve(FIRST_SEGMENT));
    DriveCheck.Report report = check();
    assertEquals(Set.of(Part.LOG), parts(report));
    assertTrue(report.findings().toString().contains("segment 1"), report.findings().toString());
  }

  @Test
  void aDamagedCopyOfTheIdentityIsFound() throws Exception {
    flip(folder.resolve(DriveIdentity.FILE), 20);
    assertEquals(Set.of(Part.IDENTITY), parts(check()));
  }

  @Test
  void aDriveInUseAndAFolderWithoutADriveAreRefused() throws Exception {
    try (DriveResources resources = TestDrives.resources(slabs);
        DriveStore store = open(resources)) {
      IOException inUse = assertThrows(IOException.class, this::check);
      assertTrue(String.valueOf(inUse.getMessage()).contains("in use"), inUse.getMessage());
      assertTrue(store.isWritable());
    }
    Path other = Files.createDirectories(root.resolve("other"));
    assertThrows(IOException.class, () -> DriveCheck.run(other, root, TestDrives.LIMITS));
    try (Stream<Path> files = Files.list(other)) {
      assertFalse(files.findAny().isPresent(), "nothing is made there");
    }
    before = sums();
  }
}
