package dev.ashlar.server.config;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OwnMasterKeyTest {
  @TempDir private Path folder = Path.of("");

  private List<Path> folders() {
    return List.of(folder.resolve("a"), folder.resolve("b"));
  }

  private static byte[] key(OwnMasterKey of) {
    return of.keys().values().iterator().next();
  }

  @Test
  void itIsMadeOnceAndKeptInEveryFolder() throws Exception {
    OwnMasterKey made = OwnMasterKey.find(folders(), false);
    assertFalse(Files.exists(folders().getFirst()));
    made.keep(folders());
    for (Path each : folders()) {
      Path file = each.resolve("master-key");
      assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
      OwnMasterKey found = OwnMasterKey.find(List.of(each), true);
      assertEquals(made.keys().keySet(), found.keys().keySet());
      assertArrayEquals(key(made), key(found));
    }
  }

  @Test
  void aFolderThatLacksItGetsItAgain() throws Exception {
    OwnMasterKey made = OwnMasterKey.find(folders(), false);
    made.keep(folders());
    Files.delete(folders().getFirst().resolve("master-key"));
    OwnMasterKey found = OwnMasterKey.find(folders(), false);
    found.keep(folders());
    assertArrayEquals(key(made), key(OwnMasterKey.find(folders().subList(0, 1), false)));
  }

  @Test
  void noTwoStoresHaveKeysOfTheSameName() throws Exception {
    assertNotEquals(
        OwnMasterKey.find(folders(), false).keys().keySet(),
        OwnMasterKey.find(folders(), false).keys().keySet());
  }

  /** It is never replaced: what it has encrypted would be lost. */
  @Test
  void aDamagedFileIsAnErrorUnlessAnotherFolderHasIt() throws Exception {
    OwnMasterKey made = OwnMasterKey.find(folders(), false);
    made.keep(folders());
    Files.writeString(folders().getFirst().resolve("master-key"), "damaged");
    assertArrayEquals(key(made), key(OwnMasterKey.find(folders(), false)));
    Files.writeString(folders().getLast().resolve("master-key"), "damaged");
    assertThrows(IOException.class, () -> OwnMasterKey.find(folders(), false));
  }

  @Test
  void aLostFileIsNotReplacedOnceSomethingIsEncrypted() throws Exception {
    OwnMasterKey.find(folders(), false).keep(folders());
    for (Path each : folders()) {
      Files.delete(each.resolve("master-key"));
    }
    IOException e = assertThrows(IOException.class, () -> OwnMasterKey.find(folders(), true));
    assertTrue(
        Objects.requireNonNull(e.getMessage()).contains("master-key in " + folders()),
        e.getMessage());
    assertTrue(
        Objects.requireNonNull(e.getMessage()).contains("--master-key-file"), e.getMessage());
  }

  @Test
  void itIsNotShown() throws Exception {
    OwnMasterKey made = OwnMasterKey.find(folders(), false);
    assertFalse(made.toString().contains(Base64.getEncoder().encodeToString(key(made))));
  }
}
