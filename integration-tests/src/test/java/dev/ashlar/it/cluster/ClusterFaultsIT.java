package dev.ashlar.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.ClusterNodes;
import dev.ashlar.it.harness.ClusterProcess;
import dev.ashlar.it.harness.LongTest;
import dev.ashlar.it.harness.Namespaces;
import dev.ashlar.it.harness.NetworkCluster;
import dev.ashlar.it.harness.NodeProcess;
import dev.ashlar.it.harness.RawConnection.Answer;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.SharedCluster;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Clusters of real processes under faults: {@code -Dashlar.faults.minutes} says how long at least,
 * on a larger cluster whose network and disks fail too where this machine allows that, until each
 * kind of fault has come; {@code -Dashlar.faults.seed} which faults. {@code -Dashlar.rot.minutes}
 * says how long at least bits flip in metadata nodes, one node at a time.
 */
@ExtendWith(SharedCluster.class)
@Execution(ExecutionMode.SAME_THREAD)
class ClusterFaultsIT {
  private static final String MINUTES = "ashlar.faults.minutes";
  private static final int ERA_FAULTS = 6;
  private static final int FLIPS = 2;
  private static final int MOVES_THERE_AND_BACK = 2;
  private static final int PARITY_SHARDS = 2;
  private static final NetworkCluster.Shape LARGE = new NetworkCluster.Shape(6, 2, "4+2");
  private static final Duration PATIENCE = Duration.ofSeconds(15);
  private static final Duration PAUSE = Duration.ofMillis(300);
  private static final byte[] OLD = {'o', 'l', 'd'};
  private static final byte[] NEW = {'n', 'e', 'w'};

  private final Random random = new Random(Seeds.seed("ClusterFaultsIT", "ashlar.faults.seed"));

  @Test
  void someFaultsOfProcesses(ClusterProcess cluster) {
    FaultChoice choice = new FaultChoice(cluster.nodes(), null, random);
    FaultRounds rounds = new FaultRounds(cluster.nodes(), choice, PARITY_SHARDS, random, "faults");
    rounds.era(1);
    rounds.era(1);
  }

  /**
   * Of storage nodes, of the metadata that leads and, at the same time, of the gateway that moves.
   */
  @LongTest
  void killsWhileVersionsMove() throws Exception {
    try (MovesUnderFaults moves = new MovesUnderFaults(random)) {
      for (int i = 0; i < MOVES_THERE_AND_BACK; i++) {
        moves.round("COLD", moves.hostKilled());
        moves.round("HOT", Fault.all(List.of(moves.storageKilled(), moves.leaderKilled())));
        moves.round("STANDARD", Fault.all(List.of(moves.storageKilled(), moves.hostKilled())));
        moves.settle();
      }
      moves.checkNoOrphans();
      moves.checkNothingStays();
    }
  }

  @LongTest
  void aBitFlipsInOneMetadataPeer(ClusterProcess cluster) {
    Duration least = Duration.ofMinutes(Long.getLong("ashlar.rot.minutes", 0));
    long end = System.nanoTime() + least.toNanos();
    RottenPeer rotten = new RottenPeer(cluster.nodes(), random);
    FaultChoice none = new FaultChoice(cluster.nodes(), null, random);
    FaultRounds rounds = new FaultRounds(cluster.nodes(), none, PARITY_SHARDS, random, "rot");
    int flips = 0;
    while (flips < FLIPS
        || System.nanoTime() < end
        || (least.isPositive() && !rotten.isThrough())) {
      rotten.next().forEach(rounds::round);
      flips++;
    }
    System.out.println("rotten metadata: " + flips + " flips");
  }

