package dev.ashlar.it.fault;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.ashlar.it.harness.Buckets;
import dev.ashlar.it.harness.Clients;
import dev.ashlar.it.harness.DriveFolders;
import dev.ashlar.it.harness.FaultyDisk;
import dev.ashlar.it.harness.FaultyDisk.Fault;
import dev.ashlar.it.harness.LongTest;
import dev.ashlar.it.harness.Scrub;
import dev.ashlar.it.harness.Seeds;
import dev.ashlar.it.harness.ServerProcess;
import dev.ashlar.it.harness.ServerSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import software.amazon.awssdk.services.s3.S3Client;

/**
 * The disks of up to m drives lose, misdirect or tear writes that they acknowledge, while clients
 * put, append, patch and read. Everything acknowledged reads right during the faults, after a
 * restart, and after scrub and repair; then nothing is in debt, and m other drives can be lost.
 * {@code -Dashlar.disk.minutes} says how long at least, all faults together.
 */
class FaultyDiskIT {
  private static final int MINUTES = Integer.getInteger("ashlar.disk.minutes", 0);
  private static final int TESTS = 4;
  private static final long DISK_BYTES = 1L << 30;
  private static final int CHANGES_MIN = 150;
  private static final int CHANGES_MAX = 500;
  private static final int PER_THOUSAND_MAX = 400;

  /** A share of the rounds whose faults hit the tables and the journal of ext4, too: one in. */
  private static final int WHOLE_DISK_ONE_IN = 4;

  private static final Duration DEADLINE = Duration.ofSeconds(90);

  private final SplittableRandom random = new SplittableRandom(Seeds.seed("FaultyDiskIT"));
  private final ServerSpec spec = ServerSpec.named("faulty-disk");
  private final Path base = Path.of("target", "it", spec.name()).toAbsolutePath();
  private final List<FaultyDisk> disks = new ArrayList<>();
  private ServerProcess server;
  private ChangeWorkload workload;

  @BeforeEach
  void start() throws IOException {
    String refusal = FaultyDisk.refusal();
    assumeTrue(refusal.isEmpty(), refusal);
    ServerProcess.deleteRecursively(base);
    Path root = base.resolve("root");
    for (int i = 1; i <= spec.parityShards(); i++) {
      disks.add(
          FaultyDisk.create(
              root.resolve("d" + i), base.resolve("images"), DISK_BYTES, random.nextLong()));
    }
    server = ServerProcess.startIn(root, spec);
    try (S3Client s3 = Clients.sync(server)) {
      String bucket = Buckets.create(s3, "disks");
      workload = new ChangeWorkload(server, bucket, ChangeWorkload.Refusals.CHANGES);
    }
    workload.putFirst();
  }

  @AfterEach
  void close() {
    if (server != null) {
      server.close();
    }
    disks.forEach(FaultyDisk::close);
    disks.clear();
    ServerProcess.deleteRecursively(base);
  }

  @Test
  void lostWrites() throws Exception {
    rounds(Fault.LOST);
  }

  @LongTest
  void misdirectedWrites() throws Exception {
    rounds(Fault.MISDIRECTED);
  }

  @LongTest
  void tornWrites() throws Exception {
    rounds(Fault.TORN);
  }

  @Test
  @EnabledIfSystemProperty(named = "ashlar.disk.minutes", matches = "[1-9]\\d*")
  void anyFaults() throws Exception {
    rounds(Fault.values());
  }

  private void rounds(Fault... faults) throws Exception {
    Instant end = Instant.now().plus(Duration.ofMinutes(MINUTES).dividedBy(TESTS));
    long faulty = faultyWrites();
    int rounds = 0;
    do {
      round(faults);
      rounds++;
    } while (Instant.now().isBefore(end) || faultyWrites() == faulty);
    System.out.println(
        "%s: %d rounds, %d faulty writes, %d acknowledged, %s"
            .formatted(
                Arrays.toString(faults),
                rounds,
                faultyWrites() - faulty,
                workload.acknowledgements(),
                workload.answers()));
  }

  private long faultyWrites() {
    return disks.stream().mapToLong(disk -> disk.counts().faulty()).sum();
  }

