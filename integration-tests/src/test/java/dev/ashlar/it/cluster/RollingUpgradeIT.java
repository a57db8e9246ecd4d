package dev.ashlar.it.cluster;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Await;
import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.ClusterNodes;
import dev.ashlar.it.harness.ClusterProcess;
import dev.ashlar.it.harness.Launch;
import dev.ashlar.it.harness.NodeProcess;
import dev.ashlar.it.harness.RawConnection.Answer;
import dev.ashlar.it.harness.Seeds;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * A cluster of an older build is upgraded to this one, process by process, while clients put, get,
 * append and delete: none that is at a gateway that stays is ever refused, nothing is lost, what
 * the older version of metadata does not have is refused until the last peer is upgraded, and a
 * gateway of the older build does not outlive the first added profile. {@code
 * -Dashlar.upgrade.from} is the folder of the older build's sources, in which Maven has built it.
 */
@EnabledIfSystemProperty(named = "ashlar.upgrade.from", matches = ".+")
class RollingUpgradeIT {
  private static final Path OLDER = Path.of(System.getProperty("ashlar.upgrade.from", ""));
  private static final List<String> SHAPE =
      List.of("--nodes", "4", "--metadata", "3", "--gateways", "2", "--profile", "2+2");
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final String UP = "\"status\":\"UP\"";
  private static final int OBJECTS = 20;

  private static final String ADD_PROFILE = "profile-add?target=HOT&by=1%2B2";
  private static final int LATEST = 9;
  private static final byte[] ENABLED =
      "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
          .getBytes(StandardCharsets.UTF_8);

  private static final byte[] BODY = "sealed".getBytes(StandardCharsets.UTF_8);
  private static final Map<String, String> CUSTOMER_KEY =
      Map.of(
          "x-amz-server-side-encryption-customer-algorithm", "AES256",
          "x-amz-server-side-encryption-customer-key",
              "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
          "x-amz-server-side-encryption-customer-key-MD5", "tP/LI3N87DFaSk0aoqYgzg==");

  private final long seed = Seeds.seed("RollingUpgradeIT");

  @Test
  void processByProcessUnderLoad() throws Exception {
    Path launcher = OLDER.resolve(Launch.launcher().getFileName());
    try (ClusterProcess cluster = ClusterProcess.start("upgrade", SHAPE, launcher)) {
      ClusterNodes nodes = cluster.nodes();
      AdminPages admin = new AdminPages(nodes);
      admin.awaitWhole();
      KnownObjects objects = new KnownObjects(nodes, "upgraded", seed);
      try (ChangeClient s3 = objects.client()) {
        objects.make(s3, OBJECTS);
      }
      int before = version(nodes);
      assertTrue(before < LATEST, () -> "metadata has version " + before + " already");
      List<NodeProcess> peers = nodes.of("metadata");
      objects.underLoad(
          List.of(1, 2), () -> upgradeMetadata(nodes, admin, before, peers.subList(0, 2)));
      objects.underLoad(List.of(1, 1), () -> aNewerGatewayDoesNotGoAhead(nodes, peers.getLast()));
      objects.underLoad(
          List.of(1, 2), () -> upgradeMetadata(nodes, admin, before, peers.subList(2, 3)));
      admin.await("metadata", page -> version(page) == LATEST, "version " + LATEST);
      objects.underLoad(List.of(1, 2), () -> upgradeStorage(nodes));
      objects.underLoad(List.of(1, 1), () -> upgradeGateway(nodes, 2));
      objects.underLoad(List.of(2, 2), () -> anOlderGatewayDoesNotReturn(nodes));
      try (ChangeClient s3 = objects.client()) {
        objects.check(s3);
      }
      versionsWork(nodes);
      classesWork(nodes);
      encryptionWorks(nodes);
      admin.awaitWhole();
      for (NodeProcess node : nodes.byName().values()) {
        assertFalse(
            node.said().stream().anyMatch(RollingUpgradeIT::isFailure), () -> node + " failed");
      }
    }
  }

  private static void upgradeMetadata(
      ClusterNodes nodes, AdminPages admin, int before, List<NodeProcess> peers) throws Exception {
    for (NodeProcess peer : peers) {
      assertEquals(before, version(nodes), "while " + peer + " is of the older build");
      refusedOrDone(nodes, 1, "mixed-" + peer.name());
      restart(peer);
      peer.awaitHealth(page -> page.contains("\"takesPart\":true"));
      admin.await("metadata", page -> page.contains("\"tolerates\":1"), "a whole quorum");
    }
  }

  /** As somebody does who upgrades in another order; it may not be asked of an older leader. */
  private static void aNewerGatewayDoesNotGoAhead(ClusterNodes nodes, NodeProcess older)
      throws IOException {
    if (!nodes.leader().name().equals(older.name())) {
      upgradeGateway(nodes, 2);
      refusedOrDone(nodes, 2, "newer-gateway");
    }
  }

  private static void upgradeStorage(ClusterNodes nodes) {
    for (NodeProcess storage : nodes.of("storage")) {
      restart(storage);
      for (NodeProcess gateway : nodes.of("gateway")) {
        gateway.awaitHealth(page -> page.contains(UP));
      }
      nodes.awaitNothingOwed();
    }
  }

  private static void upgradeGateway(ClusterNodes nodes, int number) {
    NodeProcess gateway = nodes.node("gateway-" + number);
    restart(gateway);
    gateway.awaitHealth(page -> page.contains(UP));
  }

