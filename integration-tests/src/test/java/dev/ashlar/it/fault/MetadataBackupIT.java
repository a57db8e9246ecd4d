package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.it.harness.Await;
import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.ClusterProcess;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.Launch;
import dev.ashlar.it.harness.LongTest;
import dev.ashlar.it.harness.Metrics;
import dev.ashlar.it.harness.NodeProcess;
import dev.ashlar.it.harness.ProcessClock;
import dev.ashlar.it.harness.RawConnection.Answer;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** All metadata is lost, and what comes back is what docs/operate/backup.md says. */
class MetadataBackupIT {
  private static final List<String> SHAPE =
      List.of("--nodes", "3", "--metadata", "3", "--gateways", "1", "--profile", "2+1");
  private static final Pattern TIME = Pattern.compile("--time (\\S+)");
  private static final int LENGTH = 300_000;
  private static final int PATCHED_AT = 150_000;
  private static final int PATCH_BYTES = 5_000;

  private final long seed = Seeds.seed("MetadataBackupIT");

  private byte[] content(String name) {
    return content(name, LENGTH);
  }

  private byte[] content(String name, int length) {
    return new Content(seed + name.hashCode(), length).bytes();
  }

  private static Launch.Ended admin(String... arguments) {
    List<String> all = new ArrayList<>(List.of("admin", "metadata"));
    all.addAll(List.of(arguments));
    return Launch.ended(log -> Launch.start(all, Map.of(), log));
  }

  private static String admitted(String... arguments) {
    Launch.Ended ended = admin(arguments);
    assertEquals(0, ended.code(), ended.output());
    return ended.output();
  }

  private static void refused(String why, String... arguments) {
    Launch.Ended ended = admin(arguments);
    assertNotEquals(0, ended.code(), ended.output());
    assertTrue(ended.output().contains(why), ended.output());
  }

  private void put(ChangeClient s3, String... keys) throws IOException {
    for (String key : keys) {
      assertEquals(200, s3.put(key, content(key)).status(), key);
    }
  }

  /** Whatever the object's history on the drives is, a complete answer has the old bytes. */
  private static void assertNeverWrong(ServerProcess server, String key, byte[] old) {
    try (ChangeClient s3 = new ChangeClient(server, "bucket")) {
      Answer answer = s3.send("GET", key, "", new byte[0], Map.of());
      if (answer.status() == 200) {
        assertArrayEquals(old, answer.body(), key);
      } else {
        assertEquals(503, answer.status(), key + ": " + answer);
      }
    } catch (IOException e) {
      // The answer ended before its end: what came was not taken for the object.
    }
  }

  private static byte[] range(ChangeClient s3, String key, int from, int length)
      throws IOException {
    String range = "bytes=" + from + "-" + (from + length - 1);
    Answer answer = s3.send("GET", key, "", new byte[0], Map.of("Range", range));
    assertEquals(206, answer.status(), key + ": " + answer);
    return answer.body();
  }

