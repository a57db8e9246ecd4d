package dev.ashlar.it.cluster;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.ClusterNodes;
import dev.ashlar.it.harness.ClusterProcess;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.Launch;
import dev.ashlar.it.harness.NodeProcess;
import dev.ashlar.it.harness.RawConnection.Answer;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A cluster, whose nodes go and come back one after the other. */
@ExtendWith(SharedCluster.class)
@Execution(ExecutionMode.SAME_THREAD)
class ClusterIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private final long seed = Seeds.seed("ClusterIT");
  private final Map<String, byte[]> expected = new TreeMap<>();
  private int written;

  /** Each test has a cluster of its own. */
  @BeforeEach
  void forget() {
    expected.clear();
  }

  @Test
  void nodesGoAndComeBack(ClusterProcess cluster) throws Exception {
    try (ChangeClient one = client(cluster, 1);
        ChangeClient other = client(cluster, 2)) {
      drivesThatAreNotServedYetAreNoReasonToWarn(cluster.nodes());
      assertEquals(200, one.put("", new byte[0]).status());
      writeAndChange(one);
      check(other);
    }
    aStorageNodeIsLostAndComesBack(cluster);
    try (ChangeClient one = client(cluster, 1);
        ChangeClient other = client(cluster, 2)) {
      theMetadataLeaderIsLost(cluster.nodes(), one, other);
    }
    whoDoesNotBelongToItIsRefused(cluster);
  }

  private static void drivesThatAreNotServedYetAreNoReasonToWarn(ClusterNodes cluster) {
    for (NodeProcess node : cluster.byName().values()) {
      assertFalse(
          node.said().stream()
              .anyMatch(line -> line.contains(" WARN ") && line.contains("no drives are here")),
          node::name);
    }
  }

  private static ChangeClient client(ClusterProcess cluster, int gateway) throws IOException {
    return cluster.nodes().client(gateway, "bucket", TIMEOUT);
  }

  @Test
  @EnabledIfSystemProperty(named = "ashlar.cluster.restart", matches = "true")
  void aSecondStartGoesOnWithTheData() throws Exception {
    try (ClusterProcess cluster = ClusterProcess.start("cluster-again", SharedCluster.SHAPE)) {
      try (ChangeClient one = client(cluster, 1)) {
        assertEquals(200, one.put("", new byte[0]).status());
        writeAndChange(one);
      }
      cluster.killCommand();
      cluster.start();
      try (ChangeClient one = client(cluster, 1)) {
        check(one);
        writeAndChange(one);
        check(one);
      }
      refused(cluster, "cluster", "--cluster", "another");
      refused(cluster, "--profile 2+2", "--profile", "3+1");
    }
  }

  private void writeAndChange(ChangeClient s3) throws IOException {
    int first = ++written;
    put(s3, "small-" + first, 5_000);
    put(s3, "large-" + first, 2_500_000);
    putEncrypted(s3, "sealed-" + first);
    String key = "changed-" + first;
    put(s3, key, 100_000);
    byte[] more = new Content(seed + first, 30_000).bytes();
    require(200, s3.append("POST", key, 100_000, more), key);
    byte[] grown = Arrays.copyOf(expected.get(key), 130_000);
    System.arraycopy(more, 0, grown, 100_000, more.length);
    require(200, s3.patch(key, 50_000, more), key);
    System.arraycopy(more, 0, grown, 50_000, more.length);
    expected.put(key, grown);
  }

  private void put(ChangeClient s3, String key, int length) throws IOException {
    byte[] body = new Content(seed + key.hashCode(), length).bytes();
    require(200, s3.put(key, body), key);
    expected.put(key, body);
  }

  /** With the master key of the cluster's folder, which all gateways have. */
  private void putEncrypted(ChangeClient s3, String key) throws IOException {
    byte[] body = new Content(seed + key.hashCode(), 100_000).bytes();
    Map<String, String> sse = Map.of("x-amz-server-side-encryption", "AES256");
    require(200, s3.send("PUT", key, "", body, sse), key);
    expected.put(key, body);
  }

  /** On a busy machine an election may take longer than a request waits; then clients try again. */
  private void putUntilTaken(ClusterNodes cluster, ChangeClient s3, String key) throws IOException {
    byte[] body = new Content(seed, 5_000).bytes();
    Answer answer = s3.put(key, body);
    for (int tries = 1; answer.status() == 503 && tries < 10; tries++) {
      answer = s3.put(key, body);
    }
    if (answer.status() != 200) {
      throw cluster.failed(key + ": " + answer.text());
    }
    expected.put(key, body);
  }

  private void require(int status, Answer answer, String key) {
    assertEquals(status, answer.status(), () -> key + ": " + answer.text() + ", seed " + seed);
  }

  private void check(ChangeClient s3) throws IOException {
    for (Map.Entry<String, byte[]> object : expected.entrySet()) {
      String key = object.getKey();
      assertArrayEquals(object.getValue(), s3.get(key), () -> key + ", seed " + seed);
    }
    String listed = s3.send("GET", "", "list-type=2", new byte[0], Map.of()).text();
    expected.keySet().forEach(key -> assertTrue(listed.contains("<Key>" + key + "<"), listed));
  }

  private void aStorageNodeIsLostAndComesBack(ClusterProcess cluster) throws IOException {
    ClusterNodes nodes = cluster.nodes();
    NodeProcess lost = nodes.node("storage-1");
    lost.kill();
    try (ChangeClient one = client(cluster, 1);
        ChangeClient other = client(cluster, 2)) {
      check(one);
      writeAndChange(one);
      check(other);
    }
    ServerProcess.deleteRecursively(lost.folder().resolve("drive"));
    startAgain(nodes, lost);
    // All that it had, and all that was written without it, is on its new drive before long. On a
    // busy machine a connection would meanwhile be closed as idle.
    nodes.awaitNothingOwed();
    NodeProcess next = nodes.node("storage-2");
    try (ChangeClient one = client(cluster, 1);
        ChangeClient other = client(cluster, 2)) {
      writeAndChange(one);
      next.kill();
      check(other);
    }
    startAgain(nodes, next);
  }

  private static void startAgain(ClusterNodes cluster, NodeProcess node) {
    node.start();
    for (NodeProcess gateway : cluster.of("gateway")) {
      gateway.awaitHealth(page -> page.contains("\"status\":\"UP\""));
    }
  }

  private void theMetadataLeaderIsLost(ClusterNodes cluster, ChangeClient one, ChangeClient other)
      throws IOException {
    NodeProcess leader = cluster.leader();
    leader.kill();
    putUntilTaken(cluster, one, "while-electing");
    writeAndChange(one);
    check(other);
    leader.start();
    leader.awaitHealth(page -> page.contains("\"takesPart\":true"));
  }

  private void whoDoesNotBelongToItIsRefused(ClusterProcess cluster) throws IOException {
    Path secret =
        Files.writeString(cluster.nodes().folder().resolve("other"), "another secret than theirs");
    refused(cluster, "secret", "--cluster-secret-file", secret.toString());
  }

  private void refused(ClusterProcess cluster, String why, String option, String value) {
    Path data = cluster.nodes().folder().resolve("refused");
    Launch.Ended ended =
        Launch.ended(
            log ->
                Launch.start(
                    List.of(
                        "server",
                        "--config",
                        cluster.nodes().node("storage-1").config().toString(),
                        "--node",
                        "storage-9",
                        "--cluster-listen",
                        "127.0.0.1:" + (cluster.port() + 290),
                        "--management-listen",
                        "127.0.0.1:0",
                        "--data",
                        data.toString(),
                        option,
                        value),
                    Map.of(),
                    log));
    assertNotEquals(0, ended.code());
    assertTrue(ended.output().contains(why), ended.output());
    assertFalse(cluster.nodes().node("gateway-1").health().orElse("").contains("storage-9"));
  }
}
