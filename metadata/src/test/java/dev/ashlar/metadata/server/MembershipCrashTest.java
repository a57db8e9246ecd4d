package dev.ashlar.metadata.server;

import static dev.ashlar.metadata.server.BucketLoad.createBucket;
import static dev.ashlar.metadata.server.BucketLoad.names;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.message.PeersChangeAnswer;
import dev.ashlar.protocol.message.PeersChangeStatus;
import dev.ashlar.protocol.message.PeersStatus;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.metadata.RemoteMetadata;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A peer crashes at each step of adding and of removing one, and starts again: the group has a
 * leader, nothing acknowledged is lost, and its peers are those before or those after. How many of
 * the peers crash at each step, each in a round of its own: {@code ashlar.membership.roles}.
 */
@Tag("slow")
@Timeout(300)
@Isolated("its many groups elect leaders, for which a busy machine has no time")
class MembershipCrashTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final int SIZE = 3;
  private static final int ATTEMPTS = 5;
  private static final int STEP_MAX_SECONDS = 60;
  private static final int ROLES = Integer.getInteger("ashlar.membership.roles", 1);

  private final long seed = Long.getLong("seed", System.nanoTime());

  @TempDir Path root = Path.of("");

  /** A replacement is one of these after the other. */
  private enum Change {
    ADD(SIZE + 1),
    REMOVE(SIZE - 1),
    REMOVE_LEADER(SIZE - 1);

    private final int sizeAfter;

    Change(int sizeAfter) {
      this.sizeAfter = sizeAfter;
    }

    /** From place 0, which leads, on. */
    List<String> roles() {
      return switch (this) {
        case ADD -> List.of("leader", "second", "third", "new one");
        case REMOVE -> List.of("leader", "second", "leaving one");
        case REMOVE_LEADER -> List.of("leaving leader", "second", "third");
      };
    }

    /** Each: what happens to the third at a step of the second is the same the other way round. */
    List<String> crashing() {
      return roles().stream().filter(role -> !role.equals("third")).toList();
    }

    int leaving() {
      return roles().indexOf(this == REMOVE ? "leaving one" : "leaving leader");
    }
  }

  /** One of the crashes. */
  private record Crash(String step, String role) {}

  /** A group while it changes, and what was acknowledged. */
  private static final class Run implements AutoCloseable {
    private final Change change;
    private final ChangeSteps steps;
    private final LoopbackGroup group;
    private final RemoteMetadata client;
    private final List<Integer> places = new ArrayList<>();
    private final Set<String> acknowledged = ConcurrentHashMap.newKeySet();
    private final Thread writer = Thread.ofVirtual().unstarted(this::write);
    private volatile boolean isOver;
    private final long term;
    private volatile @Nullable Exception failure;

    Run(Change change, String stopAt, Path folder) throws Exception {
      this.change = change;
      steps = new ChangeSteps(stopAt);
      group = new LoopbackGroup(folder, SIZE, steps).startAll();
      client = group.client(group.endpoints(), PATIENCE);
      create("before");
      for (int place = 0; place < SIZE; place++) {
        takeCheckpoint(group, place);
      }
      int leader = group.awaitLeader();
      term = group.peer(leader).status().term();
      IntStream.range(0, SIZE).forEach(next -> places.add((leader + next) % SIZE));
      if (change == Change.ADD) {
        places.add(group.join());
      }
    }

    /** Beside all that happens. */
    private void write() {
      try {
        for (int i = 0; !isOver; i++) {
          create("w" + i);
          Thread.sleep(20);
        }
      } catch (Exception e) {
        failure = e;
      }
    }

    private void create(String name) throws Exception {
      createBucket(client, name);
      acknowledged.add(name);
    }

    private Set<String> addresses(boolean isAfter) {
      return IntStream.range(0, places.size())
          .filter(i -> i < SIZE ? !isAfter || i != change.leaving() : isAfter)
          .mapToObj(i -> group.endpoint(places.get(i)).toString())
          .collect(Collectors.toSet());
    }

    private Set<String> peers() throws Exception {
      return client.peers().getPeersList().stream()
          .map(PeersStatus.Peer::getAddress)
          .collect(Collectors.toSet());
    }

    private PeersChangeAnswer ask() throws Exception {
      return change == Change.ADD
          ? client.changePeers(group.endpoint(places.getLast()).toString(), "")
          : client.changePeers("", group.endpoint(places.get(change.leaving())).toString());
    }

    void begin() throws Exception {
      Map<Endpoint, String> roles = new LinkedHashMap<>();
      for (int i = 0; i < places.size(); i++) {
        roles.put(group.endpoint(places.get(i)), change.roles().get(i));
      }
      steps.begin(roles, change.sizeAfter);
      writer.start();
      while (!ask().getRefusal().isEmpty()) {
        Thread.sleep(20); // the new one looks for the group
      }
    }

    /** A leader that was elected meanwhile, because the one before left, knows of no change. */
    private static boolean isRunning(PeersChangeStatus status) {
      return status.getNumber() > 0 && status.getState() == PeersChangeStatus.State.RUNNING;
    }

    /** Without a crash. */
    List<String> complete() throws Exception {
      begin();
      while (isRunning(client.peers().getChange())) {
        Thread.sleep(20);
      }
      assertEquals(addresses(true), peers());
      return steps.passed();
    }

    /** False: another peer was elected on a busy machine, and the step may never come. */
    boolean crash(int place) throws Exception {
      begin();
      for (int seconds = 0; !steps.awaitStop(); seconds++) {
        if (hadElection()) {
          return false;
        }
        assertTrue(seconds < STEP_MAX_SECONDS, "never came to it");
      }
      group.silence(place); // to hold the others until it has ended would cost them their leader
      steps.release();
      group.kill(place);
      group.heal();
      // Two of the three, or three of the four are there.
      if (change == Change.ADD) {
        create("without it");
      }
      group.start(place);
      create("after");
      return true;
    }

    private boolean hadElection() {
      return places.stream()
          .limit(SIZE)
          .anyMatch(place -> group.peer(place).status().term() != term);
    }

    void check() throws Exception {
      isOver = true;
      writer.join();
      assertNull(failure);
      assertEquals(acknowledged, names(client));
      Set<String> peers = peers();
      while (!peers.equals(addresses(false)) && !peers.equals(addresses(true))) {
        Thread.sleep(20); // between the two
        peers = peers();
      }
    }

    @Override
    public void close() throws IOException {
      isOver = true;
      steps.release();
      client.close();
      group.close();
    }
  }

  /** So that a new one gets that first, each time. */
  private static void takeCheckpoint(LoopbackGroup group, int place) throws Exception {
    group.awaitMember(place, 1);
    while (!hasCheckpoint(group.folder(place))) {
      group.peer(place).checkpoint(PATIENCE);
    }
  }

  private static boolean hasCheckpoint(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.anyMatch(file -> file.getFileName().toString().matches("checkpoint-.*\\d"));
    } catch (UncheckedIOException e) {
      return false; // a file went away meanwhile
    }
  }

  @ParameterizedTest
  @EnumSource
  void eachPeerCrashesAtEachStep(Change change) throws Exception {
    List<String> steps;
    try (Run run = new Run(change, "", root.resolve("dry"))) {
      steps = run.complete();
    }
    System.out.printf(
        "%s: crashes of %d of %s at each step, seed %d%n", change, ROLES, change.crashing(), seed);
    steps.forEach(step -> System.out.println("  when the " + step));
    assertTrue(steps.size() >= 4, steps::toString);
    List<Crash> crashes = steps.stream().flatMap(step -> crashesAt(step, change).stream()).toList();
    InParallel.forEach(crashes, crash -> run(change, crash, crashes.indexOf(crash)));
  }

  /** Whatever the order of the steps was. */
  private List<Crash> crashesAt(String step, Change change) {
    List<String> roles = new ArrayList<>(change.crashing());
    Collections.shuffle(roles, new Random(seed ^ step.hashCode()));
    return roles.stream().limit(ROLES).map(role -> new Crash(step, role)).toList();
  }

  private void run(Change change, Crash crash, int number) throws Exception {
    for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
      Path folder = root.resolve(number + "-" + attempt);
      try (Run run = new Run(change, crash.step(), folder)) {
        if (run.crash(run.places.get(change.roles().indexOf(crash.role())))) {
          run.check();
          return;
        }
      } catch (Exception | AssertionError e) {
        throw new AssertionError(change + ", " + crash + ", seed " + seed, e);
      }
    }
    throw new AssertionError(change + ", " + crash + ": an election each time");
  }
}