  @Test
  @EnabledIfSystemProperty(named = MINUTES, matches = "\\d+")
  void manyFaultsOfEverything() throws IOException {
    String refusal = Namespaces.refusal();
    assumeTrue(refusal.isEmpty(), refusal);
    long end = System.nanoTime() + Duration.ofMinutes(Long.getLong(MINUTES)).toNanos();
    try (NetworkCluster cluster = new NetworkCluster("faults", LARGE)) {
      FaultChoice choice = new FaultChoice(cluster.nodes(), cluster, random);
      FaultRounds rounds =
          new FaultRounds(cluster.nodes(), choice, PARITY_SHARDS, random, "faults");
      aLeaderThatIsCutOffWhileIdleTellsNothingOld(cluster);
      clocksCanBeSet(cluster);
      for (int era = 1; System.nanoTime() < end || !choice.isThrough(); era++) {
        System.out.println("Era " + era);
        rounds.era(ERA_FAULTS);
      }
    }
  }

  /** One gateway reaches the old leader only, the other one the rest. */
  private static void aLeaderThatIsCutOffWhileIdleTellsNothingOld(NetworkCluster cluster)
      throws IOException {
    ClusterNodes nodes = cluster.nodes();
    NodeProcess leader = nodes.leader();
    List<NodeProcess> followers =
        nodes.of("metadata").stream().filter(node -> !node.equals(leader)).toList();
    untilIs(nodes, 1, "PUT", OLD);
    untilIs(nodes, 2, "GET", OLD);
    ServerProcess.pause(Duration.ofSeconds(2));
    for (NodeProcess follower : followers) {
      cluster.cut(leader, follower);
      cluster.cut(nodes.node("gateway-2"), follower);
    }
    cluster.cut(nodes.node("gateway-1"), leader);
    untilIs(nodes, 1, "PUT", NEW);
    for (int i = 0; i < 4; i++) {
      try (ChangeClient client = nodes.client(2, "faults", PATIENCE)) {
        Answer answer = client.send("GET", "idle", "", new byte[0], Map.of());
        assertEquals(503, answer.status(), answer::toString);
      }
    }
    cluster.mend(nodes.node("gateway-1"), leader);
    for (NodeProcess follower : followers) {
      cluster.mend(leader, follower);
      cluster.mend(nodes.node("gateway-2"), follower);
    }
    untilIs(nodes, 2, "GET", NEW);
  }

  /** Else those faults would be none. */
  private static void clocksCanBeSet(NetworkCluster cluster) throws IOException {
    if (!cluster.canClocksJump()) {
      System.out.println("The clocks of processes cannot be set here");
      return;
    }
    NodeProcess gateway = cluster.nodes().node("gateway-1");
    Instant before = Instant.now();
    cluster.setClock(gateway, Duration.ofMinutes(10));
    try (ChangeClient client = cluster.nodes().client(1, "faults", PATIENCE)) {
      Answer answer = client.send("GET", "idle", "", new byte[0], Map.of());
      String date = answer.headers().getOrDefault("date", "");
      Instant said = DateTimeFormatter.RFC_1123_DATE_TIME.parse(date, Instant::from);
      assertTrue(said.isAfter(before.plus(Duration.ofMinutes(9))), date);
    }
    cluster.setClock(gateway, Duration.ZERO);
  }

  private static void untilIs(ClusterNodes nodes, int gateway, String method, byte[] bytes) {
    long beganNanos = System.nanoTime();
    do {
      try (ChangeClient client = nodes.client(gateway, "faults", PATIENCE)) {
        byte[] body = method.equals("PUT") ? bytes : new byte[0];
        Answer answer = client.send(method, "idle", "", body, Map.of());
        if (answer.status() == 200) {
          if (method.equals("GET")) {
            assertEquals(new String(bytes, StandardCharsets.US_ASCII), answer.text());
          }
          return;
        }
        assertEquals(503, answer.status(), answer::toString);
      } catch (IOException e) {
        // A client that gives up tries again.
      }
      ServerProcess.pause(PAUSE);
    } while (System.nanoTime() - beganNanos < FaultRounds.FAILOVER_MAX.toNanos());
    throw nodes.failed(method + ": not within " + FaultRounds.FAILOVER_MAX);
  }
}
