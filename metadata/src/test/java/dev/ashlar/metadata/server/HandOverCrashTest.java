package dev.ashlar.metadata.server;

import static dev.ashlar.metadata.server.BucketLoad.names;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.call.CallAnswer;
import dev.ashlar.transport.call.CallException;
import dev.ashlar.transport.metadata.RemoteMetadata;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * The leader, or its successor, crashes at each step of a hand-over and starts again: the group has
 * a leader, nothing acknowledged is lost, and no read is from the past. {@code
 * ashlar.handover.roles} says how many of the two crash at each step, each in a round of its own;
 * which ones is random.
 */
@Tag("slow")
@Timeout(300)
@Isolated("its many groups elect leaders, for which a busy machine has no time")
class HandOverCrashTest {
  private static final int SIZE = 3;
  private static final long STOP_MAX_SECONDS = 10;
  private static final int ROLES = Integer.getInteger("ashlar.handover.roles", 1);

  private final long seed = Long.getLong("seed", System.nanoTime());

  @TempDir Path root = Path.of("");

  private enum Role {
    LEADER,
    SUCCESSOR
  }

  private record Crash(String step, Role role) {}

  /** Each call of a hand-over, before it arrives and before its answer does; it stops at one. */
  private static final class Steps implements CallTap {
    private final String stopAt;
    private final Set<String> passed = ConcurrentHashMap.newKeySet();
    private final List<String> order = new ArrayList<>();
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);
    private volatile Endpoint leader = new Endpoint("none", 1);
    private volatile Endpoint third = leader;
    private volatile long term = Long.MAX_VALUE;

    Steps(String stopAt) {
      this.stopAt = stopAt;
    }

    void begin(Endpoint leads, long inTerm) {
      leader = leads;
      term = inTerm;
    }

    @Override
    public CallAnswer pass(Endpoint to, Method method, byte[] body, Call call)
        throws CallException, InterruptedException {
      String step = step(to, method, body);
      reach(step, " is sent");
      CallAnswer answer = call.make();
      reach(step, " is answered");
      return answer;
    }

    /** Empty: not one of them. */
    private String step(Endpoint to, Method method, byte[] body) {
      if (term == Long.MAX_VALUE) {
        return "";
      }
      String who = to.equals(leader) ? " of the leader" : " of the third";
      return switch (method) {
        case RELEASE -> {
          third = to;
          yield "RELEASE";
        }
        case ELECT -> "ELECT";
        case VOTE -> "VOTE" + who;
        case APPEND -> isOfNext(body) ? "APPEND" + who : "";
        default -> "";
      };
    }

    private boolean isOfNext(byte[] body) {
      try {
        return AppendEntriesRequestProto.parseFrom(body).getLeaderTerm() > term;
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }

    private void reach(String step, String what) throws InterruptedException {
      if (step.isEmpty() || released.getCount() == 0) {
        return;
      }
      if (passed.add(step + what)) {
        synchronized (order) {
          order.add(step + what);
        }
      }
      if (stopAt.equals(step + what)) {
        stopped.countDown();
      }
      if (stopped.getCount() == 0) {
        released.await();
      }
    }
  }

  private static void awaitMembers(LoopbackGroup group, int leader) throws InterruptedException {
    for (int place = 0; place < SIZE; place++) {
      group.awaitMember(place, group.peer(leader).status().appliedIndex());
    }
  }

  private static int successor(LoopbackGroup group, Steps steps) {
    return IntStream.range(0, SIZE)
        .filter(place -> !group.endpoint(place).equals(steps.leader))
        .filter(place -> !group.endpoint(place).equals(steps.third))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void leaderOrSuccessorCrashesAtEachStep() throws Exception {
    Steps dry = new Steps("");
    try (LoopbackGroup group = new LoopbackGroup(root.resolve("dry"), SIZE, dry).startAll();
        RemoteMetadata client = group.client()) {
      BucketLoad load = new BucketLoad(client);
      load.awaitMore(20);
      int leader = group.awaitLeader();
      awaitMembers(group, leader);
      dry.begin(group.endpoint(leader), group.peer(leader).status().term());
      group.peer(leader).handOver();
      load.awaitMore(20);
      assertEquals(load.end(), names(client));
    }
    Set<String> steps = new LinkedHashSet<>(dry.order);
    System.out.printf("Crashes of %d of two peers at each step, seed %d%n", ROLES, seed);
    steps.forEach(step -> System.out.println("crashes when " + step));
    assertTrue(steps.containsAll(Set.of("RELEASE is sent", "ELECT is answered")), steps::toString);
    List<Crash> crashes = steps.stream().flatMap(this::crashes).toList();
    Map<Crash, Integer> numbers =
        IntStream.range(0, crashes.size()).boxed().collect(Collectors.toMap(crashes::get, i -> i));
    InParallel.forEach(crashes, crash -> run(crash, root.resolve("" + numbers.get(crash))));
  }

  private Stream<Crash> crashes(String step) {
    List<Role> roles = new ArrayList<>(List.of(Role.values()));
    Collections.shuffle(roles, new Random(seed ^ step.hashCode()));
    return roles.stream().limit(ROLES).map(role -> new Crash(step, role));
  }

  private void run(Crash crash, Path folder) throws Exception {
    Steps steps = new Steps(crash.step());
    try (LoopbackGroup group = new LoopbackGroup(folder, SIZE, steps).startAll();
        RemoteMetadata client = group.client()) {
      RegisterLoad register = new RegisterLoad(client, group, SIZE);
      BucketLoad load = new BucketLoad(client);
      load.awaitMore(20);
      int leader = group.awaitLeader();
      awaitMembers(group, leader);
      steps.begin(group.endpoint(leader), group.peer(leader).status().term());
      Thread ending = Thread.ofVirtual().start(() -> group.peer(leader).handOver());
      // Which vote comes first, so that the other one is not needed, is chance.
      boolean isReached = steps.stopped.await(STOP_MAX_SECONDS, TimeUnit.SECONDS);
      int crashed = crash.role() == Role.LEADER ? leader : successor(group, steps);
      group.silence(crashed);
      steps.released.countDown();
      ending.join();
      group.kill(crashed);
      group.heal();
      load.awaitMore(20);
      group.start(crashed);
      register.awaitMore(20);
      register.end();
      assertEquals(load.end(), names(client));
      assertTrue(isReached || crash.step().startsWith("VOTE"), "never reached");
    } catch (Exception | AssertionError e) {
      throw new AssertionError(crash + ", seed " + seed, e);
    } finally {
      steps.released.countDown();
    }
  }
}
