package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.Launch;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;

/** What operators look at a store with: of one object, of a drive, and for a bug report. */
class OperatorToolsIT {
  private static final Pattern SECRET = Pattern.compile("\"secretKey\":\"([^\"]+)\"");
  private static final Pattern BLOB = Pattern.compile("blob (\\S+) from 0 of");
  private static final int LENGTH = 500_000;

  private final long seed = Seeds.seed("OperatorToolsIT");
  private final byte[] content = new Content(seed, LENGTH).bytes();

  private static Launch.Ended run(String... arguments) {
    return Launch.ended(log -> Launch.start(List.of(arguments), Map.of(), log));
  }

  @Test
  void anObjectIsLocatedAStoreDiagnosedAndADriveChecked() throws Exception {
    String masterKey = Base64.getEncoder().encodeToString(new Content(seed + 1, 32).bytes());
    Path keys = Files.createTempFile("master", ".key");
    Files.writeString(keys, "first=" + masterKey + "\n");
    String kmsKey = Base64.getEncoder().encodeToString(new Content(seed + 2, 32).bytes());
    Path kms = Files.createTempFile("kms", ".json");
    Files.writeString(kms, "{\"keys\":[{\"id\":\"reports\",\"key\":\"" + kmsKey + "\"}]}");
    ServerSpec spec =
        ServerSpec.named("operator-tools")
            .withOptions("--master-key-file", keys.toString(), "--kms-keys", kms.toString());
    try (ServerProcess server = ServerProcess.start(spec)) {
      String management = server.management("").getAuthority();
      try (ChangeClient s3 = new ChangeClient(server, "bucket")) {
        assertEquals(200, s3.put("", new byte[0]).status());
        assertEquals(200, s3.put("a/key", content).status());
      }
      String blob = locate(management);
      showKeys(management, masterKey, kmsKey);
      diagnose(server, management, masterKey, kmsKey);
      Path folder = server.driveFolders().getFirst();
      Launch.Ended inUse = run("fsck", folder.toString());
      assertTrue(inUse.output().contains("in use"), inUse.output());
      server.stop();
      Launch.Ended whole = run("fsck", folder.toString());
      assertEquals(0, whole.code(), whole.output());
      Path damaged = flipAByte(server.driveFolders());
      Launch.Ended found = run("fsck", damaged.toString());
      assertEquals(1, found.code(), found.output());
      assertTrue(found.output().contains("blob " + blob), found.output());
      assertTrue(found.output().contains("CORRUPT"), found.output());
      assertTrue(run("fsck", damaged.toString(), "--json").output().contains("\"SHARD\""));
      server.start();
      String lost =
          run("admin", "locate", "bucket/a/key", "--verify", "--management", management).output();
      assertTrue(lost.contains("lost"), lost);
    } finally {
      Files.delete(keys);
      Files.delete(kms);
    }
  }

  /** Returns the blob's id. */
  private static String locate(String management) {
    Launch.Ended listed = run("admin", "locate", "bucket/a/key", "--management", management);
    assertEquals(0, listed.code(), listed.output());
    assertTrue(listed.output().contains("listed"), listed.output());
    Launch.Ended verified =
        run("admin", "locate", "bucket/a/key", "--verify", "--management", management);
    assertTrue(verified.output().contains("verified"), verified.output());
    assertFalse(verified.output().contains("lost"), verified.output());
    Matcher blob = BLOB.matcher(listed.output());
    assertTrue(blob.find(), listed.output());
    return blob.group(1);
  }

  private static void diagnose(
      ServerProcess server, String management, String masterKey, String kmsKey) throws IOException {
    String account = server.administer("account-create?name=somebody").body();
    Matcher secret = SECRET.matcher(account);
    assertTrue(secret.find(), account);
    Path file = server.root().resolve("diagnosis.zip");
    Launch.Ended written = run("admin", "diagnose", file.toString(), "--management", management);
    assertEquals(0, written.code(), written.output());
    Map<String, String> entries = entries(file);
    List<String> names = new ArrayList<>(entries.keySet());
    for (String name : List.of("about.txt", "process.json", "metrics.txt", "status.json")) {
      assertTrue(names.stream().anyMatch(each -> each.endsWith(name)), names.toString());
    }
    String all = String.join("\n", entries.values());
    assertTrue(all.contains("metadata-keeper"), "threads");
    assertTrue(all.contains("--master-key-file"), "configuration");
    for (String each : List.of(ServerProcess.SECRET_KEY, secret.group(1), masterKey, kmsKey)) {
      entries.forEach((name, text) -> assertFalse(text.contains(each), name));
    }
  }

  /** Names and fingerprints, and never a key. */
  private static void showKeys(String management, String... secrets) {
    Launch.Ended renewal = run("admin", "encryption", "renew", "--management", management);
    assertEquals(0, renewal.code(), renewal.output());
    String shown = run("admin", "encryption", "--management", management).output();
    assertTrue(shown.contains("name first, fingerprint "), shown);
    assertTrue(shown.contains("reports"), shown);
    for (String each : secrets) {
      assertFalse(shown.contains(each), shown);
    }
  }

  private static Map<String, String> entries(Path file) throws IOException {
    Map<String, String> entries = new HashMap<>();
    try (ZipInputStream zip = new ZipInputStream(Files.newInputStream(file))) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        entries.put(entry.getName(), new String(zip.readAllBytes(), StandardCharsets.UTF_8));
      }
    }
    return entries;
  }

  /** In the middle of the object; returns the folder of the drive. */
  private Path flipAByte(List<Path> folders) throws IOException {
    ByteBuffer wanted = ByteBuffer.wrap(Arrays.copyOfRange(content, 8_192, 8_256));
    for (Path folder : folders) {
      try (Stream<Path> files = Files.list(folder.resolve("drive"))) {
        for (Path file : files.filter(each -> each.toString().contains("segment")).toList()) {
          byte[] all = Files.readAllBytes(file);
          for (int at = 0; at + 64 <= all.length; at += 64) {
            if (ByteBuffer.wrap(all, at, 64).equals(wanted)) {
              all[at] ^= 1;
              Files.write(file, all);
              return folder;
            }
          }
        }
      }
    }
    throw new AssertionError("the object's bytes are on no drive");
  }
}
