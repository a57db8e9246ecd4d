package dev.ashlar.it.cluster;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
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
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A metadata process is lost with its disk, and another one takes its place. */
class MetadataPeersIT {
  private static final List<String> SHAPE =
      List.of("--nodes", "3", "--metadata", "3", "--gateways", "1", "--profile", "2+1");
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final Duration PAUSE = Duration.ofMillis(200);
  private static final Duration THINKING = Duration.ofMillis(50);
  private static final int TRIES = 100;

  private final long seed = Seeds.seed("MetadataPeersIT");
  private final Map<String, byte[]> acknowledged = new ConcurrentHashMap<>();

  @Test
  void aLostPeerIsReplacedAndThenAnotherMayBeLost() throws Exception {
    try (ClusterProcess cluster = ClusterProcess.start("metadata-peers", SHAPE)) {
      ClusterNodes nodes = cluster.nodes();
      try (ChangeClient s3 = nodes.client(1, "bucket", TIMEOUT)) {
        assertEquals(200, s3.put("", new byte[0]).status());
        for (int i = 0; i < 20; i++) {
          put(s3, "before-" + i);
        }
        NodeProcess lost = nodes.leader();
        Process added = underLoad(nodes, () -> replaceLost(cluster, lost));
        try {
          NodeProcess next = anOldOneBut(nodes, lost);
          next.kill();
          put(s3, "with-two-of-three");
          check(s3);
          restartedOnesFindTheGroupByTheOneThatTheyKnow(nodes);
          try (ChangeClient again = nodes.client(1, "bucket", TIMEOUT)) {
            check(again);
            put(again, "last");
            check(again);
          }
        } finally {
          added.destroyForcibly();
          added.onExit().join();
        }
      }
    }
  }

  private Process replaceLost(ClusterProcess cluster, NodeProcess lost) throws Exception {
    ClusterNodes nodes = cluster.nodes();
    lost.kill();
    ServerProcess.deleteRecursively(lost.folder().resolve("metadata"));
    NodeProcess other = anOldOneBut(nodes, lost);
    Process added = join(cluster, other);
    String address = cluster.addedAddress();
    String gone = property(lost, "cluster-listen");
    Launch.Ended refused = admin(nodes, "remove", property(other, "cluster-listen"));
    assertNotEquals(0, refused.code(), refused.output());
    assertTrue(refused.output().contains("no majority"), refused.output());
    Launch.Ended replaced = admin(nodes, "replace", gone, address);
    for (int i = 0; i < TRIES && replaced.output().contains("--metadata-join"); i++) {
      ServerProcess.pause(PAUSE);
      replaced = admin(nodes, "replace", gone, address);
    }
    assertEquals(0, replaced.code(), replaced.output());
    Launch.Ended listed = admin(nodes);
    assertEquals(0, listed.code(), listed.output());
    assertTrue(listed.output().contains(address), listed.output());
    assertTrue(listed.output().contains("Peers that may be lost: 1"), listed.output());
    return added;
  }

  private static Process join(ClusterProcess cluster, NodeProcess like) throws IOException {
    Path folder = cluster.nodes().folder();
    return cluster.add(
        like,
        "metadata-9",
        Map.of("ASHLAR_HEAP", "128m"),
        List.of("--metadata", folder.resolve("added").toString(), "--metadata-join"));
  }

  private static NodeProcess anOldOneBut(ClusterNodes nodes, NodeProcess lost) {
    return nodes.of("metadata").stream()
        .filter(node -> !node.name().equals(lost.name()))
        .findFirst()
        .orElseThrow();
  }

  private static void restartedOnesFindTheGroupByTheOneThatTheyKnow(ClusterNodes nodes) {
    for (NodeProcess node : List.of(nodes.node("storage-1"), nodes.node("gateway-1"))) {
      node.kill();
      node.start();
    }
    nodes.node("gateway-1").awaitHealth(page -> page.contains("\"status\":\"UP\""));
  }

  private static Launch.Ended admin(ClusterNodes nodes, String... change) {
    List<String> arguments = new ArrayList<>(List.of("admin", "metadata"));
    arguments.addAll(List.of(change));
    String management = nodes.node("gateway-1").healthPage().getAuthority();
    arguments.addAll(List.of("--management", management));
    return Launch.ended(log -> Launch.start(arguments, Map.of(), log));
  }

  private static String property(NodeProcess node, String name) throws IOException {
    Properties properties = new Properties();
    try (var reader = Files.newBufferedReader(node.config())) {
      properties.load(reader);
    }
    return properties.getProperty(name);
  }

  private interface Work {
    Process run() throws Exception;
  }

  /** While this is done somebody writes and reads; an election may cost a request its time. */
  private Process underLoad(ClusterNodes nodes, Work work) throws Exception {
    AtomicBoolean isDone = new AtomicBoolean();
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    Thread client =
        Thread.ofPlatform()
            .start(
                () -> {
                  try (ChangeClient s3 = nodes.client(1, "bucket", TIMEOUT)) {
                    for (int i = 0; !isDone.get(); i++) {
                      put(s3, "during-" + i);
                      check(s3, "before-" + i % 20);
                      ServerProcess.pause(THINKING);
                    }
                  } catch (IOException | AssertionError e) {
                    failure.set(e);
                  }
                });
    Process begun;
    try {
      begun = work.run();
    } finally {
      isDone.set(true);
      client.join();
    }
    if (failure.get() != null) {
      begun.destroyForcibly();
      throw new AssertionError("seed " + seed, failure.get());
    }
    return begun;
  }

  /** Tries again for as long as clients would; what was refused was not acknowledged. */
  private void put(ChangeClient s3, String key) throws IOException {
    byte[] body =
        new Content(seed + key.hashCode(), 1 + Math.floorMod(key.hashCode(), 100_000)).bytes();
    Answer answer = s3.put(key, body);
    for (int tries = 1; answer.status() == 503 && tries < 10; tries++) {
      answer = s3.put(key, body);
    }
    assertEquals(200, answer.status(), answer.text() + ", seed " + seed);
    acknowledged.put(key, body);
  }

  private void check(ChangeClient s3) throws IOException {
    assertTrue(acknowledged.size() >= 20);
    for (String key : acknowledged.keySet()) {
      check(s3, key);
    }
  }

  private void check(ChangeClient s3, String key) throws IOException {
    Answer answer = s3.send("GET", key, "", new byte[0], Map.of());
    for (int tries = 1; answer.status() == 503 && tries < 10; tries++) {
      answer = s3.send("GET", key, "", new byte[0], Map.of());
    }
    assertArrayEquals(acknowledged.get(key), answer.body(), () -> key + ", seed " + seed);
  }
}
