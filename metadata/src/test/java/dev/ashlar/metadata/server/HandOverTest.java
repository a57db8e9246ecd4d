package dev.ashlar.metadata.server;

import static dev.ashlar.metadata.server.BucketLoad.createBucket;
import static dev.ashlar.metadata.server.BucketLoad.names;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits;
import dev.ashlar.metadata.consensus.network.ElectionTimes;
import dev.ashlar.metadata.state.SeededRuns;
import dev.ashlar.protocol.message.PeerStanding;
import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.protocol.wire.CallMessage.Outcome;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.call.CallAnswer;
import dev.ashlar.transport.call.CallClient;
import dev.ashlar.transport.call.CallException;
import dev.ashlar.transport.metadata.RemoteMetadata;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.proto.RaftProtos.TermIndexProto;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/** A leader hands over before it ends. */
@Tag("slow")
@Timeout(300)
@Isolated("it counts elections, for which a busy machine has no time")
class HandOverTest {
  private static final int HAND_OVERS = 20;
  private static final Duration CALL = Duration.ofSeconds(10);

  /** A lease that a hand-over does not outlast on a busy machine either. */
  private static final ElectionTimes LONG_LEASE =
      new ElectionTimes(Duration.ofSeconds(5), Duration.ofSeconds(10));

  @TempDir Path root = Path.of("");

  /** Sees the calls of an election and of a hand-over. */
  private static final class Calls implements CallTap {
    /** A peer asks whether it would be elected after it has missed its leader, not when told to. */
    private final AtomicInteger missedLeaders = new AtomicInteger();

    private final List<Sent> handOver = new CopyOnWriteArrayList<>();

    /** Peers of a build that does not know these calls. */
    private final Set<Endpoint> older = ConcurrentHashMap.newKeySet();

    private volatile Runnable afterElect = () -> {};
    private volatile boolean refusesToLead;

    record Sent(Endpoint to, Method method, byte[] body) {}

    @Override
    public CallAnswer pass(Endpoint to, Method method, byte[] body, Call call)
        throws CallException, InterruptedException {
      if (method == Method.RELEASE || method == Method.ELECT) {
        handOver.add(new Sent(to, method, body));
      }
      if (method == Method.VOTE
          && parsed(() -> RequestVoteRequestProto.parseFrom(body).getPreVote())) {
        missedLeaders.incrementAndGet();
      }
      CallAnswer answer =
          method == Method.ELECT && refusesToLead
              ? CallAnswer.because(Outcome.REFUSED, "for a test")
              : call.make();
      if (method == Method.ELECT) {
        afterElect.run();
      }
      return method == Method.STANDING && answer.outcome() == Outcome.DONE && older.contains(to)
          ? CallAnswer.done(
              parsed(
                  () ->
                      PeerStanding.parseFrom(answer.body()).toBuilder()
                          .clearTakesOver()
                          .build()
                          .toByteArray()))
          : answer;
    }

    private interface Parser<T> {
      T parse() throws IOException;
    }

