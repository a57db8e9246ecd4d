package dev.ashlar.it.cost;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.ChangeSession;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.Content;
import dev.ashlar.it.harness.RawConnection.Answer;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.parallel.Isolated;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * Random reads, patches and appends, with a put now and then that makes an object short again, for
 * {@code -Dashlar.soak.minutes}: in the last third the server is not larger than in the middle one,
 * and no class has more and more instances. The first third is for warming up.
 */
@EnabledIfSystemProperty(named = "ashlar.soak.minutes", matches = "\\d+")
@Isolated("measures how memory grows")
class SoakIT {
  private static final int CLIENTS = 4;
  private static final int OBJECTS = 8;
  private static final int OBJECT_BYTES = 2 << 20;
  private static final int OBJECT_BYTES_MAX = 3 << 20;

  /** So that the load is the same in every third. */
  private static final Duration THINKING = Duration.ofMillis(5);

  private static final double GROWTH_MAX = 1.02;

  /** A class that gains an instance in so many operations, third by third, leaks. */
  private static final int OPERATIONS_PER_INSTANCE = 20;

  /** Bounded caches gain less while they fill, as the 12 MiB of its log that metadata keeps. */
  private static final int INSTANCES_MIN = 60_000;

  /**
   * The heap has its size from the beginning: when the collector lets it grow is not the matter.
   */
  private final ServerProcess server =
      ServerProcess.start(ServerSpec.named("soak").withJavaOptions("-Xms384m -XX:+AlwaysPreTouch"));

  private final AtomicLong operations = new AtomicLong();
  private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
  private volatile boolean isOver;

  /**
   * What was seen at the end of a third.
   *
   * @param residentBytes in the middle of its sorted samples
   * @param instances by class, after a full collection
   */
  private record Third(long residentBytes, long operations, Map<String, Long> instances) {}

  @Test
  void memoryStaysFlat() throws Exception {
    SplittableRandom random = new SplittableRandom(Seeds.seed("SoakIT"));
    Duration length = Duration.ofMinutes(Long.getLong("ashlar.soak.minutes")).dividedBy(3);
    try (server) {
      String bucket = bucket();
      List<Thread> clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        SplittableRandom own = random.split();
        String prefix = "c" + i + "-";
        clients.add(Thread.ofPlatform().start(() -> work(bucket, prefix, own)));
      }
      List<Third> thirds = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        thirds.add(third(length));
      }
      isOver = true;
      for (Thread client : clients) {
        client.join();
      }
      for (Throwable failure : failures) {
        throw new AssertionError(failure);
      }
      assertFlat(thirds);
    }
  }

  private String bucket() {
    try (S3Client s3 = Clients.sync(server)) {
      return Buckets.create(s3, "soak");
    }
  }

  // --- Load -----------------------------------------------------------------------------------

  private void work(String bucket, String prefix, SplittableRandom random) {
    byte[][] objects = new byte[OBJECTS][];
    try (ChangeSession session = new ChangeSession(server, bucket)) {
      while (!isOver) {
        int i = random.nextInt(OBJECTS);
        objects[i] = step(session, prefix + i, objects[i], random);
        operations.incrementAndGet();
        ServerProcess.pause(THINKING);
      }
    } catch (IOException | RuntimeException | AssertionError e) {
      failures.add(e);
    }
  }

  /** Does something with the object and returns what it is then. */
  private static byte[] step(
      ChangeSession session, String key, byte[] before, SplittableRandom random)
      throws IOException {
    int dice = random.nextInt(100);
    if (before == null || before.length > OBJECT_BYTES_MAX || dice == 0) {
      byte[] after = new Content(random.nextLong(), 1 + random.nextInt(OBJECT_BYTES)).bytes();
      session.require(200, client -> client.put(key, after));
      return after;
    }
    if (dice < 50) {
      int from = random.nextInt(before.length);
      int to = Math.min(before.length, from + 1 + random.nextInt(128 << 10));
      assertArrayEquals(Arrays.copyOfRange(before, from, to), session.get(key, from, to), key);
      return before;
    }
    boolean isAppend = dice < 60;
    int offset = isAppend ? before.length : random.nextInt(before.length);
    byte[] body = new Content(random.nextLong(), 1 + random.nextInt(64 << 10)).bytes();
    Answer answer =
        session.send(
            client ->
                isAppend
                    ? client.append("POST", key, offset, body)
                    : client.patch(key, offset, body));
    assertEquals(200, answer.status(), answer::toString);
    byte[] after = Arrays.copyOf(before, Math.max(before.length, offset + body.length));
    System.arraycopy(body, 0, after, offset, body.length);
    return after;
  }

  // --- Measuring ------------------------------------------------------------------------------

  private Third third(Duration length) throws IOException, InterruptedException {
    List<Long> resident = new ArrayList<>();
    long before = operations.get();
    Instant end = Instant.now().plus(length);
    while (Instant.now().isBefore(end) && failures.isEmpty()) {
      ServerProcess.pause(Duration.ofSeconds(1));
      resident.add(server.residentBytes());
    }
    resident.sort(null);
    Third third =
        new Third(resident.get(resident.size() / 2), operations.get() - before, instances());
    System.out.printf(
        "%,d operations, resident %,d KiB (%,d to %,d), %,d live objects of %,d classes%n",
        third.operations,
        third.residentBytes >> 10,
        resident.getFirst() >> 10,
        resident.getLast() >> 10,
        third.instances.values().stream().mapToLong(each -> each).sum(),
        third.instances.size());
    server
        .prometheus()
        .lines()
        .filter(line -> line.startsWith("ashlar_memory"))
        .forEach(System.out::println);
    return third;
  }

  /** By class; the JDK's tool has the server collect its garbage first. */
  private Map<String, Long> instances() throws IOException, InterruptedException {
    String jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
    Process process =
        new ProcessBuilder(jcmd, "" + server.pid(), "GC.class_histogram")
            .redirectErrorStream(true)
            .start();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), text);
    Map<String, Long> instances = new TreeMap<>();
    for (String line : text.lines().toList()) {
      String[] columns = line.trim().split(" +", 5); // 1: 5000 120000 java.lang.String (java.base)
      if (columns.length >= 4 && columns[0].matches("\\d+:")) {
        instances.merge(columns[3], Long.parseLong(columns[1]), Long::sum);
      }
    }
    assertTrue(instances.containsKey("java.lang.String"), text);
    return instances;
  }

  private static void assertFlat(List<Third> thirds) {
    Third first = thirds.get(0);
    Third middle = thirds.get(1);
    Third last = thirds.get(2);
    List<String> growing = new ArrayList<>();
    last.instances.forEach(
        (name, count) -> {
          long then = middle.instances.getOrDefault(name, 0L);
          boolean grew = isGrowth(first.instances.getOrDefault(name, 0L), then, middle.operations);
          if (grew && isGrowth(then, count, last.operations)) {
            growing.add(
                name + " " + first.instances.getOrDefault(name, 0L) + ", " + then + ", " + count);
          }
        });
    assertEquals(List.of(), growing, "classes that grow");
    double growth = (double) last.residentBytes / middle.residentBytes;
    System.out.printf("resident grew by %.2f %%%n", 100 * (growth - 1));
    assertTrue(growth <= GROWTH_MAX, "resident grew by " + growth);
  }

  private static boolean isGrowth(long before, long after, long operations) {
    return after - before > Math.max(INSTANCES_MIN, operations / OPERATIONS_PER_INSTANCE);
  }
}