  @Test
  void aStoreInOneProcessComesBackAsItWasBackedUp() throws Exception {
    assumeTrue(ProcessClock.refusal().isEmpty(), ProcessClock.refusal());
    ServerSpec spec = ServerSpec.named("metadata-backup").withMetadataFolders(3);
    try (ServerProcess server = ServerProcess.start(spec)) {
      Path backup = server.root().resolve("metadata.backup");
      String management = server.management("").getAuthority();
      try (ChangeClient s3 = new ChangeClient(server, "bucket")) {
        assertEquals(200, s3.put("", new byte[0]).status());
        put(s3, "kept", "patched", "appended", "replaced", "deleted");
        admitted("backup", backup.toString(), "--management", management);
        assertEquals(
            "rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(backup)));
        refused("is left as it is", "backup", backup.toString(), "--management", management);
        changeAfterBackup(server, s3);
      }
      collectGarbage(server);
      server.stop();
      List<Path> folders = server.metadataFolders();
      String names = folders.stream().map(Path::toString).collect(Collectors.joining(","));
      refused("is not empty", "restore", backup.toString(), "--metadata", names);
      for (Path folder : folders) {
        ServerProcess.deleteRecursively(folder);
      }
      refuseDamaged(backup, names);
      admitted("restore", backup.toString(), "--metadata", names);
      for (Path folder : folders) {
        Path peer = folder.resolve("peer");
        assertEquals(
            "rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(peer)));
      }
      server.start();
      refused("in use by another process", "restore", backup.toString(), "--metadata", names);
      checkWhatIsLost(server);
      String accepted = admitted("accept-restore", "--management", management);
      assertTrue(accepted.contains("resumed"), accepted);
      Await.until(
          "what was written after the backup is removed",
          () -> server.log().contains("unfinished writes of earlier runs"));
      checkWhatIsLost(server);
      changeAfterRestore(server);
      server.kill();
      server.start();
      try (ChangeClient s3 = new ChangeClient(server, "bucket")) {
        assertArrayEquals(patched("kept", 7, 11_000), s3.get("kept"));
      }
    }
  }

  private void changeAfterBackup(ServerProcess server, ChangeClient s3) throws Exception {
    put(s3, "after");
    assertEquals(204, s3.send("DELETE", "deleted", "", new byte[0], Map.of()).status());
    assertEquals(200, s3.put("replaced", content("replacement")).status());
    Metrics before = Metrics.of(server);
    byte[] patch = content("patch", PATCH_BYTES);
    assertEquals(200, s3.patch("patched", PATCHED_AT, patch).status());
    byte[] more = content("more", 70_000);
    assertEquals(200, s3.append("PUT", "appended", LENGTH, more).status());
    Await.until(
        "both changes are part of the shards",
        () -> Metrics.of(server).since(before, "ashlar_blob_folds_total") >= 2);
  }

  /** A minute has passed then. */
  private static void collectGarbage(ServerProcess server) throws Exception {
    ProcessClock clock = server.useOwnClock();
    server.stop();
    clock.set(Duration.ofMinutes(10));
    server.start();
    Await.until(
        "what was deleted is gone",
        () -> Metrics.of(server).sum("ashlar_garbage_blobs_total") >= 2);
  }

  private static void refuseDamaged(Path backup, String folders) throws IOException {
    Path damaged = backup.resolveSibling("damaged.backup");
    byte[] whole = Files.readAllBytes(backup);
    Files.write(damaged, Arrays.copyOf(whole, whole.length - 1));
    refused("cut off", "restore", damaged.toString(), "--metadata", folders);
    whole[whole.length / 3] ^= 4;
    Files.write(damaged, whole);
    refused("damaged", "restore", damaged.toString(), "--metadata", folders);
  }

  private void checkWhatIsLost(ServerProcess server) throws IOException {
    try (ChangeClient s3 = new ChangeClient(server, "bucket")) {
      assertArrayEquals(content("kept"), s3.get("kept"));
      assertArrayEquals(content("appended"), s3.get("appended"));
      assertEquals(404, s3.head("after").status());
      for (String gone : List.of("deleted", "replaced")) {
        Answer answer = s3.send("GET", gone, "", new byte[0], Map.of());
        assertEquals(503, answer.status(), gone + ": " + answer);
      }
      int unit = 64 << 10;
      assertArrayEquals(Arrays.copyOf(content("patched"), unit), range(s3, "patched", 0, unit));
    }
    assertNeverWrong(server, "patched", content("patched"));
  }

  private byte[] patched(String key, int... offsets) {
    byte[] bytes = content(key);
    for (int offset : offsets) {
      byte[] patch = content("fresh" + offset, PATCH_BYTES);
      System.arraycopy(patch, 0, bytes, offset, patch.length);
    }
    return bytes;
  }

  /** What is written now has ids that nothing on the drives has. */
  private void changeAfterRestore(ServerProcess server) throws Exception {
    try (ChangeClient s3 = new ChangeClient(server, "bucket")) {
      put(s3, "after", "fresh");
      assertArrayEquals(content("after"), s3.get("after"));
      for (int offset : new int[] {7, 11_000}) {
        byte[] patch = content("fresh" + offset, PATCH_BYTES);
        assertEquals(200, s3.patch("kept", offset, patch).status());
        assertEquals(200, s3.patch("patched", offset, patch).status());
        assertEquals(200, s3.patch("appended", offset, patch).status());
      }
      byte[] more = content("again", 5_000);
      assertEquals(200, s3.append("PUT", "appended", LENGTH, more).status());
      byte[] longer = Arrays.copyOf(patched("appended", 7, 11_000), LENGTH + more.length);
      System.arraycopy(more, 0, longer, LENGTH, more.length);
      Await.until(
          "the changes are part of the shards",
          () -> Metrics.of(server).sum("ashlar_blob_unfolded_changes") == 0);
      assertArrayEquals(patched("kept", 7, 11_000), s3.get("kept"));
      assertArrayEquals(longer, s3.get("appended"));
      assertArrayEquals(
          Arrays.copyOf(patched("patched", 7, 11_000), 50_000), range(s3, "patched", 0, 50_000));
      for (String gone : List.of("deleted", "replaced", "patched")) {
        assertEquals(204, s3.send("DELETE", gone, "", new byte[0], Map.of()).status());
        assertEquals(404, s3.head(gone).status());
        put(s3, gone);
        assertArrayEquals(content(gone), s3.get(gone));
      }
    }
  }

  @LongTest
  void aClusterComesBackWithThreeRestoredPeers() throws Exception {
    try (ClusterProcess cluster = ClusterProcess.start("metadata-backup", SHAPE)) {
      Path backup = cluster.nodes().folder().resolve("metadata.backup");
      List<NodeProcess> peers = cluster.nodes().of("metadata");
      String management =
          peers.stream()
              .map(peer -> peer.healthPage().getAuthority())
              .collect(Collectors.joining(","));
      String gateway = cluster.nodes().node("gateway-1").healthPage().getAuthority();
      try (ChangeClient s3 = cluster.nodes().client(1, "bucket", Duration.ofSeconds(60))) {
        assertEquals(200, s3.put("", new byte[0]).status());
        put(s3, "before");
        refused(
            "this process has no metadata", "backup", backup.toString(), "--management", gateway);
        admitted("backup", backup.toString(), "--management", management);
        put(s3, "after");
      }
      cluster.stop();
      List<Path> folders = peers.stream().map(peer -> peer.folder().resolve("metadata")).toList();
      for (Path folder : folders) {
        ServerProcess.deleteRecursively(folder);
      }
      String first =
          admitted("restore", backup.toString(), "--metadata", folders.getFirst().toString());
      Matcher time = TIME.matcher(first);
      assertTrue(time.find(), first);
      for (int peer : IntStream.range(1, folders.size()).toArray()) {
        String folder = folders.get(peer).toString();
        admitted("restore", backup.toString(), "--metadata", folder, "--time", time.group(1));
      }
      cluster.start();
      try (ChangeClient s3 = cluster.nodes().client(1, "bucket", Duration.ofSeconds(60))) {
        assertArrayEquals(content("before"), s3.get("before"));
        assertEquals(404, s3.head("after").status());
        put(s3, "fresh");
        admitted("accept-restore", "--management", gateway);
        assertArrayEquals(content("before"), s3.get("before"));
        assertArrayEquals(content("fresh"), s3.get("fresh"));
        cluster.nodes().leader().kill();
        put(s3, "with-two-of-three");
      }
      String status = cluster.nodes().node("gateway-1").admin("status").orElseThrow();
      assertFalse(status.contains("\"restored\":true"), status);
    }
  }
}
