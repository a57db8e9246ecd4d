package dev.ashlar.metadata.server;

import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits;
import dev.ashlar.metadata.consensus.network.ElectionTimes;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.PutCredential;
import dev.ashlar.transport.metadata.RemoteMetadata;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Measures three peers over loopback sockets in one process: {@code QuorumLoad FOLDER SECONDS
 * LOSSES}. With 0 seconds, only what the loss or the end of the leader costs.
 */
public final class QuorumLoad {
  private static final AtomicLong NAMES = new AtomicLong();

  private QuorumLoad() {}

  private interface Operation {
    void run(MetadataClient client) throws Exception;
  }

  public static void main(String[] args) throws Exception {
    int seconds = Integer.parseInt(args[1]);
    int losses = Integer.parseInt(args[2]);
    try (LoopbackGroup group =
            new LoopbackGroup(Path.of(args[0]), 3, CheckpointLimits.DEFAULT, ElectionTimes.DEFAULT)
                .startAll();
        RemoteMetadata client = group.client()) {
      Operation commit = QuorumLoad::commit;
      Operation read = any -> any.credential("key1");
      for (int inFlight : seconds == 0 ? new int[0] : new int[] {1, 16, 64}) {
        measure("commit", commit, client, inFlight, seconds / 2); // warm
        measure("commit", commit, client, inFlight, seconds);
        measure("read", read, client, inFlight, seconds);
      }
      for (int i = 0; i < losses; i++) {
        lose(group, client);
      }
      for (int i = 0; i < losses; i++) {
        end(group, client, false);
        end(group, client, true);
      }
    }
    System.exit(0);
  }

  /** About as long as what makes a small object visible. */
  private static void commit(MetadataClient client) throws Exception {
    CredentialRow row =
        CredentialRow.newBuilder()
            .setAccessKey("key" + NAMES.incrementAndGet() % 1000)
            .setSecretKey("s".repeat(200))
            .build();
    client.submit(
        Command.newBuilder().setPutCredential(PutCredential.newBuilder().setCredential(row)));
  }

  private static void measure(
      String name, Operation operation, MetadataClient client, int inFlight, int seconds)
      throws InterruptedException {
    long end = System.nanoTime() + seconds * 1_000_000_000L;
    long cpu = cpuNanos();
    AtomicLong count = new AtomicLong();
    CountDownLatch done = new CountDownLatch(inFlight);
    long[][] latencies = new long[inFlight][];
    for (int i = 0; i < inFlight; i++) {
      int slot = i;
      Thread.ofVirtual()
          .start(
              () -> {
                latencies[slot] = loop(operation, client, end);
                count.addAndGet(latencies[slot].length);
                done.countDown();
              });
    }
    done.await();
    long[] sorted = Arrays.stream(latencies).flatMapToLong(Arrays::stream).sorted().toArray();
    System.out.printf(
        "%s, %d in flight: %d/s, p50 %d us, p99 %d us, CPU %d us each, client and peers%n",
        name,
        inFlight,
        count.get() / seconds,
        sorted[sorted.length / 2] / 1000,
        sorted[sorted.length * 99 / 100] / 1000,
        (cpuNanos() - cpu) / 1000 / count.get());
  }

  private static long[] loop(Operation operation, MetadataClient client, long end) {
    long[] latencies = new long[1024];
    int count = 0;
    try {
      for (long now = System.nanoTime(); now < end; count++) {
        operation.run(client);
        long after = System.nanoTime();
        if (count == latencies.length) {
          latencies = Arrays.copyOf(latencies, 2 * count);
        }
        latencies[count] = after - now;
        now = after;
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    return Arrays.copyOf(latencies, count);
  }

  private static long cpuNanos() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
        .getProcessCpuTime();
  }

  /** From the loss of the leader until the next command is answered. */
  private static void lose(LoopbackGroup group, MetadataClient client) throws Exception {
    int leader = group.awaitLeader();
    long begin = System.nanoTime();
    group.kill(leader); // its connections end at once, the rest takes a second
    commit(client);
    long written = System.nanoTime();
    client.credential("key1");
    System.out.printf(
        "leader lost: next commit after %d ms, next read after %d ms%n",
        (written - begin) / 1_000_000, (System.nanoTime() - begin) / 1_000_000);
    group.start(leader);
    group.awaitMember(leader, group.peer(group.awaitLeader()).status().appliedIndex());
  }

  /** The longest time without an answer while the leader ends. */
  private static void end(LoopbackGroup group, RemoteMetadata client, boolean handsOver)
      throws Exception {
    int leader = group.awaitLeader();
    AtomicBoolean isOver = new AtomicBoolean();
    AtomicLong commits = new AtomicLong();
    AtomicLong reads = new AtomicLong();
    List<Thread> loops =
        List.of(
            Thread.ofVirtual()
                .start(() -> commits.set(longest(QuorumLoad::commit, client, isOver))),
            Thread.ofVirtual()
                .start(() -> reads.set(longest(any -> any.credential("key1"), client, isOver))));
    Thread.sleep(500);
    if (handsOver) {
      group.peer(leader).handOver();
    }
    group.kill(leader);
    commit(client);
    Thread.sleep(500);
    isOver.set(true);
    for (Thread loop : loops) {
      loop.join();
    }
    System.out.printf(
        "leader ended, %s: longest commit %d ms, longest read %d ms%n",
        handsOver ? "handing over" : "without handing over",
        commits.get() / 1_000_000,
        reads.get() / 1_000_000);
    group.start(leader);
    group.awaitMember(leader, group.peer(group.awaitLeader()).status().appliedIndex());
  }

  private static long longest(Operation operation, MetadataClient client, AtomicBoolean isOver) {
    long longest = 0;
    try {
      for (long now = System.nanoTime(); !isOver.get(); ) {
        operation.run(client);
        long after = System.nanoTime();
        longest = Math.max(longest, after - now);
        now = after;
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    return longest;
  }
}
