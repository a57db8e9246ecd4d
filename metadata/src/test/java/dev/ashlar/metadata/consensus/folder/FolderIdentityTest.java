package dev.ashlar.metadata.consensus.folder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.folder.FolderIdentity.State;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderIdentityTest {
  private static final String CLUSTER = "0f8fad5b-d9cb-469f-a165-70867728950e";
  private static final FolderIdentity IN_ONE_PROCESS =
      new FolderIdentity(CLUSTER, 1, 3, State.MEMBER);
  private static final FolderIdentity OF_SEVERAL =
      new FolderIdentity(
          CLUSTER,
          FolderIdentity.NO_PLACE,
          0,
          "m-7c9e6679f3a1",
          State.JOINING,
          "7c9e6679-f3a1-40de-944b-e07fc1f90ae7",
          List.of("a", "b"));

  /** As they are on drives: a change of these bytes is a change of the format. */
  private static final String GOLDEN_IN_ONE_PROCESS =
      """
      format=1
      cluster=0f8fad5b-d9cb-469f-a165-70867728950e
      place=2
      places=3
      state=MEMBER
      sum=943b298a
      """;

  private static final String GOLDEN_OF_SEVERAL =
      """
      format=2
      cluster=0f8fad5b-d9cb-469f-a165-70867728950e
      place=0
      places=0
      state=JOINING
      peer=m-7c9e6679f3a1
      id=7c9e6679-f3a1-40de-944b-e07fc1f90ae7
      group=a,b
      sum=827a711e
      """;

  @TempDir Path folder = Path.of("");

  private Path file() {
    return folder.resolve(FolderIdentity.FILE);
  }

  private void checkFormat(FolderIdentity identity, String golden) throws IOException {
    identity.write(folder);
    assertEquals(golden, Files.readString(file()));
    assertEquals(identity, FolderIdentity.read(folder));
  }

  @Test
  void theFormatIsFixed() throws IOException {
    checkFormat(IN_ONE_PROCESS, GOLDEN_IN_ONE_PROCESS);
    checkFormat(OF_SEVERAL, GOLDEN_OF_SEVERAL);
  }

  private String refused() {
    UUID cluster = UUID.fromString(CLUSTER);
    return assertThrows(
            IOException.class, () -> PeerFolder.open(folder, cluster, FolderIdentity.NO_PLACE, 0))
        .toString();
  }

  /** Who is told that it is damaged empties the folder. */
  @Test
  void identityOfANewerBuildOrUnreadableIsNotDamaged() throws IOException {
    String text = "format=3\nstate=MEMBER\n";
    CRC32C crc = new CRC32C();
    crc.update(text.getBytes(StandardCharsets.US_ASCII));
    Files.writeString(file(), String.format("%ssum=%08x%n", text, crc.getValue()));
    assertTrue(refused().contains("newer build"), this::refused);
    assertFalse(refused().contains("empty"), this::refused);
    Files.delete(file());
    Files.createDirectory(file()); // which is no more readable than what may not be read
    assertTrue(refused().contains("keep the folder"), this::refused);
    assertFalse(refused().contains("empty"), this::refused);
    Files.delete(file());
    Files.writeString(file(), GOLDEN_OF_SEVERAL.replace("JOINING", "MEMBER"));
    assertTrue(refused().contains("is damaged"), this::refused);
  }

  @Test
  void thatOfAnEarlierBuildIsReadAndGetsItsSumWhenItIsWritten() throws IOException {
    int sum = GOLDEN_OF_SEVERAL.indexOf("sum=");
    Files.writeString(file(), GOLDEN_OF_SEVERAL.substring(0, sum));
    checkFormat(FolderIdentity.read(folder), GOLDEN_OF_SEVERAL);
  }

  /** It is found damaged, or says what it said, as where the bit is one of "sum". */
  @Test
  void aFlippedBitMakesItNoOther() throws IOException {
    checkFlips(IN_ONE_PROCESS, GOLDEN_IN_ONE_PROCESS);
    checkFlips(OF_SEVERAL, GOLDEN_OF_SEVERAL);
  }

  private void checkFlips(FolderIdentity identity, String golden) throws IOException {
    byte[] whole = golden.getBytes(StandardCharsets.US_ASCII);
    int sum = golden.indexOf("sum=");
    for (int bit = 0; bit < whole.length * Byte.SIZE; bit++) {
      byte[] damaged = whole.clone();
      damaged[bit / Byte.SIZE] ^= (byte) (1 << bit % Byte.SIZE);
      Files.write(file(), damaged);
      if (bit / Byte.SIZE < sum) {
        IOException found =
            assertThrows(IOException.class, () -> FolderIdentity.read(folder), "bit " + bit);
        assertTrue(found.toString().contains(file().toString()), found::toString);
      } else {
        checkSameOrDamaged(identity, "bit " + bit);
      }
    }
  }

  private void checkSameOrDamaged(FolderIdentity identity, String what) {
    FolderIdentity read;
    try {
      read = FolderIdentity.read(folder);
    } catch (IOException e) {
      return;
    }
    assertEquals(identity, read, what);
  }
}
