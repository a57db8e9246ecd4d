package dev.ashlar.codec.isal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeFileTest {
  private static final int BYTES = 100_000;

  @TempDir Path folder;
  private final byte[] content = new byte[BYTES];
  private Path path = Path.of("");

  @BeforeEach
  void write() throws Exception {
    Assumptions.assumeTrue(NativeLibrary.failure() == null, NativeLibrary.failure());
    new Random(1).nextBytes(content);
    path = folder.resolve("file");
    Files.write(path, content);
  }

  private FileChannel open() throws Exception {
    return FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
  }

  private static NativeFile file(FileChannel channel, boolean isInMemory) {
    NativeFile file = NativeFile.of(channel, isInMemory);
    assertNotNull(file);
    return file;
  }

  private void assertContent(ByteBuffer bytes, int from, int length, int offset) {
    assertEquals(ByteBuffer.wrap(content, offset, length), bytes.slice(from, length));
  }

  @Test
  void fillsTheRemainingPart() throws Exception {
    ByteBuffer target = ByteBuffer.allocateDirect(50_000);
    try (FileChannel channel = open()) {
      assertTrue(file(channel, true).read(target.position(10).limit(40_010), 60_000));
      assertEquals(40_010, target.position());
      assertContent(target.clear(), 10, 40_000, 60_000);
      assertEquals(0, target.get(9));
      assertEquals(0, target.get(40_010));
    }
  }

  /** Which file systems can tell what they have in memory is theirs. */
  @Test
  void neverReturnsOtherBytesThanTheFileHas() throws Exception {
    ByteBuffer target = ByteBuffer.allocateDirect(BYTES);
    try (FileChannel channel = open()) {
      for (int offset = 0; offset < BYTES; offset += 7_000) {
        target.clear().limit(BYTES - offset);
        if (file(channel, false).read(target, offset)) {
          assertContent(target, 0, BYTES - offset, offset);
        } else {
          assertEquals(0, target.position());
        }
      }
    }
  }

  @Test
  void aFileThatIsTooShortIsNotRead() throws Exception {
    try (FileChannel channel = open()) {
      ByteBuffer target = ByteBuffer.allocateDirect(10);
      assertFalse(file(channel, true).read(target, BYTES - 9));
      assertFalse(file(channel, false).read(target, BYTES));
      assertEquals(0, target.position());
    }
  }

  /** A channel that an interrupted thread reads is closed. */
  @Test
  void anInterruptedThreadReads() throws Exception {
    try (FileChannel channel = open()) {
      ByteBuffer target = ByteBuffer.allocateDirect(BYTES);
      Thread.currentThread().interrupt();
      boolean isRead = file(channel, true).read(target, 0);
      assertTrue(Thread.interrupted());
      assertTrue(isRead);
      assertTrue(channel.isOpen());
      assertContent(target, 0, BYTES, 0);
    }
  }

  @Test
  void refusesMemoryThatItCannotWrite() throws Exception {
    try (FileChannel channel = open()) {
      NativeFile file = file(channel, true);
      assertThrows(IllegalArgumentException.class, () -> file.read(ByteBuffer.allocate(9), 0));
      ByteBuffer constant = ByteBuffer.allocateDirect(9).asReadOnlyBuffer();
      assertThrows(IllegalArgumentException.class, () -> file.read(constant, 0));
    }
  }
}
