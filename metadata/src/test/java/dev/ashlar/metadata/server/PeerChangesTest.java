package dev.ashlar.metadata.server;

import static dev.ashlar.metadata.server.BucketLoad.createBucket;
import static dev.ashlar.metadata.server.BucketLoad.names;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits;
import dev.ashlar.protocol.message.PeersChangeAnswer;
import dev.ashlar.protocol.message.PeersChangeStatus;
import dev.ashlar.protocol.message.PeersStatus;
import dev.ashlar.transport.metadata.RemoteMetadata;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Peers of a group come and go while it is used. */
@Tag("slow")
@Timeout(300)
class PeerChangesTest {
  @TempDir Path root = Path.of("");

  /** Where the peers are, as the leader tells. */
  private static Set<String> peers(RemoteMetadata client) throws Exception {
    return client.peers().getPeersList().stream()
        .map(PeersStatus.Peer::getAddress)
        .collect(Collectors.toSet());
  }

  private static Set<String> addresses(LoopbackGroup group, int... places) {
    return IntStream.of(places)
        .mapToObj(place -> group.endpoint(place).toString())
        .collect(Collectors.toSet());
  }

  /** Begins it as soon as the new peer, if there is one, waits for that. */
  private static void change(RemoteMetadata client, String add, String remove) throws Exception {
    PeersChangeAnswer answer = client.changePeers(add, remove);
    while (answer.getRefusal().contains("--metadata-join")
        || answer.getRefusal().contains("has not reached a majority")) {
      Thread.sleep(50);
      answer = client.changePeers(add, remove);
    }
    assertEquals("", answer.getRefusal());
    PeersChangeStatus status = answer.getChange();
    while (status.getState() == PeersChangeStatus.State.RUNNING) {
      Thread.sleep(20);
      PeersChangeStatus now = client.peers().getChange();
      if (now.getNumber() != status.getNumber()) {
        return; // another leader: this one went with its change
      }
      status = now;
    }
    assertEquals("", status.getWhy());
  }

  private static void add(RemoteMetadata client, LoopbackGroup group, int place) throws Exception {
    change(client, group.endpoint(place).toString(), "");
  }

  private static void remove(RemoteMetadata client, LoopbackGroup group, int place)
      throws Exception {
    change(client, "", group.endpoint(place).toString());
  }

  private static void replace(RemoteMetadata client, LoopbackGroup group, int old, int by)
      throws Exception {
    change(client, group.endpoint(by).toString(), group.endpoint(old).toString());
  }

  /** Waits until somebody may add it. */
  private static void awaitJoining(LoopbackGroup group, int place) throws InterruptedException {
    while (!group.peer(place).status().trouble().contains("waiting to be added")) {
      Thread.sleep(10);
    }
  }

  private static void awaitStanding(LoopbackGroup group, int place, String standing)
      throws InterruptedException {
    while (!group.peer(place).status().standing().equals(standing)) {
      Thread.sleep(10);
    }
  }

  @Test
  void peersAreAddedAndRemovedUnderLoad() throws Exception {
    try (LoopbackGroup group = new LoopbackGroup(root, 3).startAll();
        RemoteMetadata client = group.client()) {
      BucketLoad load = new BucketLoad(client);
      load.awaitMore(100);
      int added = group.join();
      assertFalse(group.peer(added).status().isRunning());
      add(client, group, added);
      assertEquals(addresses(group, 0, 1, 2, added), peers(client));
      load.awaitMore(100);
      int leader = group.awaitLeader();
      int removed = (leader + 1) % 3;
      int other = 3 - leader - removed;
      remove(client, group, removed);
      assertEquals(addresses(group, leader, other, added), peers(client));
      awaitStanding(group, removed, "REMOVED");
      load.awaitMore(100);
      group.kill(other);
      load.awaitMore(100);
      assertEquals(load.end(), names(client), "of the old ones one is left");
      group.kill(removed);
      group.start(removed);
      awaitStanding(group, removed, "REMOVED");
      assertFalse(group.peer(removed).status().isRunning(), "also when it is started again");
    }
  }

  @Test
  void allAreReplacedOneAfterTheOtherAndClientsFollow() throws Exception {
    CheckpointLimits small = new CheckpointLimits(100, 1 << 20);
    try (LoopbackGroup group =
            new LoopbackGroup(root, 3, small, LoopbackGroup.ELECTIONS).startAll();
        RemoteMetadata client = group.client()) {
      BucketLoad load = new BucketLoad(client);
      for (int old = 0; old < 3; old++) {
        load.awaitMore(150);
        boolean isDead = old != 1;
        if (isDead) {
          group.kill(old);
          group.wipe(old);
        }
        int by = group.join(List.of(group.endpoint(old == 2 ? 4 : 2 - old)));
        load.awaitMore(50);
        replace(client, group, old, by);
        if (!isDead) {
          awaitStanding(group, old, "REMOVED");
          group.kill(old);
        }
      }
      load.awaitMore(100);
      Set<String> acknowledged = load.end();
      assertEquals(acknowledged, names(client));
      assertEquals(addresses(group, 3, 4, 5), peers(client));
      for (int place = 3; place < 6; place++) {
        group.kill(place);
      }
      for (int place = 3; place < 6; place++) {
        group.start(place);
      }
      assertEquals(acknowledged, names(client), "they know each other from their logs");
      try (RemoteMetadata beside =
          group.client(List.of(group.endpoint(4)), Duration.ofSeconds(60))) {
        assertEquals(acknowledged, names(beside));
      }
    }
  }

