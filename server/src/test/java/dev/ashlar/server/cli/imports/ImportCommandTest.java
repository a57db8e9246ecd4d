package dev.ashlar.server.cli.imports;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.server.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class ImportCommandTest {
  private static final String FROM = "--from=http://127.0.0.1:1";

  @TempDir private Path folder;

  private static void refused(String why, String... arguments) {
    StringWriter err = new StringWriter();
    CommandLine command = new CommandLine(new ImportCommand());
    command.setErr(new PrintWriter(err));
    assertEquals(CommandLine.ExitCode.USAGE, Main.execute(command, arguments));
    assertTrue(err.toString().contains(why), err::toString);
  }

  @Test
  void wrongSourcesAreRefused() {
    refused("name what to copy", FROM);
    refused("does not begin with s3://", FROM, "reports");
    refused("several sources", FROM, "s3://a", "s3://b/prefix");
    refused("several sources", FROM, "s3://a", "s3://");
    refused("a prefix needs a bucket", FROM, "s3:///prefix");
    refused("--until-lag needs --follow", FROM, "s3://a", "--until-lag=5");
    refused("--parallel", FROM, "s3://a", "--parallel=0");
  }

  @Test
  void sourceMustBeAnAddress() throws Exception {
    Path file =
        Files.writeString(
            folder.resolve("keys"),
            "ASHLAR_SOURCE_ACCESS_KEY=some\nASHLAR_SOURCE_SECRET_KEY=secret\n");
    refused("--from has to name the source", "s3://a", "--from-credentials=" + file);
    refused("must be http://", "s3://a", "--from=minio:9000", "--from-credentials=" + file);
  }

  @Test
  void secretsAreNotSentInClearOverANetwork() throws Exception {
    Path file =
        Files.writeString(
            folder.resolve("root"), "ASHLAR_ACCESS_KEY=root\nASHLAR_SECRET_KEY=root-secret\n");
    refused(
        "would get all secrets without TLS",
        "iam",
        "export.zip",
        "--credentials=" + file,
        "--management=192.0.2.1:9001");
  }

  @Test
  void lagIsThatOfAllKeys() {
    Instant began = Instant.parse("2026-11-27T10:00:00.5Z");
    assertEquals(
        "Lag: all changes before 2026-11-27T10:00:00Z are copied (7 s ago); the last pass copied"
            + " 3 versions.",
        ImportSummary.lag(began, Duration.ofSeconds(7), 3, 0));
    assertEquals(
        "Lag: 2 keys or settings are behind; the last pass copied 3 versions.",
        ImportSummary.lag(began, Duration.ofSeconds(7), 3, 2));
  }

  @Test
  void keysComeFromTheEnvironmentOrAFile() throws Exception {
    Credential.Names names = Credential.Names.SOURCE;
    Map<String, String> environment =
        Map.of(names.accessKey(), "given", names.secretKey(), "given-secret");
    Path file =
        Files.writeString(
            folder.resolve("keys"),
            names.accessKey() + "=kept\n" + names.secretKey() + "=kept-secret\n");
    assertEquals("given", Credential.read(environment, file, names, "--x").accessKey());
    Credential kept = Credential.read(Map.of(), file, names, "--x");
    assertEquals("kept-secret", kept.secretKey());
    assertFalse(kept.toString().contains("kept-secret"));
    IOException none =
        assertThrows(IOException.class, () -> Credential.read(Map.of(), null, names, "--x"));
    assertTrue(String.valueOf(none.getMessage()).contains("--x"));
  }
}
