package dev.ashlar.bench.versus;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * One work on one server in one round. The server is fresh, warmed up with the same work, left to
 * become idle, measured, and left to become idle again, so that work it puts off is charged to it.
 */
final class Cell {
  private static final Duration IDLE_SPAN = Duration.ofSeconds(1);

  /** Of one core, over the span. */
  private static final double IDLE_CPU_SHARE = 0.05;

  private final Path dataRoot;
  private final Path warpBinary;
  private final Conditions conditions;

  /** How the work is done. */
  record Conditions(
      int concurrency, int objectsFactor, Duration warmUp, Duration measured, Duration drainMax) {}

  Cell(Path dataRoot, Path warpBinary, Conditions conditions) {
    this.dataRoot = dataRoot;
    this.warpBinary = warpBinary;
    this.conditions = conditions;
  }

  Measurement measure(Contender contender, Work work) throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory(dataRoot, "versus-");
    Thread remover = new Thread(() -> deleteQuietly(folder));
    Runtime.getRuntime().addShutdownHook(remover);
    try (ServerProcess server = ServerProcess.start(contender, folder);
        UsageSampler sampler = new UsageSampler(server.handle())) {
      Warp warp =
          new Warp(warpBinary, folder, conditions.concurrency(), conditions.objectsFactor());
      if (conditions.warmUp().isPositive()) {
        warp.run(work, server.port(), "warm-up", conditions.warmUp(), false, sampler);
        awaitIdle(sampler);
      }
      List<Operation> operations =
          warp.run(work, server.port(), "measured", conditions.measured(), true, sampler);
      awaitIdle(sampler);
      return Measurement.of(work, operations, sampler.samples());
    } finally {
      delete(folder);
      Runtime.getRuntime().removeShutdownHook(remover);
    }
  }

  private void awaitIdle(UsageSampler sampler) throws InterruptedException {
    long deadline = System.nanoTime() + conditions.drainMax().toNanos();
    do {
      Thread.sleep(IDLE_SPAN.toMillis());
    } while (isBusy(sampler.samples()) && System.nanoTime() < deadline);
  }

  private static boolean isBusy(List<Usage> samples) {
    Usage now = samples.get(samples.size() - 1);
    Usage before = UsageSeries.at(samples, now.at().minus(IDLE_SPAN));
    double millis = now.serverCpuMillis() - before.serverCpuMillis();
    return millis > IDLE_CPU_SHARE * IDLE_SPAN.toMillis();
  }

  private static void deleteQuietly(Path folder) {
    try {
      delete(folder);
    } catch (IOException e) {
      System.err.println("could not remove " + folder + ": " + e);
    }
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : (Iterable<Path>) files.sorted(Comparator.reverseOrder())::iterator) {
        Files.deleteIfExists(file);
      }
    }
  }
}
