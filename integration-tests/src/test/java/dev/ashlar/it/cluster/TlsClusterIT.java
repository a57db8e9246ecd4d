package dev.ashlar.it.cluster;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.ClusterProcess;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.Launch;
import dev.ashlar.it.harness.NodeProcess;
import dev.ashlar.it.harness.RawConnection.Answer;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedCluster;
import dev.ashlar.transport.tls.TestAuthority;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * A cluster whose processes speak to each other over mutual TLS only. {@link ClusterIT} and others
 * kill its nodes.
 */
@ExtendWith(SharedCluster.class)
@Execution(ExecutionMode.SAME_THREAD)
class TlsClusterIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final Duration PAUSE = Duration.ofMillis(100);
  private static final int LOOKS = 600;
  private static final String UP = "\"status\":\"UP\"";

  private final long seed = Seeds.seed("TlsClusterIT");
  private final Map<String, byte[]> expected = new TreeMap<>();

  /** On a busy machine an election may take longer than a request waits; then clients try again. */
  private void putAndCheck(ClusterProcess cluster, ChangeClient s3, String key) throws IOException {
    for (int length : new int[] {3_000, 3_000_000}) {
      String name = key + "-" + length;
      byte[] body = new Content(seed + name.hashCode(), length).bytes();
      Answer answer = s3.put(name, body);
      for (int tries = 1; answer.status() == 503 && tries < 10; tries++) {
        answer = s3.put(name, body);
      }
      if (answer.status() != 200) {
        throw cluster.nodes().failed(name + ": " + answer.text());
      }
      expected.put(name, body);
    }
    check(s3);
  }

  private void check(ChangeClient s3) throws IOException {
    for (Map.Entry<String, byte[]> object : expected.entrySet()) {
      String key = object.getKey();
      assertArrayEquals(object.getValue(), s3.get(key), () -> key + ", seed " + seed);
    }
  }

  @Test
  void whoDoesNotSpeakTlsIsRefused(ClusterProcess cluster, @TempDir Path folder)
      throws IOException {
    List<String> settings = Files.readAllLines(cluster.nodes().node("gateway-1").config());
    Path plain = folder.resolve("plain.properties");
    Files.write(plain, settings.stream().filter(line -> !line.startsWith("cluster-tls")).toList());
    Launch.Ended ended = startedAs(plain);
    assertNotEquals(0, ended.code(), ended.output());
    assertTrue(
        ended.output().contains("the other side uses TLS, this process does not"), ended.output());
    await(
        cluster,
        "metadata",
        "the other side does not use TLS, this process does",
        cluster.nodes().of("metadata").subList(0, 1));
    Path unreadable = folder.resolve("unreadable.properties");
    Files.write(
        unreadable,
        settings.stream()
            .map(line -> line.startsWith("cluster-tls-key") ? "cluster-tls-key=/none" : line)
            .toList());
    ended = startedAs(unreadable);
    assertNotEquals(0, ended.code(), ended.output());
    assertTrue(
        ended.output().contains("TLS key /none cannot be read: there is no such file"),
        ended.output());
  }

  private static Launch.Ended startedAs(Path config) {
    return Launch.ended(
        log ->
            Launch.start(
                List.of(
                    "server",
                    "--config",
                    config.toString(),
                    "--node",
                    "gateway-9",
                    "--listen",
                    "127.0.0.1:0",
                    "--management-listen",
                    "127.0.0.1:0"),
                Map.of(),
                log));
  }

  @Test
  void certificatesAreRenewed(ClusterProcess cluster, SharedCluster.Certificates certificates)
      throws Exception {
    List<NodeProcess> all = List.copyOf(cluster.nodes().byName().values());
    try (ChangeClient s3 = cluster.nodes().client(1, "renewed", TIMEOUT)) {
      assertEquals(200, s3.put("", new byte[0]).status());
      certificates.authority().files("node");
      await(cluster, "renewed", "New connections use the certificate CN=node", all);
      NodeProcess storage = cluster.nodes().node("storage-3");
      storage.kill();
      storage.start();
      cluster.nodes().node("gateway-1").awaitHealth(page -> page.contains(UP));
      putAndCheck(cluster, s3, "renewed");
      TestAuthority.replace(certificates.files().key(), "no key");
      await(cluster, "kept", "TLS files refused; keeping the certificate CN=node", all);
      putAndCheck(cluster, s3, "kept");
    } finally {
      certificates.authority().files("node");
    }
  }

  private static void await(
      ClusterProcess cluster, String what, String line, List<NodeProcess> nodes) {
    for (NodeProcess node : nodes) {
      int looks = 0;
      while (node.said().stream().noneMatch(said -> said.contains(line))) {
        if (++looks > LOOKS) {
          throw cluster.nodes().failed(what + ": " + node.name() + " has not said: " + line);
        }
        ServerProcess.pause(PAUSE);
      }
    }
  }
}
