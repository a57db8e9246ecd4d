package dev.ashlar.metadata.consensus.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.file.IoPacer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileSumsTest {
  /** As it is on drives: a change of these bytes is a change of the format. */
  private static final String GOLDEN =
      """
      ashlar-sums 1
      000007.sst 5 -
      CURRENT 9 e3069283
      end 3c1aa1c6
      """;

  @TempDir Path checkpoint = Path.of("");

  @BeforeEach
  void fill() throws IOException {
    Files.writeString(checkpoint.resolve("CURRENT"), "123456789");
    Files.writeString(checkpoint.resolve("000007.sst"), "table");
    Files.writeString(checkpoint.resolve("000007.sst.md5"), "of Ratis");
  }

  private Path file() {
    return checkpoint.resolve(FileSums.FILE);
  }

  @Test
  void theFormatIsFixed() throws Exception {
    FileSums sums = FileSums.ofNew(checkpoint);
    sums.write(checkpoint);
    assertEquals(GOLDEN, Files.readString(file()));
    assertEquals(sums, FileSums.read(checkpoint));
  }

  @Test
  void aBitOfItFlips() throws Exception {
    byte[] whole = GOLDEN.getBytes(StandardCharsets.US_ASCII);
    for (int bit = 0; bit < whole.length * Byte.SIZE; bit++) {
      byte[] damaged = whole.clone();
      damaged[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
      Files.write(file(), damaged);
      assertThrows(IOException.class, () -> FileSums.read(checkpoint), "bit " + bit);
    }
  }

  @Test
  void aFileThatIsNotWhatItWasIsFound() throws Exception {
    FileSums sums = FileSums.ofNew(checkpoint);
    assertTrue(sums.isWhole(checkpoint, "CURRENT", IoPacer.unlimited()));
    sums.checkQuickly(checkpoint);
    Files.writeString(checkpoint.resolve("CURRENT"), "123456780");
    assertFalse(sums.isWhole(checkpoint, "CURRENT", IoPacer.unlimited()));
    assertThrows(IOException.class, () -> sums.checkQuickly(checkpoint));
  }

  @Test
  void aTableThatIsTooShortIsFoundAtOnce() throws Exception {
    FileSums sums = FileSums.ofNew(checkpoint);
    Files.writeString(checkpoint.resolve("000007.sst"), "tabl");
    assertThrows(IOException.class, () -> sums.checkQuickly(checkpoint));
  }
}
