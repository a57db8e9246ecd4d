package dev.ashlar.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RootCredentialTest {
  @TempDir private Path folder = Path.of("");

  @Test
  void isMadeOnceAndKeptForTheOwnerOnly() throws IOException {
    Path file = folder.resolve("credentials");
    RootCredential made = RootCredential.load(Map.of(), List.of(folder));
    assertTrue(made.fresh());
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    RootCredential read = RootCredential.load(Map.of(), List.of(folder));
    assertFalse(read.fresh());
    assertEquals(made.accessKey(), read.accessKey());
    assertEquals(made.secretKey(), read.secretKey());
  }

  @Test
  void theEnvironmentWinsAndLeavesNoFile() throws IOException {
    Path file = folder.resolve("credentials");
    Map<String, String> environment =
        Map.of("ASHLAR_ACCESS_KEY", "somebody", "ASHLAR_SECRET_KEY", "something");
    assertEquals("somebody", RootCredential.load(environment, List.of(folder)).accessKey());
    assertFalse(Files.exists(file));
  }

  @Test
  void halfAPairIsRefused() {
    assertThrows(
        IllegalArgumentException.class,
        () -> RootCredential.load(Map.of("ASHLAR_ACCESS_KEY", "somebody"), List.of(folder)));
    assertThrows(
        IllegalArgumentException.class,
        () ->
            RootCredential.load(
                Map.of("ASHLAR_ACCESS_KEY", "somebody", "ASHLAR_SECRET_KEY", "short"),
                List.of(folder)));
  }

  @Test
  void survivesTheLossOfAFolder() throws IOException {
    List<Path> folders = List.of(folder.resolve("a"), folder.resolve("b"));
    RootCredential made = RootCredential.load(Map.of(), folders);
    Files.delete(folder.resolve("a/credentials"));
    assertEquals(made.secretKey(), RootCredential.load(Map.of(), folders).secretKey());
    assertTrue(Files.exists(folder.resolve("a/credentials")));
  }

  @Test
  void aDamagedFileIsPassedOver() throws IOException {
    List<Path> folders = List.of(folder.resolve("a"), folder.resolve("b"));
    RootCredential made = RootCredential.load(Map.of(), folders);
    Files.write(folder.resolve("a/credentials"), new byte[50]);
    assertEquals(made.secretKey(), RootCredential.load(Map.of(), folders).secretKey());
    Files.write(folder.resolve("b/credentials"), new byte[50]);
    assertThrows(IOException.class, () -> RootCredential.load(Map.of(), folders));
  }

  @Test
  void isNeverPrintedWithItsSecret() {
    assertFalse(new RootCredential("abc", "very-secret", "x", true).toString().contains("very"));
  }
}
