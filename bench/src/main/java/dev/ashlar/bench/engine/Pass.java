package dev.ashlar.bench.engine;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;

/**
 * One work on one engine for a while.
 *
 * @param cpuMillis of this process per operation, with what it did later, as folding, and with the
 *     clients, which do next to nothing
 * @param driveReads ranges of shards read per operation
 * @param driveWrites the same of writes and intents
 * @param driveIos reads of segment files for shards and synced writes of them per operation, with
 *     the folding and merging that was done later, without compaction and new segments; what waits
 *     at a drive is written together
 * @param conflicts operations that gave up because others changed the same place; they do not count
 *     as operations
 * @param isDrained whether all that was put off was done in time; else it is missing in {@code
 *     cpuMillis} and {@code driveIos}
 */
record Pass(
    double operationsPerSecond,
    double p50Millis,
    double p99Millis,
    double cpuMillis,
    double driveReads,
    double driveWrites,
    double driveIos,
    double conflicts,
    boolean isDrained) {

  /** What one client measured. */
  private record Part(long[] nanos, int conflicts) {}

  /** How many do it for how long. */
  record Load(int clients, Duration span, Work.Objects objects, ByteBuffer payload, long seed) {}

  static Pass run(LocalEngine engine, Work work, Load load) throws Exception {
    List<Work.Client> clients = new ArrayList<>();
    for (int number = 0; number < load.clients(); number++) {
      Work.Client client =
          work.new Client(engine, load.objects(), number, load.payload(), load.seed());
      client.reset();
      clients.add(client);
    }
    engine.drain();
    DriveCounts countsBefore = engine.counts();
    long cpuBefore = cpuNanos();
    long begin = System.nanoTime();
    List<Part> parts = parts(clients, begin + load.span().toNanos());
    double seconds = (System.nanoTime() - begin) / 1e9;
    DriveCounts counts = engine.counts().since(countsBefore);
    boolean isDrained = engine.drain();
    double cpuMillis = (cpuNanos() - cpuBefore) / 1e6;
    DriveCounts drained = engine.counts().since(countsBefore);
    for (Work.Client client : clients) {
      client.reset();
    }
    long[] nanos =
        parts.stream().flatMapToLong(part -> LongStream.of(part.nanos())).sorted().toArray();
    if (nanos.length == 0) {
      throw new IllegalStateException(work.title() + ": no operation within " + load.span());
    }
    return new Pass(
        nanos.length / seconds,
        nanos[nanos.length / 2] / 1e6,
        nanos[(int) (nanos.length * 0.99)] / 1e6,
        cpuMillis / nanos.length,
        (double) counts.reads() / nanos.length,
        (double) counts.writes() / nanos.length,
        (double) (drained.fileReads() + drained.fileWrites()) / nanos.length,
        parts.stream().mapToInt(Part::conflicts).sum(),
        isDrained);
  }

  private static List<Part> parts(List<Work.Client> clients, long endNanos)
      throws ExecutionException, InterruptedException {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Part>> running =
          clients.stream().map(client -> threads.submit(() -> part(client, endNanos))).toList();
      List<Part> parts = new ArrayList<>();
      for (Future<Part> each : running) {
        parts.add(each.get());
      }
      return parts;
    }
  }

  private static Part part(Work.Client client, long endNanos) throws Exception {
    LongStream.Builder nanos = LongStream.builder();
    int conflicts = 0;
    for (long begin = System.nanoTime(); begin < endNanos; ) {
      boolean isDone = client.operation();
      long end = System.nanoTime();
      if (isDone) {
        nanos.add(end - begin);
      } else {
        conflicts++;
      }
      begin = end;
    }
    return new Part(nanos.build().toArray(), conflicts);
  }

  private static long cpuNanos() {
    return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime();
  }
}
