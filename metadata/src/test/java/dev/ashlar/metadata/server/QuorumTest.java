package dev.ashlar.metadata.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.CheckpointLimits;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.FaultyProxy;
import dev.ashlar.transport.FaultyProxy.Fault;
import dev.ashlar.transport.metadata.RemoteMetadata;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Three peers over sockets, and what may happen to them. */
@Timeout(100)
class QuorumTest {
  @TempDir Path root = Path.of("");

  private static CommandResult create(MetadataClient client, String bucket) throws Exception {
    return client.submit(TestBlobs.createBucket(bucket));
  }

  private static Set<String> names(MetadataClient client) throws Exception {
    return client.buckets().stream().map(BucketRow::getName).collect(Collectors.toSet());
  }

  /** A command that was executed twice would answer that the bucket is there already. */
  @Test
  void theLossOfTheLeaderUnderLoadLosesAndRepeatsNothing() throws Exception {
    try (LoopbackGroup group = new LoopbackGroup(root, 3).startAll();
        RemoteMetadata client = group.client()) {
      Load load = new Load(client);
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

  /** Commands of several clients, each of which works once only. */
  private static final class Load {
    private final Set<String> acknowledged = ConcurrentHashMap.newKeySet();
    private final Set<ResultCode> codes = ConcurrentHashMap.newKeySet();
    private final Set<Throwable> failures = ConcurrentHashMap.newKeySet();
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean isOver;

    Load(MetadataClient client) {
      for (int i = 0; i < 8; i++) {
        String prefix = "b" + i + "-";
        threads.add(Thread.ofVirtual().start(() -> createOn(client, prefix)));
      }
    }

    private void createOn(MetadataClient client, String prefix) {
      for (int i = 0; !isOver; i++) {
        try {
          codes.add(create(client, prefix + i).getCode());
          acknowledged.add(prefix + i);
        } catch (Exception e) {
          failures.add(e);
          isOver = true;
        }
      }
    }

    void awaitMore(int more) throws InterruptedException {
      int before = acknowledged.size();
      while (acknowledged.size() < before + more && !isOver) {
        Thread.sleep(5);
      }
    }

    Set<String> end() throws InterruptedException {
      isOver = true;
      for (Thread thread : threads) {
        thread.join();
      }
      assertEquals(Set.of(), failures);
      assertEquals(Set.of(ResultCode.OK), codes);
      return acknowledged;
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
        Load load = new Load(client);
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
      create(client, "before");
      int old = group.awaitLeader();
      try (RemoteMetadata beside =
          group.client(List.of(group.endpoint(old)), Duration.ofMillis(1500))) {
        assertEquals(Set.of("before"), names(beside));
        group.isolate(old);
        AtomicLong lastAbsentNanos = new AtomicLong(System.nanoTime());
        AtomicLong answers = new AtomicLong();
        AtomicBoolean isOver = new AtomicBoolean();
        Thread reader =
            Thread.ofVirtual().start(() -> readOn(beside, isOver, lastAbsentNanos, answers));
        create(client, "after");
        long doneNanos = System.nanoTime();
        assertNotEquals(old, group.awaitLeader(place -> place != old));
        assertThrows(MetadataUnavailableException.class, () -> names(beside));
        isOver.set(true);
        reader.join();
        assertTrue(answers.get() > 0, "under its lease it answers");
        assertTrue(lastAbsentNanos.get() - doneNanos < 0, "began after the answer, saw less");
        group.heal();
        assertEquals(Set.of("before", "after"), names(client));
      }
    }
  }

  /** Remembers when the last read began that did not see what was made. */
  private static void readOn(
      MetadataClient client, AtomicBoolean isOver, AtomicLong lastAbsentNanos, AtomicLong answers) {
    while (!isOver.get()) {
      long begun = System.nanoTime();
      try {
        if (client.bucket("after").isEmpty()) {
          lastAbsentNanos.set(begun);
        }
        answers.incrementAndGet();
      } catch (MetadataUnavailableException e) {
        // Cut off: that is an answer, too.
      }
    }
  }

  @Test
  void aFollowerCatchesUpByCheckpointAlsoWhenItsFolderIsEmpty() throws Exception {
    CheckpointLimits small = new CheckpointLimits(100, 1 << 20);
    try (LoopbackGroup group =
            new LoopbackGroup(root, 3, small, LoopbackGroup.ELECTIONS).startAll();
        RemoteMetadata client = group.client()) {
      create(client, "first");
      int leader = group.awaitLeader();
      int away = (leader + 1) % 3;
      group.kill(away);
      for (int i = 0; i < 1100; i++) { // the log keeps the last thousand entries
        create(client, "b" + i);
      }
      group.peer(leader).checkpoint(Duration.ofMinutes(1));
      group.start(away);
      group.awaitMember(away, group.peer(leader).status().appliedIndex());
      assertTrue(hasCheckpoint(group.folder(away)), "it was sent one");

      group.kill(away);
      group.wipe(away);
      group.start(away);
      group.awaitMember(away, group.peer(leader).status().appliedIndex());
      assertTrue(hasCheckpoint(group.folder(away)), "it was sent one");

      group.kill(group.awaitLeader());
      create(client, "last");
      assertEquals(1102, names(client).size());
    }
  }

  private static boolean hasCheckpoint(Path folder) throws Exception {
    try (Stream<Path> tree = Files.walk(folder.resolve("raft"))) {
      return tree.anyMatch(path -> path.getFileName().toString().startsWith("checkpoint-"));
    }
  }

  /** Alone with one that remembers it could make a majority out of what it has forgotten. */
  @Test
  void anEmptiedPeerHasNoVoteWhileAMajorityOfOthersIsAway() throws Exception {
    try (LoopbackGroup group = new LoopbackGroup(root, 3).startAll();
        RemoteMetadata client = group.client()) {
      create(client, "b");
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
