package dev.ashlar.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.ChangeClient;
import dev.ashlar.it.harness.ClusterNodes;
import dev.ashlar.it.harness.NodeProcess;
import dev.ashlar.it.harness.RawConnection.Answer;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.linear.HistoryRecorder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Clients change and read keys while faults come and go. After each of them all keys are read, and
 * some order of all that was answered for a key must explain it.
 *
 * <p>What a storage node missed or lost lacks until it has been repaired. So within an era only so
 * many of them are touched as may be lost, and at its end nothing may be owed any more. Most keys
 * stay: in the next era others of the nodes that have them are touched.
 */
final class FaultRounds {
  private static final int TEAMS = 3;
  private static final int CLIENTS = 3;
  private static final int CALLS = 8;
  private static final HistoryRecorder.Pace PACE = new HistoryRecorder.Pace(120, 300);
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  /**
   * From when a fault has begun, or has ended, until no request fails because of it any more. What
   * is promised for each of several things that can follow each other: a silent node is noticed
   * after 5 s, an election begins after 3 s, a lost connection is tried again every 3 s, a drive
   * that hangs is gone around after 10 s (docs/operate/failures.md, How long a loss is felt). The
   * rest is slack for a machine that has other things to do.
   */
  static final Duration FAILOVER_MAX = Duration.ofSeconds(30);

  private static final int GOOD_IN_A_ROW = 3;
  private static final int LISTINGS_MAX = 20;

  /** So many keys outlast an era. */
  private static final int KEPT_MAX = 100;

  private static final int READ_MEANWHILE = 10;
  private static final Pattern KEY = Pattern.compile("<Key>([^<]+)</Key>");

  private final ClusterNodes nodes;
  private final FaultChoice choice;
  private final int parityShards;
  private final Random random;
  private final String bucket;
  private final Queue<HistoryRecorder> recorders = new ConcurrentLinkedQueue<>();

  /** Those of former eras: since then nobody changes them, and nothing is owed to them. */
  private List<HistoryRecorder> kept = List.of();

  private final AtomicInteger keys = new AtomicInteger();
  private volatile boolean isOver;

  FaultRounds(
      ClusterNodes nodes, FaultChoice choice, int parityShards, Random random, String bucket) {
    this.nodes = nodes;
    this.choice = choice;
    this.parityShards = parityShards;
    this.random = random;
    this.bucket = bucket;
    until("the bucket is there", 1, client -> client.put("", new byte[0]).status() == 200);
  }

  /** As many faults, all of the same few storage nodes, of metadata and of gateways. */
  void era(int faults) {
    List<NodeProcess> storage = new ArrayList<>(nodes.of("storage"));
    Collections.shuffle(storage, random);
    List<NodeProcess> weak = storage.subList(0, parityShards);
    for (int i = 0; i < faults; i++) {
      round(choice.next(weak));
    }
    settle();
    keepSome();
  }

  /** All keys are there, and nothing is owed any more. */
  void settle() {
    compareWithListing();
    System.out.println("  " + recorders.size() + " keys, all explained");
    long beganNanos = System.nanoTime();
    nodes.awaitNothingOwed();
    System.out.println("  nothing is owed after " + msSince(beganNanos) + " ms");
  }

  private void keepSome() {
    List<HistoryRecorder> all = shuffled(recorders);
    kept = all.subList(0, Math.min(KEPT_MAX, all.size()));
    for (HistoryRecorder gone : all.subList(kept.size(), all.size())) {
      delete(gone.key());
      recorders.remove(gone);
    }
  }

  /** How many there are, which no seed tells, does not change what is drawn after this. */
  private List<HistoryRecorder> shuffled(Collection<HistoryRecorder> some) {
    List<HistoryRecorder> all = new ArrayList<>(some);
    Collections.shuffle(all, new Random(random.nextLong()));
    return all;
  }

  /** One fault, and the comparison of all keys with what was answered. */
  void round(Fault fault) {
    System.out.println(fault.what());
    isOver = false;
    List<Thread> teams = startTeams();
    try {
      pause(300);
      during(fault);
      long endedNanos = System.nanoTime();
      for (int gateway = 1; gateway <= nodes.gateways().size(); gateway++) {
        probe("  afterwards, gateway-" + gateway, true, gateway, endedNanos);
      }
    } finally {
      isOver = true;
      teams.forEach(FaultRounds::join);
    }
    present();
    recorders.forEach(HistoryRecorder::check);
  }

  /** It ends also where something fails: others use the same cluster afterwards. */
  private void during(Fault fault) {
    fault.begin().run();
    try {
      boolean canWrite = fault.storageNodesAway() < parityShards;
      probe("  meanwhile", canWrite, nodes.gateways().size() + 1, System.nanoTime());
      shuffled(kept).stream().limit(READ_MEANWHILE).forEach(known -> known.read(FAILOVER_MAX));
      pause(random.nextInt(3_000));
    } finally {
      fault.end().run();
    }
  }

