package dev.ashlar.server.cluster;

import static dev.ashlar.protocol.message.DriveStanding.STANDING_DRAINING;
import static dev.ashlar.protocol.message.DriveStanding.STANDING_IN;
import static dev.ashlar.protocol.message.DriveStanding.STANDING_OUT;
import static dev.ashlar.server.cluster.BalancedCluster.OUT_AFTER;
import static dev.ashlar.server.cluster.BalancedCluster.drive;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.table.Changes;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.BalanceRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.message.SetBalance;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ClusterBalanceTest {
  /** Until a node counts as down, and a look more. */
  private static final Duration NOTICED = Duration.ofSeconds(18);

  /** Less than the delay by more than it takes to notice. */
  private static final Duration NOT_YET = OUT_AFTER.minusSeconds(10);

  private static final Duration NOT_FOUND = Duration.ofSeconds(6);

  /** Until a node that comes gets slots, and a look more. */
  private static final Duration FOUND = Duration.ofSeconds(8);

  private static final Duration LONG = OUT_AFTER.plus(NOTICED);

  private static long outNodes(BalancedCluster cluster, int nodes) {
    return IntStream.range(0, nodes).filter(i -> standing(cluster, i) == STANDING_OUT).count();
  }

  private static DriveStanding standing(BalancedCluster cluster, int node) {
    try {
      return cluster.standing("node-" + node);
    } catch (MetadataUnavailableException e) {
      throw new AssertionError(e);
    }
  }

  private static void pause(BalancedCluster cluster, boolean isPaused) {
    cluster.metadata.require(
        Command.newBuilder().setSetBalance(SetBalance.newBuilder().setPaused(isPaused)));
  }

  @Test
  void whatIsDownIsOutAfterTheDelayAndNotBefore() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 2);
    long share = cluster.slots("node-3");
    cluster.fallSilent("node-3");
    cluster.pass(NOT_YET);
    assertEquals(STANDING_IN, cluster.standing("node-3"));
    assertEquals(share, cluster.slots("node-3"));
    assertEquals(1, cluster.map().epoch());
    cluster.pass(NOTICED.plusSeconds(10));
    assertEquals(STANDING_OUT, cluster.standing("node-3"));
    assertTrue(cluster.row(drive("node-3", 1)).getOutByItself());
    assertEquals(0, cluster.slots("node-3"));
    assertEquals(1, outNodes(cluster, 8));
  }

  @Test
  void whatComesBackBeforeTheDelayStartsAnew() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 1);
    for (int i = 0; i < 3; i++) {
      cluster.fallSilent("node-3");
      cluster.pass(NOT_YET);
      cluster.speakAgain("node-3");
      cluster.pass(FOUND);
    }
    assertEquals(STANDING_IN, cluster.standing("node-3"));
    assertEquals(1, cluster.map().epoch());
  }

  @Test
  void whatComesBackLaterIsInAgainWithItsShare() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 1);
    long share = cluster.slots("node-3");
    cluster.fallSilent("node-3");
    cluster.pass(LONG);
    assertEquals(0, cluster.slots("node-3"));
    cluster.speakAgain("node-3");
    cluster.pass(FOUND);
    assertEquals(STANDING_IN, cluster.standing("node-3"));
    assertFalse(cluster.row(drive("node-3", 0)).getOutByItself());
    assertEquals(share, cluster.slots("node-3"));
  }

  @Test
  void nothingIsTakenOutWhileMoreNodesAreAwayThanMayBeLost() throws Exception {
    BalancedCluster cluster = new BalancedCluster(12, 1);
    cluster.fallSilent("node-1", "node-2", "node-3");
    cluster.pass(LONG.multipliedBy(3));
    assertEquals(0, outNodes(cluster, 12));
    cluster.speakAgain("node-2");
    cluster.pass(FOUND);
    assertEquals(2, outNodes(cluster, 12), "of these it is known for how long they are down");
    assertEquals(STANDING_IN, cluster.standing("node-2"));
  }

  @Test
  void nothingIsTakenOutOrMovedWhileMetadataIsRestored() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 1);
    TreeMap<byte[], Optional<byte[]>> rows = new TreeMap<>(Arrays::compareUnsigned);
    BalanceRow restored = BalanceRow.newBuilder().setPaused(true).setRestored(true).build();
    rows.put(Keys.balance(), Optional.of(restored.toByteArray()));
    cluster.metadata.table().write(new Changes(rows));
    long share = cluster.slots("node-2");
    cluster.fallSilent("node-3");
    cluster.pass(LONG);
    assertEquals(STANDING_IN, cluster.standing("node-3"));
    cluster.stand("node-2", STANDING_DRAINING);
    cluster.pass(FOUND);
    assertEquals(share, cluster.slots("node-2"));
    pause(cluster, false);
    cluster.pass(LONG);
    assertEquals(STANDING_OUT, cluster.standing("node-3"));
    assertEquals(0, cluster.slots("node-2"));
  }

  @Test
  void whatIsOutAndNotMadeAnewIsAwayStill() throws Exception {
    BalancedCluster cluster = new BalancedCluster(12, 1);
    cluster.fallSilent("node-1", "node-2");
    cluster.pass(LONG);
    assertEquals(2, outNodes(cluster, 12));
    cluster.fallSilent("node-3");
    cluster.pass(LONG);
    assertEquals(2, outNodes(cluster, 12), "repair has not begun");
    cluster.settle();
    cluster.pass(FOUND);
    assertEquals(3, outNodes(cluster, 12), "nothing is missed of the others");
  }

  @Test
  void whatHoldsNothingHindersNobody() throws Exception {
    BalancedCluster cluster = new BalancedCluster(12, 1);
    for (String node : new String[] {"node-1", "node-2"}) {
      cluster.stand(node, STANDING_DRAINING);
      cluster.pass(FOUND);
    }
    cluster.settle();
    cluster.fallSilent("node-1", "node-2", "node-3", "node-4");
    cluster.pass(LONG);
    assertEquals(2, outNodes(cluster, 12));
    assertEquals(STANDING_DRAINING, cluster.standing("node-1"), "it is drained, and stays so");
  }

  @Test
  void aDrainMovesAllSlotsAndStays() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 2);
    cluster.stand("node-3", STANDING_DRAINING);
    cluster.pass(Duration.ofSeconds(10));
    assertEquals(0, cluster.slots("node-3"));
    assertEquals(STANDING_DRAINING, cluster.standing("node-3"));
    cluster.stand("node-3", STANDING_IN);
    cluster.pass(Duration.ofSeconds(10));
    assertTrue(cluster.slots("node-3") > 0);
  }

  @Test
  void whatWasDrainingWhenItWasTakenOutDoesNotComeBackByItself() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 1);
    cluster.stand("node-3", STANDING_DRAINING);
    cluster.fallSilent("node-3");
    cluster.pass(LONG);
    assertEquals(STANDING_OUT, cluster.standing("node-3"), "it had not been emptied");
    cluster.speakAgain("node-3");
    cluster.pass(LONG);
    assertEquals(STANDING_OUT, cluster.standing("node-3"));
  }

  @Test
  void whatWasTakenOutByHandDoesNotComeBackByItself() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 1);
    cluster.fallSilent("node-3");
    cluster.pass(NOTICED);
    cluster.stand("node-3", STANDING_OUT);
    cluster.speakAgain("node-3");
    cluster.pass(LONG);
    assertEquals(STANDING_OUT, cluster.standing("node-3"));
  }

  @Test
  void noGatewayMeetsADriveInTheMapThatItHasNotFoundYet() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 1);
    cluster.join("node-8");
    cluster.pass(NOT_FOUND);
    assertEquals(0, cluster.slots("node-8"));
    cluster.pass(FOUND);
    assertTrue(cluster.slots("node-8") > 0);
    cluster.fallSilent("node-8");
    cluster.pass(LONG);
    assertEquals(STANDING_OUT, cluster.standing("node-8"));
    cluster.speakAgain("node-8");
    cluster.pass(NOT_FOUND);
    assertEquals(STANDING_OUT, cluster.standing("node-8"));
    cluster.pass(FOUND);
    assertTrue(cluster.slots("node-8") > 0);
  }

  @Test
  void aNodeThatJoinsGetsItsShareUnlessItIsPaused() throws Exception {
    BalancedCluster cluster = new BalancedCluster(7, 2);
    pause(cluster, true);
    cluster.join("node-7");
    cluster.pass(Duration.ofSeconds(10));
    assertEquals(0, cluster.slots("node-7"));
    assertEquals(1, cluster.map().epoch());
    pause(cluster, false);
    cluster.pass(Duration.ofSeconds(10));
    assertTrue(cluster.slots("node-7") > 0);
  }

  @Test
  void whatIsLostIsTakenOutAlsoWhileItIsPaused() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 2);
    pause(cluster, true);
    cluster.fallSilent("node-3");
    cluster.pass(LONG);
    assertEquals(STANDING_OUT, cluster.standing("node-3"));
    assertEquals(0, cluster.slots("node-3"));
  }

  @Test
  void aDriveThatItsNodeCameWithoutIsTakenOut() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 2);
    cluster.join("node-3", 1);
    cluster.pass(NOT_YET);
    assertEquals(STANDING_IN, cluster.row(drive("node-3", 1)).getStanding());
    cluster.pass(LONG);
    assertEquals(STANDING_OUT, cluster.row(drive("node-3", 1)).getStanding());
    assertEquals(STANDING_IN, cluster.standing("node-3"));
    cluster.join("node-3");
    cluster.pass(FOUND);
    assertEquals(STANDING_IN, cluster.row(drive("node-3", 1)).getStanding());
  }

  @Test
  void aDriveThatFailedIsTakenOutAfterTheSameDelay() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 2);
    UUID drive = drive("node-3", 1);
    long share = cluster.slots(drive);
    cluster.failed.add(drive);
    cluster.pass(NOT_YET);
    assertEquals(share, cluster.slots(drive));
    cluster.pass(NOTICED);
    assertEquals(STANDING_OUT, cluster.row(drive).getStanding());
    assertEquals(0, cluster.slots(drive));
    assertEquals(STANDING_IN, cluster.standing("node-3"), "its other drive is well");
    cluster.failed.clear(); // its node has started again
    cluster.pass(FOUND);
    assertEquals(STANDING_IN, cluster.row(drive).getStanding());
    assertEquals(share, cluster.slots(drive));
  }

  @Test
  void nodesWithFailedDrivesCountAsAway() throws Exception {
    BalancedCluster cluster = new BalancedCluster(12, 2);
    cluster.failed.add(drive("node-1", 0));
    cluster.failed.add(drive("node-1", 1));
    cluster.failed.add(drive("node-2", 1));
    cluster.fallSilent("node-3");
    cluster.pass(LONG);
    assertEquals(0, outNodes(cluster, 12));
    cluster.speakAgain("node-3");
    cluster.pass(FOUND);
    assertEquals(STANDING_OUT, cluster.row(drive("node-1", 1)).getStanding());
    assertEquals(STANDING_OUT, cluster.row(drive("node-2", 1)).getStanding());
    assertEquals(1, outNodes(cluster, 12));
  }

  @Test
  void asManyAreTakenOutAsTheOthersCanStandInFor() throws Exception {
    BalancedCluster cluster = new BalancedCluster(7, 1);
    cluster.fallSilent("node-5");
    cluster.pass(FOUND);
    cluster.fallSilent("node-1");
    cluster.pass(LONG);
    assertEquals(STANDING_OUT, cluster.standing("node-5"), "it was down first");
    assertEquals(STANDING_IN, cluster.standing("node-1"), "six are needed");
    cluster.speakAgain("node-5");
    cluster.pass(FOUND);
    assertEquals(STANDING_IN, cluster.standing("node-5"));
    cluster.pass(FOUND);
    assertEquals(STANDING_OUT, cluster.standing("node-1"), "now it can be");
  }

  @Test
  void timeInWhichNobodyLookedDoesNotCount() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 1);
    cluster.fallSilent("node-3");
    cluster.pass(NOTICED);
    cluster.passUnseen(LONG); // this process stood still
    cluster.pass(NOT_YET);
    assertEquals(STANDING_IN, cluster.standing("node-3"));
    cluster.pass(NOTICED);
    assertEquals(STANDING_OUT, cluster.standing("node-3"));
  }

  @Test
  void timeWithoutMetadataDoesNotCount() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 1);
    cluster.fallSilent("node-3");
    cluster.pass(NOTICED);
    cluster.metadata.setUnavailable(true);
    cluster.clock.advanceMs(LONG.toMillis());
    assertThrows(MetadataUnavailableException.class, cluster::look);
    cluster.metadata.setUnavailable(false);
    cluster.pass(NOT_YET);
    assertEquals(0, outNodes(cluster, 8));
    assertEquals(1, cluster.map().epoch());
  }

  @Test
  void whoseTurnItIsNotDoesNothingAndCountsNothing() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 1);
    cluster.fallSilent("node-3");
    cluster.isItsTurn = false;
    cluster.pass(LONG);
    assertEquals(0, outNodes(cluster, 8));
    cluster.isItsTurn = true;
    cluster.pass(NOT_YET);
    assertEquals(0, outNodes(cluster, 8));
    cluster.pass(NOTICED);
    assertEquals(1, outNodes(cluster, 8));
  }

  @Test
  void aMapThatChangesMeanwhileIsNotChangedAgain() throws Exception {
    BalancedCluster cluster = new BalancedCluster(9, 1);
    cluster.join("node-9");
    cluster.pass(NOT_FOUND);
    cluster.whileItLooks(
        () -> {
          try {
            cluster.stand("node-2", STANDING_DRAINING);
          } catch (Exception e) {
            throw new AssertionError(e);
          }
        });
    cluster.pass(Duration.ofSeconds(2));
    assertEquals(2, cluster.map().epoch(), "what was planned was for the first");
    assertEquals(0, cluster.slots("node-2"));
    cluster.pass(FOUND);
    assertTrue(cluster.slots("node-9") > 0);
    assertEquals(0, cluster.slots("node-2"));
    assertEquals(STANDING_DRAINING, cluster.standing("node-2"));
  }

  @Test
  void whatComesBackWhileItIsTakenOutIsInAgainSoon() throws Exception {
    BalancedCluster cluster = new BalancedCluster(8, 1);
    long share = cluster.slots("node-3");
    cluster.fallSilent("node-3");
    cluster.pass(OUT_AFTER.plusSeconds(14)); // it was noticed after 16 seconds
    assertEquals(STANDING_IN, cluster.standing("node-3"));
    cluster.whileItLooks(() -> cluster.join("node-3"));
    cluster.pass(Duration.ofSeconds(2));
    assertEquals(STANDING_OUT, cluster.standing("node-3"));
    cluster.pass(FOUND);
    assertEquals(STANDING_IN, cluster.standing("node-3"));
    assertEquals(share, cluster.slots("node-3"));
  }
}
