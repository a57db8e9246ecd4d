package dev.ashlar.server.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RootCredentialTest {
  @TempDir private Path folder = Path.of("");

  private RootCredential load(Map<String, String> environment, Path... folders) throws IOException {
    RootCredential credential = RootCredential.find(environment, List.of(folders));
    credential.keep(List.of(folders));
    return credential;
  }

  @Test
  void isMadeOnceAndKeptForTheOwnerOnly() throws IOException {
    Path file = folder.resolve("credentials");
    RootCredential made = load(Map.of(), folder);
    assertTrue(made.fresh());
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    RootCredential read = load(Map.of(), folder);
    assertFalse(read.fresh());
    assertEquals(made.accessKey(), read.accessKey());
    assertEquals(made.secretKey(), read.secretKey());
  }

  @Test
  void theEnvironmentWinsAndLeavesNoFile() throws IOException {
    assertEquals("somebody", load(pair("somebody", "something"), folder).accessKey());
    assertFalse(Files.exists(folder.resolve("credentials")));
  }

  @Test
  void halfAPairIsRefused() {
    assertRefused(Map.of("ASHLAR_ACCESS_KEY", "somebody"));
    assertRefused(Map.of("ASHLAR_SECRET_KEY", "something"));
  }

  @Test
  void theVariablesOfMinioAreTaken() throws IOException {
    Map<String, String> minio =
        Map.of("MINIO_ROOT_USER", "minio-user", "MINIO_ROOT_PASSWORD", "minio-secret");
    RootCredential taken = load(minio, folder);
    assertEquals("minio-user", taken.accessKey());
    assertEquals("minio-secret", taken.secretKey());
    assertTrue(taken.told().endsWith(", from MINIO_ROOT_USER in the environment"), taken.told());
    String line = taken.awsLine("eu-1", "http://host:9000");
    assertTrue(line.startsWith("AWS_ACCESS_KEY_ID=$MINIO_ROOT_USER "), line);
    assertFalse(Files.exists(folder.resolve("credentials")));
    Map<String, String> old =
        Map.of("MINIO_ACCESS_KEY", "old-user", "MINIO_SECRET_KEY", "old-secret");
    assertEquals("old-user", load(old, folder).accessKey());
    assertEquals("old-user", RootCredential.given(old, null).accessKey());
    Map<String, String> all = new HashMap<>(minio);
    all.putAll(old);
    assertEquals("minio-user", load(all, folder).accessKey());
    all.putAll(pair("somebody", "something"));
    assertEquals("somebody", load(all, folder).accessKey());
  }

  /** Programs call the keys of another store like that. */
  @Test
  void aFileThatIsNamedComesBeforeTheVariablesOfMinio(@TempDir Path other) throws IOException {
    Path file = other.resolve("named");
    Files.writeString(file, "ASHLAR_ACCESS_KEY=named\nASHLAR_SECRET_KEY=named-secret\n");
    Map<String, String> minio =
        Map.of("MINIO_ACCESS_KEY", "another", "MINIO_SECRET_KEY", "another-secret");
    assertEquals("named", RootCredential.given(minio, file).accessKey());
  }

  @Test
  void theVariablesOfMinioMayNameFiles() throws IOException {
    Path file = Files.writeString(folder.resolve("password"), "minio-secret\n");
    Map<String, String> environment =
        Map.of("MINIO_ROOT_USER", "minio-user", "MINIO_ROOT_PASSWORD_FILE", file.toString());
    assertEquals("minio-secret", load(environment, folder).secretKey());
    Files.delete(file);
    assertThrows(IOException.class, () -> load(environment, folder));
  }

  @Test
  void halfAPairOfMinioIsRefusedAndEmptyOnesAreNone() throws IOException {
    IllegalArgumentException half =
        assertThrows(
            IllegalArgumentException.class,
            () -> load(Map.of("MINIO_ROOT_USER", "minio-user"), folder));
    assertTrue(half.toString().contains("MINIO_ROOT_PASSWORD is not"), half.toString());
    assertTrue(load(Map.of("MINIO_ROOT_USER", "", "MINIO_ROOT_PASSWORD", ""), folder).fresh());
  }

  @Test
  void valuesThatNoRequestCanCarryAreRefused() {
    assertRefused(pair("somebody", "short"));
    assertRefused(pair("somebody", "something\n"));
    assertRefused(pair("", "something"));
    assertRefused(pair("some/body", "something"));
    assertRefused(pair("some,body", "something"));
    assertRefused(pair("some body", "something"));
    assertRefused(pair("s\u00f6mebody", "something"));
  }

  @Test
  void aBadFileIsNamed() throws IOException {
    Path file = folder.resolve("credentials");
    Files.writeString(file, "ASHLAR_ACCESS_KEY=somebody\nASHLAR_SECRET_KEY=short\n");
    IOException failure = assertThrows(IOException.class, () -> load(Map.of(), folder));
    assertTrue(failure.toString().contains(file + " "), failure.toString());
  }

  private void assertRefused(Map<String, String> environment) {
    assertThrows(
        IllegalArgumentException.class, () -> RootCredential.find(environment, List.of(folder)));
  }

  private static Map<String, String> pair(String accessKey, String secretKey) {
    return Map.of("ASHLAR_ACCESS_KEY", accessKey, "ASHLAR_SECRET_KEY", secretKey);
  }

  @Test
  void survivesTheLossOfAFolder() throws IOException {
    Path a = folder.resolve("a");
    Path b = folder.resolve("b");
    RootCredential made = load(Map.of(), a, b);
    Files.delete(a.resolve("credentials"));
    assertEquals(made.secretKey(), load(Map.of(), a, b).secretKey());
    assertTrue(Files.exists(a.resolve("credentials")));
  }

  @Test
  void aDamagedFileIsPassedOver() throws IOException {
    Path a = folder.resolve("a");
    Path b = folder.resolve("b");
    RootCredential made = load(Map.of(), a, b);
    Files.write(a.resolve("credentials"), new byte[50]);
    assertEquals(made.secretKey(), load(Map.of(), a, b).secretKey());
    Files.write(b.resolve("credentials"), new byte[50]);
    assertThrows(IOException.class, () -> load(Map.of(), a, b));
  }

  @Test
  void isNeverPrintedWithItsSecret() {
    assertFalse(new RootCredential("abc", "very-secret", "x", true).toString().contains("very"));
  }
}
