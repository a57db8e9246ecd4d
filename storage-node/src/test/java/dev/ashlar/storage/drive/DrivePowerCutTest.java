package dev.ashlar.storage.drive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.protocol.client.AbstractShardStoreContract;
import dev.ashlar.protocol.client.Answer;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.fault.PowerCutFileSystem;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.io.ForwardingFiles;
import dev.ashlar.storage.io.IoMode;
import dev.ashlar.storage.io.RawFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A drive on a real file system: its power is cut while the drive is written to, or it fills up.
 * The shutdown that stands for a power cut also shows what a file system answers that fails under
 * load: a sync that succeeds meanwhile has to have done its work.
 */
@Tag("slow")
@Timeout(300)
class DrivePowerCutTest {
  private static final long BYTES = 512L << 20;
  private static final int CUTS = Integer.getInteger("ashlar.power.cuts", 3);
  private static final int LARGE = 1_500_000;
  private static final int SEGMENT_BYTES = TestDrives.LIMITS.segmentBytes();

  private final long seed = Long.getLong("seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final DriveContents contents = new DriveContents(1, random);
  private final SlabPool slabs = new SlabPool();
  private final DriveResources resources = TestDrives.resources(slabs);
  @TempDir Path root = Path.of("set by JUnit");

  /** Believes that there is always room, so that spares fail for want of space. */
  private static final class Boundless extends ForwardingFiles {
    Boundless(RawFiles files) {
      super(files);
    }

    @Override
    public long usableBytes() {
      return Long.MAX_VALUE / 2;
    }
  }

  @AfterEach
  void close() {
    resources.close();
  }

  private PowerCutFileSystem disk(PowerCutFileSystem.Kind kind) throws IOException {
    Optional<String> unavailable = PowerCutFileSystem.unavailable(kind);
    assumeTrue(unavailable.isEmpty(), unavailable.orElse(""));
    return PowerCutFileSystem.create(kind, root.resolve("disk"), root.resolve("images"), BYTES);
  }

  private Path folder() {
    return root.resolve("disk/drive");
  }

  @ParameterizedTest
  @CsvSource({"EXT4, AUTO", "EXT4, BUFFERED", "XFS, AUTO", "XFS, BUFFERED"})
  void whatWasAcknowledgedSurvives(PowerCutFileSystem.Kind kind, IoMode mode) throws Exception {
    try (PowerCutFileSystem disk = disk(kind)) {
      for (int cut = 1; cut <= CUTS; cut++) {
        writeUntilCut(disk, mode);
        disk.remount();
        try (DriveStore store = DriveStore.open(TestDrives.config(folder(), mode), resources)) {
          contents.check(store, "seed " + seed + ", cut " + cut);
          contents.add(store, 5);
        }
      }
      assertTrue(contents.size() > 0, "nothing was written");
    }
    assertEquals(0, slabs.lentBytes());
  }

  private void writeUntilCut(PowerCutFileSystem disk, IoMode mode) throws Exception {
    try (DriveStore store = DriveStore.open(TestDrives.config(folder(), mode), resources)) {
      Thread writer = Thread.ofPlatform().start(() -> writeUntilRefused(store));
      Thread.sleep(200 + random.nextInt(300));
      disk.cut();
      writer.join();
    } catch (IOException e) {
      // its files are gone
    }
  }

  private void writeUntilRefused(DriveStore store) {
    try {
      while (true) {
        if (random.nextInt(4) == 0) {
          contents.addPlain(store, 1 + random.nextInt(LARGE));
        } else {
          contents.addOne(store);
        }
      }
    } catch (ShardException e) {
      // the power is gone
    }
  }

  @Test
  void aFileSystemWithoutRoomMakesTheDriveFull() throws Exception {
    PowerCutFileSystem disk = disk(PowerCutFileSystem.Kind.EXT4);
    try (disk;
        DriveStore store =
            DriveStore.open(TestDrives.config(folder(), IoMode.AUTO), resources, Boundless::new)) {
      Path ballast = leaveRoomFor(5);
      int blob = 0;
      ShardFault fault = null;
      while (fault == null) {
        fault = write(store, ++blob);
      }
      assertEquals(ShardFault.FULL, fault);
      assertTrue(blob > 4, "there was room");
      Files.delete(ballast);
      while (write(store, blob) == ShardFault.FULL) {
        Thread.sleep(20);
      }
      assertNull(write(store, ++blob));
    }
  }

  /** Fills the file system but for so many segments, and half a one for the index. */
  private Path leaveRoomFor(int segments) throws Exception {
    Path ballast = root.resolve("disk/ballast");
    long bytes =
        Files.getFileStore(ballast.getParent()).getUsableSpace()
            - (long) segments * SEGMENT_BYTES
            - SEGMENT_BYTES / 2;
    Process made =
        new ProcessBuilder("fallocate", "-l", Long.toString(bytes), ballast.toString()).start();
    assertEquals(0, made.waitFor());
    return ballast;
  }

  private static @Nullable ShardFault write(DriveStore store, int blob)
      throws InterruptedException {
    Answer<DriveId> answer = new Answer<>();
    ShardId shard = new ShardId(new BlobId(2, blob), 0);
    byte[] bytes = SimulatedCore.noise(blob, LARGE);
    store.write(AbstractShardStoreContract.shardWrite(shard, 0, bytes), answer);
    try {
      answer.await();
      return null;
    } catch (ShardException e) {
      return e.fault();
    }
  }
}
