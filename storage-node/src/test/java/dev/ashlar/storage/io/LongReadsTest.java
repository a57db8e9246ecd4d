package dev.ashlar.storage.io;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Long reads bypass the page cache, except for repeated ones. */
class LongReadsTest {
  private static final int LONG = 256 << 10;
  private static final int FILE_BYTES = 4 * LONG;

  private final LongReads reads = new LongReads();
  @TempDir Path folder = Path.of("set by JUnit");

  @Test
  void onlyTheSamePlaceOfTheSameFileIsARepetition() {
    assertFalse(reads.isRepeated(1, 0));
    assertFalse(reads.isRepeated(2, 0));
    assertFalse(reads.isRepeated(1, LONG));
    assertTrue(reads.isRepeated(1, 0));
    assertTrue(reads.isRepeated(2, 0));
    assertTrue(reads.isRepeated(1, LONG));
  }

  @Test
  void whatWasReadRecentlyIsRemembered() {
    int recent = LongReads.PLACES / 2;
    readAll(recent);
    for (int pass = 0; pass < 3; pass++) {
      assertTrue(readAll(recent) > recent * 97 / 100, "places were forgotten");
    }
  }

  @Test
  void whatWasReadLongAgoIsForgotten() {
    int many = LongReads.PLACES * 16;
    readAll(many);
    assertTrue(readAll(many) < many / 100, "a scan counts as repeated");
  }

  /** Reads so many places in order; returns how many were repeated. */
  private int readAll(int places) {
    int repeated = 0;
    for (int i = 0; i < places; i++) {
      repeated += reads.isRepeated(i / 1024, (long) i % 1024 * LONG) ? 1 : 0;
    }
    return repeated;
  }

  @Test
  void aRepeatedLongReadFillsThePageCache() throws IOException {
    ChannelFiles files = ChannelFiles.open(folder, IoMode.AUTO);
    byte[] content = new byte[FILE_BYTES];
    new Random(1).nextBytes(content);
    try (RawFile file = files.create("file", FILE_BYTES)) {
      file.write(List.of(buffer(FILE_BYTES).put(content).flip()), 0);
      file.sync();
      assumeTrue(tellsWhatIsCached(file), "the native codec or Linux 6.5 is missing");
      assumeTrue(files.isDirect() && !file.readCached(buffer(LONG), LONG), "no direct I/O here");

      assertArrayEquals(part(content), readForRequest(file));
      assertFalse(file.readCached(buffer(LONG), LONG), "a single read took memory");
      file.read(buffer(LONG), LONG);
      assertFalse(file.readCached(buffer(LONG), LONG), "a look for damage took memory");
      assertArrayEquals(part(content), readForRequest(file));
      assertTrue(file.readCached(buffer(LONG), LONG));
    }
  }

  private static boolean tellsWhatIsCached(RawFile file) throws IOException {
    file.read(buffer(ChannelFile.ALIGNMENT), 0);
    return file.readCached(buffer(ChannelFile.ALIGNMENT), 0);
  }

  @Test
  void looksForDamageNeitherCountNorFillThePageCache() throws IOException {
    ChannelFiles files = ChannelFiles.open(folder, IoMode.AUTO);
    try (RawFile file = files.create("file", FILE_BYTES)) {
      assumeTrue(tellsWhatIsCached(file), "the native codec or Linux 6.5 is missing");
      assumeTrue(files.isDirect() && !file.readCached(buffer(LONG), LONG), "no direct I/O here");
      for (int i = 0; i < 3; i++) {
        file.read(buffer(LONG), LONG);
      }
      assertFalse(file.readCached(buffer(LONG), LONG));
      readForRequest(file);
      assertFalse(file.readCached(buffer(LONG), LONG));
    }
  }

  @Test
  void readsInDirectModeNeverFillThePageCache() throws IOException {
    ChannelFiles files;
    try {
      files = ChannelFiles.open(folder, IoMode.DIRECT);
    } catch (IOException e) {
      assumeTrue(false, "no direct I/O here");
      return;
    }
    try (RawFile file = files.create("file", FILE_BYTES)) {
      readForRequest(file);
      readForRequest(file);
    }
    try (RawFile file = ChannelFiles.open(folder, IoMode.AUTO).open("file")) {
      assumeTrue(tellsWhatIsCached(file), "the native codec or Linux 6.5 is missing");
      assertEquals(FILE_BYTES, file.size());
      assertFalse(file.readCached(buffer(LONG), LONG));
    }
  }

  private static byte[] readForRequest(RawFile file) throws IOException {
    ByteBuffer target = buffer(LONG);
    file.readForRequest(target, LONG);
    byte[] bytes = new byte[LONG];
    target.flip().get(bytes);
    return bytes;
  }

  private static byte[] part(byte[] content) {
    return Arrays.copyOfRange(content, LONG, 2 * LONG);
  }

  private static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocateDirect(bytes + ChannelFile.ALIGNMENT)
        .alignedSlice(ChannelFile.ALIGNMENT)
        .slice(0, bytes);
  }
}
