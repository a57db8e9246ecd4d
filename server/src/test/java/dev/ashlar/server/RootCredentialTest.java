package dev.ashlar.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RootCredentialTest {
  @TempDir private Path folder = Path.of("");

  @Test
  void isMadeOnceAndKeptForTheOwnerOnly() throws IOException {
    Path file = folder.resolve("credentials");
    RootCredential made = RootCredential.load(Map.of(), file);
    assertTrue(made.fresh());
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    RootCredential read = RootCredential.load(Map.of(), file);
    assertFalse(read.fresh());
    assertEquals(made.accessKey(), read.accessKey());
    assertEquals(made.secretKey(), read.secretKey());
  }

  @Test
  void theEnvironmentWinsAndLeavesNoFile() throws IOException {
    Path file = folder.resolve("credentials");
    Map<String, String> environment =
        Map.of("ASHLAR_ACCESS_KEY", "somebody", "ASHLAR_SECRET_KEY", "something");
    assertEquals("somebody", RootCredential.load(environment, file).accessKey());
    assertFalse(Files.exists(file));
  }

  @Test
  void halfAPairIsRefused() {
    Path file = folder.resolve("credentials");
    assertThrows(
        IllegalArgumentException.class,
        () -> RootCredential.load(Map.of("ASHLAR_ACCESS_KEY", "somebody"), file));
    assertThrows(
        IllegalArgumentException.class,
        () ->
            RootCredential.load(
                Map.of("ASHLAR_ACCESS_KEY", "somebody", "ASHLAR_SECRET_KEY", "short"), file));
  }

  @Test
  void isNeverPrintedWithItsSecret() {
    assertFalse(new RootCredential("abc", "very-secret", "x", true).toString().contains("very"));
  }
}