  private List<Thread> startTeams() {
    List<Thread> teams = new ArrayList<>();
    for (int i = 0; i < TEAMS; i++) {
      SplittableRandom own = new SplittableRandom(random.nextLong());
      teams.add(Thread.ofPlatform().name("team-" + i).start(() -> work(own)));
    }
    return teams;
  }

  /** One key after the other. */
  private void work(SplittableRandom own) {
    try {
      while (!isOver) {
        HistoryRecorder recorder =
            new HistoryRecorder(door(), PACE, "key-" + keys.incrementAndGet(), own.split());
        recorders.add(recorder);
        recorder.start(CLIENTS, CALLS);
        recorder.join();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** A way in that leads to one gateway after the other: any of them may be away. */
  private HistoryRecorder.Door door() {
    AtomicInteger next = new AtomicInteger(anyGateway());
    return () ->
        nodes.client(1 + next.getAndIncrement() % nodes.gateways().size(), bucket, PATIENCE);
  }

  private int anyGateway() {
    return ThreadLocalRandom.current().nextInt(nodes.gateways().size()) + 1;
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Reads all keys and returns those that are there. */
  private Set<String> present() {
    Set<String> present = new TreeSet<>();
    for (HistoryRecorder recorder : recorders) {
      if (recorder.read(FAILOVER_MAX)) {
        present.add(recorder.key());
      }
    }
    return present;
  }

  /** What a client gave up may come true a little later, also between the two. */
  private void compareWithListing() {
    Set<String> present = present();
    Set<String> listed = listed();
    for (int tries = 1; !present.equals(listed) && tries < LISTINGS_MAX; tries++) {
      pause(1_000);
      present = present();
      listed = listed();
    }
    assertEquals(present, listed, "what is listed is what can be read");
  }

  private Set<String> listed() {
    Set<String> listed = new TreeSet<>();
    until(
        "the bucket is listed",
        1,
        client -> {
          listed.clear();
          Answer answer = client.send("GET", "", "list-type=2&prefix=key-", new byte[0], Map.of());
          Matcher key = KEY.matcher(answer.text());
          while (key.find()) {
            listed.add(key.group(1));
          }
          return answer.status() == 200;
        });
    return listed;
  }

  private void delete(String key) {
    until(
        key + " is deleted",
        1,
        client -> client.send("DELETE", key, "", new byte[0], Map.of()).status() == 204);
  }

  private interface Attempt {
    boolean succeeds(ChangeClient client) throws IOException;
  }

  /**
   * The store serves again, and from when on.
   *
   * @param gateway all requests go there; if there is none such, each to any
   * @param sinceNanos when the fault began, or ended
   */
  private void probe(String when, boolean canWrite, int gateway, long sinceNanos) {
    String key = "probe-" + random.nextInt(1_000_000);
    byte[] body = key.getBytes(StandardCharsets.US_ASCII);
    if (canWrite) {
      measure(
          when + ": writes", gateway, sinceNanos, client -> isAnswered(200, client.put(key, body)));
    }
    int expected = canWrite ? 200 : 404;
    measure(
        when + ": reads",
        gateway,
        sinceNanos,
        client -> isAnswered(expected, client.send("GET", key, "", new byte[0], Map.of())));
  }

  /** The only other answer is one with which clients try again. */
  private static boolean isAnswered(int expected, Answer answer) {
    assertTrue(answer.status() == expected || answer.status() == 503, answer::toString);
    return answer.status() == expected;
  }

  private void until(String what, int gateway, Attempt attempt) {
    succeed(what, gateway, System.nanoTime(), 1, attempt);
  }

  private void measure(String what, int gateway, long sinceNanos, Attempt attempt) {
    int tries = succeed(what, gateway, sinceNanos, GOOD_IN_A_ROW, attempt);
    System.out.println(
        what + " after " + msSince(sinceNanos) + " ms, " + (tries - GOOD_IN_A_ROW) + " failed");
  }

  private static long msSince(long nanos) {
    return (System.nanoTime() - nanos) / 1_000_000;
  }

  /**
   * Tries until it has succeeded some times in a row; a client that gives up tries again. No try
   * may fail after the failover bound.
   *
   * @return how many tries it took
   */
  private int succeed(String what, int gateway, long sinceNanos, int times, Attempt attempt) {
    int tries = 0;
    int inARow = 0;
    int door = gateway > nodes.gateways().size() ? anyGateway() : gateway;
    while (inARow < times) {
      tries++;
      try (ChangeClient client = nodes.client(door, bucket, PATIENCE)) {
        inARow = attempt.succeeds(client) ? inARow + 1 : 0;
      } catch (IOException e) {
        inARow = 0;
      }
      if (inARow == 0) {
        if (System.nanoTime() - sinceNanos > FAILOVER_MAX.toNanos()) {
          throw nodes.failed(
              what + ": try " + tries + " fails more than " + FAILOVER_MAX + " after");
        }
        door = gateway > nodes.gateways().size() ? door % nodes.gateways().size() + 1 : gateway;
        pause(PACE.retryMs());
      }
    }
    return tries;
  }

  private static void pause(int ms) {
    ServerProcess.pause(Duration.ofMillis(ms));
  }
}