    private static <T> T parsed(Parser<T> parser) {
      try {
        return parser.parse();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    List<Endpoint> asked(Method method) {
      return handOver.stream().filter(sent -> sent.method() == method).map(Sent::to).toList();
    }
  }

  private final Calls calls = new Calls();

  /** With the election times of a server, so that a busy machine misses no leader. */
  private LoopbackGroup group(int size) throws IOException {
    return group(size, ElectionTimes.DEFAULT);
  }

  private LoopbackGroup group(int size, ElectionTimes times) throws IOException {
    return new LoopbackGroup(root, size, CheckpointLimits.DEFAULT, times, calls).startAll();
  }

  private static long term(LoopbackGroup group, int place) {
    return group.peer(place).status().term();
  }

  /** Returns the place of the leader, when all others are members and follow it. */
  private static int awaitQuiet(LoopbackGroup group, int size) throws InterruptedException {
    int leader = group.awaitLeader();
    for (int place = 0; place < size; place++) {
      group.awaitMember(place, group.peer(leader).status().appliedIndex());
    }
    return leader;
  }

  @Test
  void nobodyHasToMissTheLeaderAndNoCommandFails() throws Exception {
    try (LoopbackGroup group = group(3);
        RemoteMetadata client = group.client()) {
      BucketLoad load = new BucketLoad(client);
      load.awaitMore(20);
      int leader = awaitQuiet(group, 3);
      calls.missedLeaders.set(0);
      for (int i = 0; i < HAND_OVERS; i++) {
        long term = term(group, leader);
        group.peer(leader).handOver();
        int old = leader;
        leader = group.awaitLeader();
        assertNotEquals(old, leader);
        assertEquals(term + 1, term(group, leader));
        load.awaitMore(20);
      }
      assertEquals(load.end(), names(client));
      assertEquals(0, calls.missedLeaders.get());
    }
  }

  /** More votes are needed than those of the two who know first. */
  @Test
  void fivePeersElectTheSuccessorAtOnce() throws Exception {
    try (LoopbackGroup group = group(5);
        RemoteMetadata client = group.client()) {
      createBucket(client, "before");
      int leader = awaitQuiet(group, 5);
      calls.missedLeaders.set(0);
      group.peer(leader).handOver();
      group.kill(leader);
      createBucket(client, "after");
      assertEquals(0, calls.missedLeaders.get());
      assertEquals(Set.of("before", "after"), names(client));
    }
  }

  @Test
  void aPeerThatIsEndingItselfIsNotChosen() throws Exception {
    try (LoopbackGroup group = group(3);
        RemoteMetadata client = group.client()) {
      createBucket(client, "before");
      int leader = awaitQuiet(group, 3);
      int ending = leader == 1 ? 2 : 1;
      group.peer(ending).setEnding();
      group.peer(leader).handOver();
      int next = group.awaitLeader(place -> place != leader);
      assertTrue(next != ending);
      assertEquals(Set.of("before"), names(client));
    }
  }

  /** It does not wait for the successor, and takes commands only if it is elected again. */
  @Test
  void aLeaderWhoseSuccessorRefusesStepsDown() throws Exception {
    try (LoopbackGroup group = group(3);
        RemoteMetadata client = group.client()) {
      createBucket(client, "before");
      int leader = awaitQuiet(group, 3);
      calls.refusesToLead = true;
      group.peer(leader).handOver();
      assertFalse(group.peer(leader).status().isLeader());
      createBucket(client, "after");
      assertEquals(Set.of("before", "after"), names(client));
    }
  }

  @Test
  void readsAndWritesAreLinearizableMeanwhile() throws Exception {
    boolean unused =
        SeededRuns.repeat(
            1,
            seed -> {
              Random random = new Random(seed);
              try (LoopbackGroup group = group(3);
                  RemoteMetadata client = group.client()) {
                RegisterLoad load = new RegisterLoad(client, group, 3);
                for (int i = 0; i < HAND_OVERS; i++) {
                  load.awaitMore(1 + random.nextInt(30));
                  int leader = awaitQuiet(group, 3);
                  group.peer(leader).handOver();
                  if (random.nextInt(5) == 0) {
                    group.kill(leader);
                    load.awaitMore(1 + random.nextInt(30));
                    group.start(leader);
                  }
                }
                load.awaitMore(30);
                load.end();
              }
            });
  }

  /** It does not hear that the others have elected another one, and its promises would last on. */
  @Test
  void aLeaderThatHasHandedOverAnswersNoReads() throws Exception {
    try (LoopbackGroup group = group(3, LONG_LEASE);
        RemoteMetadata client = group.client()) {
      createBucket(client, "before");
      int old = awaitQuiet(group, 3);
      calls.missedLeaders.set(0);
      calls.afterElect = () -> group.isolate(old);
      try (OnePeer beside = group.only(old)) {
        assertEquals(Optional.of(Set.of("before")), beside.names());
        Thread reader = beside.readOn("after");
        Thread ending = Thread.ofVirtual().start(() -> group.peer(old).handOver());
        int next = group.awaitLeader(place -> place != old);
        assertEquals(0, calls.missedLeaders.get(), "while the lease would be in force");
        try (RemoteMetadata there = group.client(List.of(group.endpoint(next)), CALL)) {
          createBucket(there, "after");
        }
        long doneNanos = System.nanoTime();
        assertEquals(Optional.empty(), beside.names());
        beside.stop(reader);
        assertTrue(beside.lastAbsentNanos() - doneNanos < 0, "began after the answer, saw less");
        ending.join();
        group.heal();
        assertEquals(Set.of("before", "after"), names(client));
      }
    }
  }

  private static RequestVoteRequestProto voteFor(
      byte[] candidate, StartLeaderElectionRequestProto of, long term) {
    return RequestVoteRequestProto.newBuilder()
        .setServerRequest(
            of.getServerRequest().toBuilder().setRequestorId(ByteString.copyFrom(candidate)))
        .setCandidateTerm(term)
        .setCandidateLastEntry(TermIndexProto.newBuilder().setTerm(term).setIndex(1 << 20))
        .build();
  }

  private void assertRefused(LoopbackGroup group, int place, Method method, byte[] body)
      throws Exception {
    try (CallClient peer = group.asPeer(place)) {
      assertTrue(peer.awaitConnected(CALL));
      CallAnswer answer = peer.call(method, body, CALL);
      assertNotEquals(Outcome.DONE, answer.outcome(), () -> method + " to " + place);
    }
  }

  /**
   * Late and forged calls neither begin an election nor end what was promised to the next leader.
   */
  @Test
  void callsOfAnEarlierTermOrOfNoLeaderHaveNoEffect() throws Exception {
    try (LoopbackGroup group = group(3);
        RemoteMetadata client = group.client()) {
      createBucket(client, "before");
      int old = awaitQuiet(group, 3);
      group.peer(old).handOver();
      int leader = group.awaitLeader(place -> place != old);
      createBucket(client, "after");
      awaitQuiet(group, 3);
      long term = term(group, leader);
      List<Endpoint> places = group.endpoints();
      for (Calls.Sent late : List.copyOf(calls.handOver)) {
        int place = places.indexOf(late.to());
        StartLeaderElectionRequestProto request =
            StartLeaderElectionRequestProto.parseFrom(late.body());
        assertRefused(group, place, late.method(), late.body());
        byte[] present =
            request.toBuilder()
                .setLeaderLastEntry(TermIndexProto.newBuilder().setTerm(term).setIndex(1 << 20))
                .build()
                .toByteArray();
        assertRefused(group, place, Method.RELEASE, present); // from who leads no more
        assertRefused(group, place, Method.ELECT, present);
        if (place != leader) {
          RaftRpcRequestProto from = request.getServerRequest();
          byte[] vote =
              voteFor(from.getRequestorId().toByteArray(), request, term + 7).toByteArray();
          assertRefused(group, place, Method.VOTE, vote);
        }
      }
      assertEquals(
          Set.of(Method.RELEASE, Method.ELECT),
          Set.copyOf(calls.handOver.stream().map(Calls.Sent::method).toList()));
      assertEquals(leader, group.awaitLeader());
      assertEquals(term, term(group, leader));
      assertEquals(Set.of("before", "after"), names(client));
    }
  }

  @Test
  void olderPeersAreNeitherCalledNorChosen() throws Exception {
    try (LoopbackGroup group = group(3);
        RemoteMetadata client = group.client()) {
      createBucket(client, "before");
      int leader = awaitQuiet(group, 3);
      int newer = (leader + 1) % 3;
      int older = (leader + 2) % 3;
      calls.older.addAll(Set.of(group.endpoint(newer), group.endpoint(older)));
      group.peer(leader).handOver();
      assertEquals(List.of(), calls.handOver);
      assertEquals(leader, group.awaitLeader(), "leads and answers until it closes");
      assertEquals(Set.of("before"), names(client));

      calls.older.remove(group.endpoint(newer));
      calls.missedLeaders.set(0);
      group.peer(leader).handOver();
      assertEquals(newer, group.awaitLeader(place -> place != leader));
      assertEquals(List.of(), calls.asked(Method.RELEASE));
      assertEquals(List.of(group.endpoint(newer)), calls.asked(Method.ELECT));
      assertEquals(0, calls.missedLeaders.get());
      createBucket(client, "after");
      assertEquals(Set.of("before", "after"), names(client));
    }
  }

  @Test
  void aLeaderWithoutItsOthersEndsAsItIs() throws Exception {
    try (LoopbackGroup group = group(3);
        RemoteMetadata client = group.client()) {
      createBucket(client, "before");
      int leader = awaitQuiet(group, 3);
      int other = (leader + 1) % 3;
      group.kill(other);
      group.peer(leader).handOver();
      int next = group.awaitLeader(place -> place != leader);
      assertEquals((leader + 2) % 3, next, "the one that is there");
      group.kill(leader);
      group.peer(next).handOver();
      assertEquals(List.of(group.endpoint(next)), calls.asked(Method.ELECT), "nobody else");
      group.start(leader);
      group.start(other);
      createBucket(client, "after");
      assertEquals(Set.of("before", "after"), names(client));
    }
  }
}