  @Test
  void theLeaderIsReplacedItself() throws Exception {
    try (LoopbackGroup group = new LoopbackGroup(root, 3).startAll();
        RemoteMetadata client = group.client()) {
      BucketLoad load = new BucketLoad(client);
      load.awaitMore(50);
      int by = group.join();
      int leader = group.awaitLeader();
      replace(client, group, leader, by);
      awaitStanding(group, leader, "REMOVED");
      load.awaitMore(100);
      assertEquals(load.end(), names(client));
      assertFalse(peers(client).contains(group.endpoint(leader).toString()));
    }
  }

  @Test
  void oneGrowsToThree() throws Exception {
    try (LoopbackGroup group = new LoopbackGroup(root, 1).startAll();
        RemoteMetadata client = group.client()) {
      BucketLoad load = new BucketLoad(client);
      load.awaitMore(50);
      add(client, group, group.join());
      load.awaitMore(50);
      add(client, group, group.join());
      load.awaitMore(50);
      group.awaitMember(2, 0);
      group.kill(0);
      load.awaitMore(50);
      assertEquals(load.end(), names(client));
    }
  }

  @Test
  void aPeerThatCameIsRebuiltWhenItsFolderIsEmptied() throws Exception {
    try (LoopbackGroup group = new LoopbackGroup(root, 3).startAll();
        RemoteMetadata client = group.client()) {
      createBucket(client, "b");
      int added = group.join();
      replace(client, group, 2, added);
      group.kill(added);
      group.wipe(added);
      createBucket(client, "c");
      group.start(added);
      group.awaitMember(added, 0);
      group.kill(group.awaitLeader(place -> place < 2));
      assertEquals(Set.of("b", "c"), names(client));
    }
  }

  @Test
  void waitingPeerMayBeRestarted() throws Exception {
    try (LoopbackGroup group = new LoopbackGroup(root, 3).startAll();
        RemoteMetadata client = group.client()) {
      createBucket(client, "b");
      int added = group.join();
      awaitJoining(group, added);
      group.kill(added);
      group.start(added);
      add(client, group, added);
      group.awaitMember(added, 0);
    }
  }

  @Test
  void aLeaderThatIsCutOffWhileItsGroupChangesDoesNotAnswerFromThePast() throws Exception {
    long seed = Long.getLong("seed", System.nanoTime());
    Random random = new Random(seed);
    for (int round = 0; round < 3; round++) {
      try (LoopbackGroup group = new LoopbackGroup(root.resolve("r" + round), 3).startAll();
          RemoteMetadata client = group.client()) {
        createBucket(client, "before");
        int by = group.join();
        awaitJoining(group, by);
        int old = group.awaitLeader();
        try (OnePeer beside = group.only(old)) {
          String gone = group.endpoint((old + 1) % 3).toString();
          String added = group.endpoint(by).toString();
          assertEquals("", client.changePeers(added, gone).getRefusal(), "seed " + seed);
          Thread.sleep(random.nextInt(300));
          group.isolate(old);
          Thread reader = beside.readOn("after");
          createBucket(client, "after");
          long doneNanos = System.nanoTime();
          group.awaitLeader(place -> place != old);
          assertEquals(Optional.empty(), beside.names(), "seed " + seed);
          beside.stop(reader);
          assertTrue(beside.lastAbsentNanos() - doneNanos < 0, "seed " + seed);
          group.heal();
          assertEquals(Set.of("before", "after"), names(client), "seed " + seed);
        }
      }
    }
  }

  @Test
  void invalidCommandsAreRefused() throws Exception {
    try (LoopbackGroup group = new LoopbackGroup(root, 3).startAll();
        RemoteMetadata client = group.client()) {
      createBucket(client, "b");
      int leader = group.awaitLeader();
      int other = (leader + 1) % 3;
      group.awaitMember(other, 0);
      String address = group.endpoint(other).toString();
      refused(client, "there is no metadata peer m7", "", "m7");
      refused(client, "already a peer, m" + (other + 1), address, "");
      refused(client, "HOST:PORT", "somewhere", "");
      refused(client, "--metadata-join", "127.0.0.1:1", "");
      refused(client, "no peer to add or remove", "", "");
      group.kill(3 - leader - other);
      refused(client, "no majority", "", address);
      assertEquals(addresses(group, 0, 1, 2), peers(client));
    }
    try (LoopbackGroup group = new LoopbackGroup(root.resolve("one"), 1).startAll();
        RemoteMetadata client = group.client()) {
      refused(client, "the last metadata peer", "", "m1");
    }
  }

  private static void refused(RemoteMetadata client, String why, String add, String remove)
      throws Exception {
    String refusal = client.changePeers(add, remove).getRefusal();
    assertTrue(refusal.contains(why), refusal);
  }

  @Test
  void thereIsOneChangeAtATime() throws Exception {
    try (LoopbackGroup group = new LoopbackGroup(root, 3).startAll();
        RemoteMetadata client = group.client()) {
      createBucket(client, "b");
      int one = group.join();
      int other = group.join();
      awaitJoining(group, one);
      awaitJoining(group, other);
      List<PeersChangeAnswer> answers =
          Stream.of(one, other)
              .parallel()
              .map(place -> begun(client, group.endpoint(place).toString()))
              .toList();
      List<String> refusals =
          answers.stream()
              .map(PeersChangeAnswer::getRefusal)
              .filter(refusal -> !refusal.isEmpty())
              .toList();
      assertTrue(refusals.size() < 2, refusals::toString);
      refusals.forEach(refusal -> assertTrue(refusal.contains("in progress"), refusal));
      while (peers(client).size() < 5 - refusals.size()) {
        Thread.sleep(10);
      }
    }
  }

  private static PeersChangeAnswer begun(RemoteMetadata client, String add) {
    try {
      return client.changePeers(add, "");
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