  /**
   * It would take encrypted bytes for plain ones. Nothing is encrypted while it is there; it has
   * been silent while something was, and goes on then.
   */
  private static void anOlderGatewayDoesNotReturn(ClusterNodes nodes) throws Exception {
    NodeProcess older = nodes.node("gateway-1");
    try (ChangeClient s3 = nodes.client(2, "encrypted", TIMEOUT)) {
      assertEquals(200, s3.put("", new byte[0]).status());
      Answer refused = s3.send("PUT", "k", "", BODY, CUSTOMER_KEY);
      assertEquals(503, refused.status(), refused::toString);
      assertEquals(404, s3.send("GET", "k", "", new byte[0], Map.of()).status());
      older.suspend();
      try {
        Await.until(
            "gateway-1 counts as down",
            () -> s3.send("PUT", "k", "", BODY, CUSTOMER_KEY).status() == 200);
      } finally {
        older.resume();
      }
    }
    older.awaitEnd();
    older.start();
    older.awaitHealth(page -> page.contains(UP));
  }

  /** What a gateway that may not go on says is none. */
  private static boolean isFailure(String line) {
    return line.contains(" ERROR ") && !line.contains("The session of node gateway-1 has ended");
  }

  /** With this build. */
  private static void restart(NodeProcess node) {
    node.stop();
    node.start();
  }

  private static int version(ClusterNodes nodes) {
    return version(nodes.node("gateway-1").admin("metadata").orElse(""));
  }

  private static int version(String page) {
    return page.contains("\"version\":")
        ? Integer.parseInt(page.replaceAll("(?s).*\"version\":(\\d+).*", "$1"))
        : 0;
  }

  /** What an older build or version of metadata does not have is refused, and does nothing. */
  private static void refusedOrDone(ClusterNodes nodes, int gateway, String bucket)
      throws IOException {
    try (ChangeClient s3 = nodes.client(gateway, bucket, TIMEOUT)) {
      assertEquals(200, s3.put("", new byte[0]).status());
      Answer answer = s3.send("PUT", "", "versioning=", ENABLED, Map.of());
      requireRefusedOr(200, answer);
      boolean isEnabled =
          s3.send("GET", "", "versioning=", new byte[0], Map.of()).text().contains("Enabled");
      assertEquals(answer.status() == 200, isEnabled, answer::toString);
    }
    try (ChangeClient s3 = nodes.client(gateway, bucket + "-locks", TIMEOUT)) {
      Map<String, String> lock = Map.of("x-amz-bucket-object-lock-enabled", "true");
      Answer answer = s3.send("PUT", "", "", new byte[0], lock);
      requireRefusedOr(200, answer);
      Answer state = s3.send("GET", "", "object-lock=", new byte[0], Map.of());
      assertEquals(answer.status() == 200, state.text().contains("Enabled"), state::toString);
    }
  }

  private static void encryptionWorks(ClusterNodes nodes) throws IOException {
    try (ChangeClient s3 = nodes.client(1, "encrypted", TIMEOUT);
        ChangeClient other = nodes.client(2, "encrypted", TIMEOUT)) {
      assertArrayEquals(BODY, s3.send("GET", "k", "", new byte[0], CUSTOMER_KEY).body());
      assertArrayEquals(BODY, other.send("GET", "k", "", new byte[0], CUSTOMER_KEY).body());
      assertEquals(400, other.send("GET", "k", "", new byte[0], Map.of()).status());
    }
  }

  private static void requireRefusedOr(int status, Answer answer) {
    assertTrue(List.of(status, 501, 503).contains(answer.status()), () -> "not refused: " + answer);
  }

  private static void classesWork(ClusterNodes nodes) throws Exception {
    HttpResponse<String> added = new AdminPages(nodes, 2).ask(ADD_PROFILE);
    assertEquals(200, added.statusCode(), added::body);
    byte[] body = "hot".getBytes(StandardCharsets.UTF_8);
    Map<String, String> hot = Map.of("x-amz-storage-class", "HOT");
    try (ChangeClient s3 = nodes.client(1, "classes", TIMEOUT);
        ChangeClient other = nodes.client(2, "classes", TIMEOUT)) {
      assertEquals(200, s3.put("", new byte[0]).status());
      assertEquals(200, s3.send("PUT", "k", "", body, hot).status());
      assertArrayEquals(body, other.get("k"));
      assertEquals("HOT", other.head("k").headers().get("x-amz-storage-class"));
    }
  }

  private static void versionsWork(ClusterNodes nodes) throws IOException {
    byte[] one = "one".getBytes(StandardCharsets.UTF_8);
    byte[] two = "two".getBytes(StandardCharsets.UTF_8);
    try (ChangeClient s3 = nodes.client(1, "after-upgrade", TIMEOUT);
        ChangeClient other = nodes.client(2, "after-upgrade", TIMEOUT)) {
      assertEquals(200, s3.put("", new byte[0]).status());
      assertEquals(200, s3.send("PUT", "", "versioning=", ENABLED, Map.of()).status());
      String first = s3.put("k", one).headers().get("x-amz-version-id");
      assertEquals(200, other.put("k", two).status());
      assertArrayEquals(two, s3.get("k"));
      Answer older = other.send("GET", "k", "versionId=" + first, new byte[0], Map.of());
      assertArrayEquals(one, older.body(), older::toString);
      Answer marker = other.send("DELETE", "k", "", new byte[0], Map.of());
      assertEquals("true", marker.headers().get("x-amz-delete-marker"));
      assertEquals(404, s3.send("GET", "k", "", new byte[0], Map.of()).status());
    }
  }
}
