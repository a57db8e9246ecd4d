package dev.ashlar.it.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.it.harness.Await;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.ClusterNodes;
import dev.ashlar.it.harness.ClusterProcess;
import dev.ashlar.it.harness.KeptObjects;
import dev.ashlar.it.harness.Metrics;
import dev.ashlar.it.harness.NodeProcess;
import dev.ashlar.it.harness.Parallel;
import dev.ashlar.it.harness.Scrub;
import dev.ashlar.it.harness.ServerProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * A cluster with profiles 4+2, 1+2 and 8+3 over two drives of each of six storage nodes. Objects
 * that nobody changes, and those that the clients of {@link FaultRounds} change, are moved from
 * profile to profile while faults come.
 */
final class MovesUnderFaults implements AutoCloseable {
  private static final List<String> SHAPE =
      List.of("--nodes", "6", "--metadata", "3", "--gateways", "2", "--profile", "4+2");

  private static final int DRIVES = 12;
  private static final int PARITY_SHARDS = 2;
  private static final String CHANGED = "moved";

  /** Of moves, so that they are not over before a fault is. */
  private static final String PACE = "1MiB";

  private static final Duration MOVED = Duration.ofMinutes(5);

  /** Of the garbage collector, and some. */
  private static final Duration COLLECTED = Duration.ofMinutes(4);

  private static final Duration PAUSE = Duration.ofMillis(200);
  private static final int LOOKS = 300;
  private static final Pattern STATE = Pattern.compile("\"state\":\"(\\w+)\"");
  private static final Pattern FAILED = Pattern.compile("\"failedVersions\":(\\d+)");

  private final ClusterProcess cluster = ClusterProcess.start("profile-faults", SHAPE);
  private final ClusterNodes nodes = cluster.nodes();
  private final Random random;

  /** Of the gateway that moves only while the first one is away. */
  private final AdminPages admin = new AdminPages(nodes, 2);

  private final S3Client s3 = Clients.sync(nodes.gateways().get(1));
  private final FaultChoice choice;
  private final FaultRounds rounds;
  private final KeptObjects kept;

  MovesUnderFaults(Random random) throws Exception {
    this.random = random;
    try {
      admin.require("profile-add?target=HOT&by=1%2B2");
      addDrives();
      admin.require("profile-add?target=COLD&by=8%2B3");
      choice = new FaultChoice(nodes, null, random);
      rounds = new FaultRounds(nodes, choice, PARITY_SHARDS, random, CHANGED);
      kept = KeptObjects.put(s3, new SplittableRandom(random.nextLong()), 60, 10);
    } catch (Exception | AssertionError e) {
      close();
      throw e;
    }
  }

  /** Each storage node gets one more. */
  private void addDrives() throws Exception {
    for (NodeProcess node : nodes.of("storage")) {
      Path drive = node.folder().resolve("drive");
      node.restartWith("data=" + drive + "," + drive + "2");
    }
    admin.await("drives", page -> count(page, "\"up\":true") == DRIVES, "all drives there");
    admin.awaitWhole();
  }

  private static int count(String page, String text) {
    return page.split(Pattern.quote(text), -1).length - 1;
  }

  /** Of a storage node. */
  Fault storageKilled() {
    List<NodeProcess> all = nodes.of("storage");
    return choice.killed(List.of(all.get(random.nextInt(all.size()))));
  }

  Fault leaderKilled() {
    return choice.killed(List.of(nodes.leader()));
  }

  /** Of the gateway that moves; it stays away until the other one has gone on. */
  Fault hostKilled() {
    NodeProcess host = nodes.node("gateway-1");
    Fault killed = choice.killed(List.of(host));
    return new Fault(
        killed.what(),
        0,
        () -> {
          awaitMoves(host);
          killed.begin().run();
          awaitMoves(nodes.node("gateway-2"));
        },
        killed.end());
  }

  private void awaitMoves(NodeProcess gateway) {
    long before = moved(gateway);
    for (int i = 0; i < LOOKS; i++) {
      if (moved(gateway) > before) {
        return;
      }
      ServerProcess.pause(PAUSE);
    }
    throw nodes.failed(gateway + " moves nothing");
  }

  private static long moved(NodeProcess gateway) {
    return new Metrics(gateway.page("/prometheus")).sum("ashlar_profile_moved_versions_total");
  }

  /** A fault comes while everything is moved to this class. Then all is there, and of the class. */
  void round(String target, Fault fault) throws Exception {
    System.out.println("To " + target);
    move(target + "@" + PACE);
    rounds.round(fault);
    awaitMoved();
    List<String> states = move(target); // what a fault has made impossible three times
    assertEquals(List.of(), states.stream().filter(state -> !state.equals("done 0")).toList());
    kept.check(target);
  }

  /** Begins to move everything. */
  private List<String> move(String to) throws Exception {
    List<String> buckets = Stream.concat(Stream.of(CHANGED), kept.buckets().stream()).toList();
    for (String bucket : buckets) {
      admin.require("profile-move?target=s3://" + bucket + "/&by=" + to);
    }
    if (to.contains("@")) {
      return List.of();
    }
    List<String> all = awaitMoved();
    return all.subList(all.size() - buckets.size(), all.size());
  }

  /** Waits until no move runs, and returns how they have ended and what they could not move. */
  private List<String> awaitMoved() throws Exception {
    List<String> ended = new ArrayList<>();
    Await.until(
        "all is moved",
        MOVED,
        () -> {
          String page = nodes.node("gateway-2").page("/admin/profile-moves");
          ended.clear();
          Matcher state = STATE.matcher(page);
          Matcher failed = FAILED.matcher(page);
          while (state.find() && failed.find()) {
            ended.add(state.group(1) + " " + failed.group(1));
          }
          return ended.stream().allMatch(each -> each.startsWith("done"));
        });
    return ended;
  }

  /** All keys can be read, and nothing is owed. */
  void settle() {
    rounds.settle();
  }

  /** No drive has a shard that metadata does not know. */
  void checkNoOrphans() throws Exception {
    List<Scrub> scrubs = nodes.of("storage").stream().map(Scrub::new).toList();
    // Of what the kills had left, ended sessions may not have been swept before.
    for (int look = 0; look < 2; look++) {
      Parallel.run(scrubs.size(), number -> scrubs.get(number).run());
    }
    for (Scrub scrub : scrubs) {
      assertEquals(0, scrub.orphans(), "shards that nobody knows");
    }
  }

  /** When everything is deleted, the added profiles can be removed, and the drives are empty. */
  void checkNothingStays() throws Exception {
    kept.delete();
    s3.listObjectsV2Paginator(b -> b.bucket(CHANGED))
        .contents()
        .forEach(object -> s3.deleteObject(b -> b.bucket(CHANGED).key(object.key())));
    for (String name : List.of("HOT", "COLD")) {
      Await.until(
          name + " is removed",
          COLLECTED,
          () -> admin.ask("profile-remove?target=" + name).statusCode() == 200);
    }
    Await.until("the drives are empty", COLLECTED, () -> liveBytes() == 0);
  }

  private long liveBytes() {
    return nodes.of("storage").stream()
        .mapToLong(node -> new Metrics(node.page("/prometheus")).sum("ashlar_drive_live_bytes"))
        .sum();
  }

  @Override
  public void close() {
    s3.close();
    cluster.close();
  }
}
