package dev.ashlar.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.ClusterNodes;
import dev.ashlar.it.harness.ClusterProcess;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.HalfSent;
import dev.ashlar.it.harness.NodeProcess;
import dev.ashlar.it.harness.RawConnection;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedCluster;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Every process of a cluster is ended by SIGTERM and started again, one after the other. Clients
 * that never try again, at gateways that are not ended meanwhile, are never refused; what is under
 * way at a gateway that ends is answered first.
 */
@ExtendWith(SharedCluster.class)
@Execution(ExecutionMode.SAME_THREAD)
class RollingRestartIT {
  private static final String BUCKET = "rolling";
  private static final int STORAGE_NODES = Integer.getInteger("ashlar.rolling.storage", 2);
  private static final int OBJECTS = 20;
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final Duration PAUSE = Duration.ofMillis(20);
  private static final int LOOKS = 1_500;
  private static final int UPLOADED = 1 << 20;
  private static final String UP = "\"status\":\"UP\"";

  private final long seed = Seeds.seed("RollingRestartIT");
  private final long beganNanos = System.nanoTime();

  @Test
  void onlyWhoIsAtTheGatewayThatEndsNotices(ClusterProcess cluster) throws Exception {
    ClusterNodes nodes = cluster.nodes();
    AdminPages admin = new AdminPages(nodes);
    admin.awaitWhole();
    KnownObjects objects = new KnownObjects(nodes, BUCKET, seed);
    try (ChangeClient s3 = objects.client()) {
      objects.make(s3, OBJECTS);
    }
    long handOversBefore = handOvers(nodes);
    objects.underLoad(
        List.of(1, 2),
        () -> {
          for (NodeProcess storage : nodes.of("storage").stream().limit(STORAGE_NODES).toList()) {
            restart(storage);
            awaitProtected(nodes);
            say(storage + " does its part again");
          }
          for (NodeProcess metadata : nodes.of("metadata")) {
            restart(metadata);
            metadata.awaitHealth(page -> page.contains("\"takesPart\":true"));
            admin.await("metadata", page -> page.contains("\"tolerates\":1"), "a whole quorum");
            say(metadata + " does its part again");
          }
        });
    assertTrue(handOvers(nodes) > handOversBefore, "one of the metadata nodes led when it ended");
    objects.underLoad(List.of(2, 2), () -> restartGateway(nodes, 1));
    objects.underLoad(List.of(1, 1), () -> restartGateway(nodes, 2));
    try (ChangeClient s3 = objects.client()) {
      objects.check(s3);
    }
  }

  /** What the logs say of hand-overs so far, also of those in other tests. */
  private static long handOvers(ClusterNodes nodes) {
    return nodes.of("metadata").stream()
        .flatMap(node -> node.said().stream())
        .filter(line -> line.contains("has handed leadership to"))
        .count();
  }

  private void restart(NodeProcess node) {
    node.stop();
    say(node + " has ended");
    node.start();
  }

  private void say(String what) {
    System.out.println(
        Duration.ofNanos(System.nanoTime() - beganNanos).toMillis() + " ms: " + what);
  }

  /** The pages of gateways may be from before the restart in what they say of shards. */
  private static void awaitProtected(ClusterNodes nodes) {
    for (NodeProcess gateway : nodes.of("gateway")) {
      gateway.awaitHealth(page -> page.contains(UP));
    }
    nodes.awaitNothingOwed();
  }

  private void restartGateway(ClusterNodes nodes, int number) throws IOException {
    NodeProcess gateway = nodes.node("gateway-" + number);
    InetSocketAddress address = nodes.gateways().get(number - 1);
    byte[] body = new Content(seed + number, UPLOADED).bytes();
    String path = "/" + BUCKET + "/under-way-" + number;
    try (HalfSent upload =
        new HalfSent(new RawConnection(address, TIMEOUT), "PUT", path, "", Map.of(), body)) {
      gateway.terminate();
      awaitRefusal(nodes, address);
      assertEquals(200, upload.finish().status());
    }
    gateway.awaitEnd();
    say(gateway + " has ended");
    gateway.start();
    gateway.awaitHealth(page -> page.contains(UP));
    say(gateway + " does its part again");
  }

  /** From then on it takes nobody new. */
  private static void awaitRefusal(ClusterNodes nodes, InetSocketAddress gateway)
      throws IOException {
    for (int i = 0; i < LOOKS; i++) {
      try {
        new RawConnection(gateway, TIMEOUT).close();
      } catch (ConnectException e) {
        return;
      }
      ServerProcess.pause(PAUSE);
    }
    throw nodes.failed("a gateway that ends goes on taking connections");
  }
}
