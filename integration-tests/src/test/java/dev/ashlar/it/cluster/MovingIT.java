package dev.ashlar.it.cluster;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.ClusterProcess;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.Launch;
import dev.ashlar.it.harness.NodeProcess;
import dev.ashlar.it.harness.RawConnection.Answer;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Nodes are drained, added and taken out while a client writes and reads. */
class MovingIT {
  private static final List<String> SHAPE =
      List.of("--nodes", "4", "--metadata", "1", "--gateways", "1", "--profile", "2+1");
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final Duration PAUSE = Duration.ofMillis(200);
  private static final int LOOKS = 600;

  private final long seed = Seeds.seed("MovingIT");
  private final HttpClient http = HttpClient.newHttpClient();
  private final Map<String, byte[]> expected = new ConcurrentHashMap<>();

  @Test
  void noObjectIsWithoutAShardBecauseItMoves() throws Exception {
    try (ClusterProcess cluster = ClusterProcess.start("moving", SHAPE)) {
      NodeProcess gateway = cluster.nodes().node("gateway-1");
      takesOutSoon(gateway);
      try (ChangeClient s3 = cluster.nodes().client(1, "bucket", TIMEOUT)) {
        assertEquals(200, s3.put("", new byte[0]).status());
        for (int i = 0; i < 20; i++) {
          put(s3, "before-" + i, 1 + i * 20_000);
        }
        underLoad(cluster, () -> drain(cluster, "storage-1"));
        cluster.nodes().node("storage-1").kill();
        check(s3);
        Process added = add(cluster);
        try {
          await(cluster, "drives", page -> slots(page, "storage-9") > 0, "a share for the new one");
          await(cluster, "rebalance", MovingIT::isDone, "the new node's share");
          cluster.nodes().node("storage-2").kill();
          check(s3);
          await(cluster, "drives", page -> standing(page, "storage-2").equals("out"), "out");
          cluster.nodes().awaitNothingOwed();
          cluster.nodes().node("storage-3").kill();
          check(s3);
        } finally {
          added.destroyForcibly();
        }
      }
    }
  }

  private static void takesOutSoon(NodeProcess gateway) throws IOException {
    gateway.kill();
    Files.writeString(gateway.config(), "\nout-after=2\n", StandardOpenOption.APPEND);
    gateway.start();
    gateway.awaitHealth(page -> page.contains("\"status\":\"UP\""));
  }

  private interface Work {
    void run() throws Exception;
  }

  /** While this is done somebody writes and reads, and is never refused. */
  private void underLoad(ClusterProcess cluster, Work work) throws Exception {
    AtomicBoolean isDone = new AtomicBoolean();
    Map<String, Throwable> failures = new TreeMap<>();
    Thread client =
        Thread.ofPlatform()
            .start(
                () -> {
                  try (ChangeClient s3 = cluster.nodes().client(1, "bucket", TIMEOUT)) {
                    for (int i = 0; !isDone.get(); i++) {
                      put(s3, "during-" + i % 50, 1 + i % 7 * 30_000);
                      check(s3, "before-" + i % 20);
                      append(s3, "during-" + i % 50);
                    }
                  } catch (IOException | AssertionError e) {
                    failures.put("load", e);
                  }
                });
    try {
      work.run();
    } finally {
      isDone.set(true);
      client.join();
    }
    if (!failures.isEmpty()) {
      throw new AssertionError("seed " + seed, failures.get("load"));
    }
  }

  private void drain(ClusterProcess cluster, String node) throws Exception {
    HttpResponse<String> answer =
        http.send(
            HttpRequest.newBuilder(admin(cluster, "drain?target=" + node))
                .header("X-Ashlar-Admin", "1")
                .POST(HttpRequest.BodyPublishers.noBody())
                .build(),
            HttpResponse.BodyHandlers.ofString());
    assertEquals(200, answer.statusCode(), answer.body());
    await(cluster, "drives", page -> row(page, node).contains("\"empty\":true"), "drained");
  }

  private static boolean isDone(String page) {
    return page.contains("\"known\":true") && page.contains("\"blobs\":0");
  }

  private static URI admin(ClusterProcess cluster, String path) {
    String health = cluster.nodes().node("gateway-1").healthPage().toString();
    return URI.create(health.replace("/health", "/admin/" + path));
  }

  private void await(ClusterProcess cluster, String page, Predicate<String> condition, String what)
      throws Exception {
    String last = "";
    for (int i = 0; i < LOOKS; i++) {
      last =
          http.send(
                  HttpRequest.newBuilder(admin(cluster, page)).build(),
                  HttpResponse.BodyHandlers.ofString())
              .body();
      if (condition.test(last)) {
        return;
      }
      ServerProcess.pause(PAUSE);
    }
    throw cluster.nodes().failed("not " + what + ": " + last);
  }

  /** The JSON of the node's only drive. */
  private static String row(String page, String node) {
    for (String row : page.split("\\},", -1)) {
      if (row.contains("\"node\":\"" + node + "\"")) {
        return row;
      }
    }
    return "";
  }

  private static long slots(String page, String node) {
    String row = row(page, node);
    return row.isEmpty() ? 0 : Long.parseLong(row.replaceAll(".*\"slots\":(\\d+).*", "$1"));
  }

  private static String standing(String page, String node) {
    return row(page, node).replaceAll(".*\"standing\":\"(\\w+)\".*", "$1");
  }

  private Process add(ClusterProcess cluster) throws IOException {
    Path data = cluster.nodes().folder().resolve("added");
    return Launch.start(
        List.of(
            "server",
            "--config",
            cluster.nodes().node("storage-2").config().toString(),
            "--node",
            "storage-9",
            "--cluster-listen",
            "127.0.0.1:" + (cluster.port() + 290),
            "--management-listen",
            "127.0.0.1:0",
            "--data",
            data.toString()),
        Map.of(),
        cluster.nodes().folder().resolve("added.log"));
  }

  private void put(ChangeClient s3, String key, int length) throws IOException {
    byte[] body = new Content(seed + key.hashCode() + length, length).bytes();
    require(s3.put(key, body), key);
    expected.put(key, body);
  }

  private void append(ChangeClient s3, String key) throws IOException {
    byte[] before = Objects.requireNonNull(expected.get(key));
    byte[] more = new Content(seed, 5_000).bytes();
    require(s3.append("POST", key, before.length, more), key);
    byte[] after = Arrays.copyOf(before, before.length + more.length);
    System.arraycopy(more, 0, after, before.length, more.length);
    expected.put(key, after);
  }

  private void require(Answer answer, String key) {
    assertEquals(200, answer.status(), () -> key + ": " + answer.text() + ", seed " + seed);
  }

  private void check(ChangeClient s3) throws IOException {
    assertTrue(expected.size() >= 20);
    for (String key : expected.keySet()) {
      check(s3, key);
    }
  }

  private void check(ChangeClient s3, String key) throws IOException {
    assertArrayEquals(expected.get(key), s3.get(key), () -> key + ", seed " + seed);
  }
}