  private void round(Fault... faults) throws Exception {
    workload.shorten();
    int count = 1 + random.nextInt(disks.size());
    for (FaultyDisk disk : disks.subList(0, count)) {
      Fault fault = faults[random.nextInt(faults.length)];
      long from = random.nextInt(WHOLE_DISK_ONE_IN) == 0 ? 0 : FaultyDisk.CONTENT_FROM;
      int share = 1 + random.nextInt(PER_THOUSAND_MAX);
      System.out.println(
          "%s: %s, %d of 1000, from byte %d".formatted(disk.mountPoint(), fault, share, from));
      disk.fail(fault, share, from);
    }
    boolean isKilledUnderLoad = random.nextBoolean();
    if (isKilledUnderLoad) {
      CrashRound.workUntil(workload, random, server::kill);
    } else {
      work();
      workload.checkAll(random); // while the disks are faulty
      endServer();
    }
    restart();
    Map<String, byte[]> objects = workload.checkAll(random);
    repair();
    workload.compare(objects, "repaired");
    loseOthers(objects);
  }

  /** Lets clients work for some changes; the server stays up. */
  private void work() throws InterruptedException {
    long enough = workload.acknowledgements() + random.nextInt(CHANGES_MIN, CHANGES_MAX);
    Instant deadline = Instant.now().plus(DEADLINE);
    List<Thread> clients = workload.start(random.split());
    while (workload.acknowledgements() < enough
        && !workload.hasFailed()
        && Instant.now().isBefore(deadline)) {
      ServerProcess.pause(Duration.ofMillis(1));
    }
    workload.end();
    for (Thread client : clients) {
      client.join();
    }
    assertTrue(
        workload.acknowledgements() >= enough || workload.hasFailed(),
        "too few changes were acknowledged in " + DEADLINE);
  }

  private void endServer() {
    if (random.nextBoolean()) {
      server.kill();
    } else {
      server.stop();
    }
  }

  /** On healthy disks, whose damage stays. A drive that cannot be opened any more is replaced. */
  private void restart() throws IOException {
    for (FaultyDisk disk : disks) {
      if (!disk.remount()) {
        System.out.println(disk.mountPoint() + " has lost its file system");
        confirmReplacement(disk);
      }
    }
    server.start();
    List<FaultyDisk> missing = disks.stream().filter(this::isMissing).toList();
    if (!missing.isEmpty()) {
      server.stop();
      for (FaultyDisk disk : missing) {
        System.out.println(disk.mountPoint() + " is replaced");
        disk.empty();
        confirmReplacement(disk);
      }
      server.start();
    }
    assertTrue(server.anyHealth().contains("\"open\":" + spec.drives() + ","), server::anyHealth);
  }

  private static void confirmReplacement(FaultyDisk disk) throws IOException {
    Files.createFile(disk.mountPoint().resolve("replacement-confirmed"));
  }

  private boolean isMissing(FaultyDisk disk) {
    return server.anyHealth().contains("\"" + disk.mountPoint() + "\"");
  }

  /** Of deleted blobs damage stays until their space is freed: nothing repairs it. */
  private void repair() throws Exception {
    CrashRound.awaitFolded(server);
    Scrub scrub = new Scrub(server);
    long before = Long.MAX_VALUE;
    long damaged = scrub.run();
    while (damaged > 0 && damaged < before) {
      CrashRound.awaitNothingOwed(server);
      before = damaged;
      damaged = scrub.run();
    }
    CrashRound.awaitNothingOwed(server);
  }

  /** With m other drives away, each shard is needed that the disks had damaged. */
  private void loseOthers(Map<String, byte[]> objects) throws Exception {
    List<Path> others = new ArrayList<>(server.driveFolders());
    others.subList(0, disks.size()).clear();
    others.subList(0, random.nextInt(others.size() - spec.parityShards() + 1)).clear();
    others.subList(spec.parityShards(), others.size()).clear();
    server.stop();
    others.forEach(DriveFolders::replaceByFile);
    server.start();
    workload.compare(objects, "without " + others);
    server.stop();
    others.forEach(DriveFolders::repair);
    server.start();
  }
}
