package dev.ashlar.metadata.server;

import static dev.ashlar.metadata.server.BucketLoad.createBucket;
import static dev.ashlar.metadata.server.BucketLoad.names;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.FaultyProxy;
import dev.ashlar.transport.FaultyProxy.Fault;
import dev.ashlar.transport.call.CallAnswer;
import dev.ashlar.transport.call.CallException;
import dev.ashlar.transport.metadata.RemoteMetadata;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Three peers over sockets, and what may happen to them. */
@Tag("slow")
@Timeout(300)
class QuorumTest {
  @TempDir Path root = Path.of("");

  /** A command that was executed twice would answer that the bucket is there already. */
  @Test
  void theLossOfTheLeaderUnderLoadLosesAndRepeatsNothing() throws Exception {
    try (LoopbackGroup group = new LoopbackGroup(root, 3).startAll();
        RemoteMetadata client = group.client()) {
      BucketLoad load = new BucketLoad(client);
      load.awaitMore(100);
      int killed = group.awaitLeader();
      group.kill(killed);
      load.awaitMore(100);
      int next = group.awaitLeader();
      assertNotEquals(killed, next);
      group.start(killed);
      load.awaitMore(100);
      Set<String> acknowledged = load.end();
      assertEquals(acknowledged, names(client));
      group.awaitMember(killed, group.peer(next).status().appliedIndex());
      group.kill(next);
      assertEquals(acknowledged, names(client), "also with the one that was away");
    }
  }

  /** Lets entries reach only the follower to which the first ones are sent. */
  private static final class OneFollower implements CallTap {
    private final AtomicReference<@Nullable Endpoint> follower = new AtomicReference<>();
    private final CountDownLatch released = new CountDownLatch(1);

    @Override
    public CallAnswer pass(Endpoint to, Method method, byte[] body, Call call)
        throws CallException, InterruptedException {
      if (method == Method.APPEND
          && !follower.compareAndSet(null, to)
          && !to.equals(follower.get())) {
        released.await();
      }
      return call.make();
    }
  }

  /** The other follower has an empty log then. */
  @Test
  void theFirstLeaderMayBeLostBeforeAllHaveHeardOfIt() throws Exception {
    OneFollower tap = new OneFollower();
    try (LoopbackGroup group = new LoopbackGroup(root, 3, tap).startAll();
        RemoteMetadata client = group.client()) {
      createBucket(client, "before");
      group.kill(group.awaitLeader());
      tap.released.countDown();
      createBucket(client, "after");
      assertEquals(Set.of("before", "after"), names(client));
    }
  }

  @Test
  void aClientWhoseConnectionsBreakLosesAndRepeatsNothing() throws Exception {
    long seed = Long.getLong("seed", System.nanoTime());
    Random random = new Random(seed);
    List<Fault> faults = List.of(Fault.CUT, Fault.CORRUPT, Fault.HALF_CLOSE, Fault.DRIBBLE);
    List<FaultyProxy> proxies = new ArrayList<>();
    try (LoopbackGroup group = new LoopbackGroup(root, 3).startAll()) {
      for (Endpoint peer : group.endpoints()) {
        proxies.add(new FaultyProxy(peer.port(), false));
      }
      List<Endpoint> through =
          proxies.stream().map(proxy -> new Endpoint("127.0.0.1", proxy.port())).toList();
      try (RemoteMetadata client = group.client(through, Duration.ofSeconds(60))) {
        BucketLoad load = new BucketLoad(client);
        for (int round = 0; round < 12; round++) {
          Fault fault = faults.get(round % faults.size());
          long at = random.nextInt(20_000);
          boolean isTowardsServer = random.nextBoolean();
          for (FaultyProxy proxy : proxies) {
            proxy.plan(new FaultyProxy.Plan(fault, isTowardsServer, at));
            proxy.cutAll();
          }
          load.awaitMore(40);
        }
        assertEquals(load.end(), names(client), "seed " + seed);
      } finally {
        for (FaultyProxy proxy : proxies) {
          proxy.close();
        }
      }
    }
  }

  @Test
  void aLeaderThatIsCutOffWhileIdleDoesNotAnswerFromThePast() throws Exception {
    try (LoopbackGroup group = new LoopbackGroup(root, 3).startAll();
        RemoteMetadata client = group.client()) {
      createBucket(client, "before");
      int old = group.awaitLeader();
      try (OnePeer beside = group.only(old)) {
        assertEquals(Optional.of(Set.of("before")), beside.names());
        group.isolate(old);
        Thread reader = beside.readOn("after");
        createBucket(client, "after");
        long doneNanos = System.nanoTime();
        assertNotEquals(old, group.awaitLeader(place -> place != old));
        assertEquals(Optional.empty(), beside.names());
        beside.stop(reader);
        assertTrue(beside.answers() > 0, "under its lease it answers");
        assertTrue(beside.lastAbsentNanos() - doneNanos < 0, "began after the answer, saw less");
        group.heal();
        assertEquals(Set.of("before", "after"), names(client));
      }
    }
  }

  @Test
  void aFollowerCatchesUpByCheckpointAlsoWhenItsFolderIsEmpty() throws Exception {
    try (LoopbackGroup group =
            new LoopbackGroup(root, 3, PurgedLog.SHORT_LIMITS, LoopbackGroup.ELECTIONS).startAll();
        RemoteMetadata client = group.client()) {
      createBucket(client, "first");
      int leader = group.awaitLeader();
      int away = (leader + 1) % 3;
      int other = (leader + 2) % 3;
      group.awaitMember(away, 0);
      group.kill(away);
      PurgedLog.SHORT.fill(client);
      // On both, for either may lead now: neither has the entries any more that the third lacks.
      PurgedLog.SHORT.await(group, leader);
      PurgedLog.SHORT.await(group, other);
      long applied = group.peer(group.awaitLeader()).status().appliedIndex();
      group.start(away);
      group.awaitMember(away, applied);

      group.kill(away);
      group.wipe(away);
      group.start(away);
      group.awaitMember(away, applied);

      group.kill(group.awaitLeader());
      createBucket(client, "last");
      assertEquals(Set.of("first", "last"), names(client));
      assertTrue(client.credential("key9").isPresent());
    }
  }

  /** Alone with one that remembers it could make a majority out of what it has forgotten. */
  @Test
  void anEmptiedPeerHasNoVoteWhileAMajorityOfOthersIsAway() throws Exception {
    try (LoopbackGroup group = new LoopbackGroup(root, 3).startAll();
        RemoteMetadata client = group.client()) {
      createBucket(client, "b");
      int leader = group.awaitLeader();
      int wiped = (leader + 1) % 3;
      int other = (leader + 2) % 3;
      group.awaitMember(other, 0);
      group.kill(wiped);
      group.wipe(wiped);
      group.kill(leader);
      group.start(wiped);
      Thread.sleep(3 * LoopbackGroup.ELECTIONS.max().toMillis());
      assertEquals(false, group.peer(wiped).status().isRunning());
      assertEquals(false, group.peer(other).status().isLeader());
      group.start(leader);
      group.awaitMember(wiped, 0);
      assertEquals(Set.of("b"), names(client));
    }
  }
}
