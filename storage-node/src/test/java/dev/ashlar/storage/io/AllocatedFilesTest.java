package dev.ashlar.storage.io;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.codec.isal.NativeLibrary;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class AllocatedFilesTest {
  private static final int BYTES = 1 << 20;
  private static final int BLOCK = 4096;

  @TempDir Path folder = Path.of("set by JUnit");

  private ChannelFiles open(IoMode mode) throws IOException {
    assumeTrue(NativeLibrary.failure() == null, NativeLibrary.failure());
    return ChannelFiles.open(folder, mode);
  }

  private static ByteBuffer aligned(int bytes) {
    return ByteBuffer.allocateDirect(bytes + BLOCK).alignedSlice(BLOCK).slice(0, bytes);
  }

  @ParameterizedTest
  @EnumSource(names = {"AUTO", "BUFFERED"})
  void whatIsNotWrittenIsReadAsZeros(IoMode mode) throws IOException {
    ChannelFiles files = open(mode);
    assertTrue(files.allocate("new", BYTES));
    assertEquals(BYTES, files.size("new"));
    byte[] expected = new byte[BYTES];
    Arrays.fill(expected, 2 * BLOCK, 5 * BLOCK, (byte) 7);
    try (RawFile file = files.open("new")) {
      ByteBuffer written = aligned(3 * BLOCK);
      written.duplicate().put(expected, 2 * BLOCK, 3 * BLOCK);
      file.write(List.of(written.slice(0, BLOCK), written.slice(BLOCK, 2 * BLOCK)), 2 * BLOCK);
      file.sync();
      ByteBuffer read = aligned(BYTES);
      file.read(read, 0);
      byte[] got = new byte[BYTES];
      read.flip().get(got);
      assertArrayEquals(expected, got);
    }
  }

  @Test
  void onlyItsUserCanReadIt() throws IOException {
    assertTrue(open(IoMode.BUFFERED).allocate("new", BYTES));
    assertEquals(
        PosixFilePermissions.fromString("rw-------"),
        Files.getPosixFilePermissions(folder.resolve("new")));
  }

  @Test
  void itsSpaceIsTaken() throws Exception {
    assertTrue(open(IoMode.BUFFERED).allocate("new", BYTES));
    Process stat =
        new ProcessBuilder("stat", "--format=%b", folder.resolve("new").toString()).start();
    String blocks =
        new String(stat.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    assertTrue(Long.parseLong(blocks) * 512 >= BYTES, blocks);
  }

  @Test
  void aRefusalLeavesNothing() throws IOException {
    ChannelFiles files = open(IoMode.BUFFERED);
    assertFalse(files.allocate("new", Long.MAX_VALUE), "larger than any file");
    assertEquals(List.of(), files.list());
  }

  @Test
  void aFileThatExistsIsLeftAlone() throws IOException {
    ChannelFiles files = open(IoMode.BUFFERED);
    Files.writeString(folder.resolve("old"), "content");
    assertThrows(FileAlreadyExistsException.class, () -> files.allocate("old", BYTES));
    assertEquals("content", Files.readString(folder.resolve("old")));
    assertEquals(Set.of("old"), Set.copyOf(files.list()));
  }
}
