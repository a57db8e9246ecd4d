package dev.ashlar.metadata.consensus.file;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.metadata.consensus.checkpoint.FileSums;
import dev.ashlar.protocol.fault.PowerCutFileSystem;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What verifies a file reads the drive, not what memory still has of it. */
class CheckedFilesTest {
  private static final long DISK_BYTES = 512L << 20;

  @TempDir Path root = Path.of("");

  private static byte[] content(int bytes) {
    byte[] content = new byte[bytes];
    new SplittableRandom(bytes).nextBytes(content);
    return content;
  }

  private static long crc(byte[] content) {
    CRC32C crc = new CRC32C();
    crc.update(content);
    return crc.getValue();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 511, 4096, 65_537, 1 << 20, (1 << 20) + 1, 3_000_000})
  void theCrcIsThatOfAllBytes(int bytes) throws Exception {
    Path file = Files.write(root.resolve("file"), content(bytes));
    assertEquals(crc(content(bytes)), CheckedFiles.crc(file, IoPacer.unlimited()));
    Path copy = root.resolve("copy");
    assertEquals(crc(content(bytes)), CheckedFiles.copy(file, copy, IoPacer.unlimited()));
    assertArrayEquals(content(bytes), Files.readAllBytes(copy));
  }

  /** Some kernels know no direct reads of it. */
  @Test
  void aFileInMemoryHasOneToo() throws Exception {
    Path memory = Path.of("/dev/shm");
    assumeTrue(Files.isWritable(memory), "no /dev/shm");
    Path file = Files.createTempFile(memory, "ashlar", "");
    try {
      Files.write(file, content(5000));
      assertEquals(crc(content(5000)), CheckedFiles.crc(file, IoPacer.unlimited()));
    } finally {
      Files.delete(file);
    }
  }

  @ParameterizedTest
  @EnumSource
  void fileUnreadableOnTheDriveIsDamagedEvenIfCached(PowerCutFileSystem.Kind kind)
      throws Exception {
    Optional<String> unavailable = PowerCutFileSystem.unavailable(kind);
    assumeTrue(unavailable.isEmpty(), unavailable.orElse(""));
    byte[] content = content(100_000);
    try (PowerCutFileSystem disk =
        PowerCutFileSystem.create(
            kind, root.resolve("mount"), root.resolve("images"), DISK_BYTES)) {
      Path checkpoint = Files.createDirectory(root.resolve("mount/checkpoint-1-1"));
      Path file = Files.write(checkpoint.resolve("000001.sst"), content);
      Files.writeString(checkpoint.resolve("CURRENT"), "MANIFEST-000001");
      DurableFiles.syncTree(root.resolve("mount"));
      FileSums sums = FileSums.ofNew(checkpoint);
      disk.loseDisk();
      assertArrayEquals(content, Files.readAllBytes(file), "the page cache has it");
      assertThrows(IOException.class, () -> CheckedFiles.crc(file, IoPacer.unlimited()));
      assertFalse(sums.isWhole(checkpoint, "CURRENT", IoPacer.unlimited()));
    }
  }
}
