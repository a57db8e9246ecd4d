package dev.ashlar.server.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.server.config.MasterKeyFile;
import dev.ashlar.server.config.RootCredential;
import dev.ashlar.server.config.ServerRole;
import dev.ashlar.transport.tls.CertificateFiles;
import dev.ashlar.transport.tls.TlsFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClusterPlanTest {
  @TempDir private Path folder;

  private static ClusterPlan.Wish wish(@Nullable Integer nodes, @Nullable String profile) {
    return new ClusterPlan.Wish(nodes, null, null, profile, null);
  }

  @Test
  void theNextStartGoesOnWithWhatThereIs() throws IOException {
    ClusterPlan first = ClusterPlan.of(folder, wish(7, "2+2"));
    assertEquals(first, ClusterPlan.of(folder, wish(null, null)));
    assertEquals(first, ClusterPlan.of(folder, wish(7, null)));
    String said =
        assertThrows(IllegalArgumentException.class, () -> ClusterPlan.of(folder, wish(6, null)))
            .toString();
    assertTrue(said.contains("was made with --nodes 7, not 6"), said);
  }

  @Test
  void everyProcessHasPortsAndFilesOfItsOwn() throws IOException {
    ClusterPlan plan = ClusterPlan.of(folder, new ClusterPlan.Wish(6, 3, 2, null, null));
    List<ClusterPlan.Member> all = plan.processes();
    assertEquals(11, all.size());
    assertEquals(11, all.stream().map(ClusterPlan.Member::clusterListen).distinct().count());
    assertEquals(11, all.stream().map(ClusterPlan.Member::management).distinct().count());
    RootCredential credential = plan.prepare(null, List.of());
    assertEquals(credential.secretKey(), plan.prepare(null, List.of()).secretKey());
    for (String secret : List.of("secret", "credentials", "master-key")) {
      assertEquals(
          "rw-------",
          PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve(secret))));
    }
    String config = Files.readString(folder.resolve("storage-6").resolve("ashlar.properties"));
    assertTrue(config.contains("node=storage-6"), config);
    assertTrue(config.contains("expect-drives=6"), config);
    assertFalse(config.contains("tls"), config);
    plan.prepare(
        new TlsFiles(Path.of("/a.crt"), Path.of("/a.key"), Path.of("/ca.crt")),
        List.of(
            new CertificateFiles(Path.of("/s.crt"), Path.of("/s.key")),
            new CertificateFiles(Path.of("/t.crt"), Path.of("/t.key"))));
    for (ClusterPlan.Member each : all) {
      String withTls = Files.readString(each.config());
      assertTrue(withTls.contains("cluster-tls-cert=/a.crt"), withTls);
      assertTrue(withTls.contains("cluster-tls-key=/a.key"), withTls);
      assertTrue(withTls.contains("cluster-tls-ca=/ca.crt"), withTls);
      assertTrue(withTls.contains("\ntls-cert=/s.crt,/t.crt"), withTls);
      assertTrue(withTls.contains("\ntls-key=/s.key,/t.key"), withTls);
    }
  }

  @Test
  void allGatewaysHaveTheMasterKeyOfTheFolder() throws IOException {
    ClusterPlan plan = ClusterPlan.of(folder, new ClusterPlan.Wish(6, 3, 2, null, null));
    plan.prepare(null, List.of());
    Path file = folder.resolve("master-key");
    Map<String, byte[]> made = MasterKeyFile.read(file);
    assertEquals(1, made.size());
    for (ClusterPlan.Member each : plan.processes()) {
      boolean isGateway = each.role() == ServerRole.GATEWAY;
      String config = Files.readString(each.config());
      assertEquals(isGateway, config.contains("master-key-file=" + file), config);
    }
    plan.prepare(null, List.of());
    assertEquals(made.keySet(), MasterKeyFile.read(file).keySet(), "the next start has it again");
  }

  /** Objects and secrets of access keys may be encrypted with it. */
  @Test
  void aLostMasterKeyIsNotReplaced() throws IOException {
    ClusterPlan plan = ClusterPlan.of(folder, wish(6, null));
    plan.prepare(null, List.of());
    Path file = folder.resolve("master-key");
    String key = Files.readString(file);
    Files.delete(file);
    String said =
        assertThrows(IllegalArgumentException.class, () -> plan.prepare(null, List.of()))
            .toString();
    assertTrue(said.contains(file + " is not there any more"), said);
    assertTrue(said.contains("secrets of access keys"), said);
    assertFalse(Files.exists(file));
    Files.writeString(file, key);
    plan.prepare(null, List.of());
  }

  @Test
  void whatCannotBeIsRefused() {
    for (ClusterPlan.Wish wish :
        List.of(
            new ClusterPlan.Wish(6, 2, null, null, null),
            new ClusterPlan.Wish(0, 3, null, null, null),
            new ClusterPlan.Wish(200, 3, null, null, null),
            new ClusterPlan.Wish(6, 3, null, null, 65_400))) {
      assertThrows(IllegalArgumentException.class, () -> ClusterPlan.of(folder, wish));
    }
  }
}
