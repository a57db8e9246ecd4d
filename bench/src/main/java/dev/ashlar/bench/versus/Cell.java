package dev.ashlar.bench.versus;

import dev.ashlar.bench.engine.ScratchFolder;
import dev.ashlar.bench.process.BenchException;
import dev.ashlar.bench.process.S3Endpoint;
import dev.ashlar.bench.process.ServerProcess;
import dev.ashlar.bench.process.UsageSampler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One work on one server, pass after pass. A server that is started here starts empty. It is warmed
 * up with the same work once; after every run it is left to become idle, so that work it puts off
 * is charged to it and not to whoever is measured next.
 */
final class Cell {
  private static final Duration IDLE_SPAN = Duration.ofSeconds(1);

  private final Work work;
  private final Conditions conditions;
  private final Path folder;
  private final @Nullable ServerProcess server;
  private final S3Endpoint target;
  private final Warp warp;

  /**
   * How the work is done.
   *
   * @param endpointBucket for servers that run already
   */
  record Conditions(
      Path dataRoot,
      String endpointBucket,
      Path warpBinary,
      int concurrency,
      double objectsFactor,
      Duration warmUp,
      Duration measured,
      Duration drainMax) {}

  private Cell(
      Work work,
      Conditions conditions,
      Path folder,
      @Nullable ServerProcess server,
      S3Endpoint target) {
    this.work = work;
    this.conditions = conditions;
    this.folder = folder;
    this.server = server;
    this.target = target;
    warp =
        new Warp(
            conditions.warpBinary(),
            folder,
            conditions.concurrency(),
            conditions.objectsFactor(),
            target);
  }

  /** Starts the server unless it runs, and warms it up. */
  static Cell open(Contender contender, Work work, Conditions conditions)
      throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory(conditions.dataRoot(), "versus-");
    Cell cell;
    try {
      cell =
          switch (contender) {
            case Contender.Endpoint endpoint ->
                new Cell(work, conditions, folder, null, endpoint.target());
            case Contender.Started started -> {
              int port = ServerProcess.freePort();
              ServerProcess server =
                  ServerProcess.start(
                      started.launch(folder, port, ServerProcess.freePort()),
                      folder.resolve("server.log"));
              yield new Cell(work, conditions, folder, server, S3Endpoint.of(server, port));
            }
          };
    } catch (IOException | InterruptedException | BenchException e) {
      ScratchFolder.deleteTree(folder);
      throw e;
    }
    try {
      cell.warmUp();
      return cell;
    } catch (IOException | InterruptedException | BenchException e) {
      cell.close();
      throw e;
    }
  }

  private void warmUp() throws IOException, InterruptedException {
    if (!conditions.warmUp().isPositive()) {
      return;
    }
    try (UsageSampler sampler = new UsageSampler(target.process())) {
      warp.run(work, bucket("warm-up"), conditions.warmUp(), false, sampler);
      sampler.awaitIdle(IDLE_SPAN, conditions.drainMax());
    }
  }

  Measurement measure(int pass) throws IOException, InterruptedException {
    try (UsageSampler sampler = new UsageSampler(target.process())) {
      List<Operation> operations =
          warp.run(work, bucket("pass-" + pass), conditions.measured(), true, sampler);
      sampler.awaitIdle(IDLE_SPAN, conditions.drainMax());
      return Measurement.of(work, operations, sampler.series());
    }
  }

  /** One for each run, or one for all, which warp empties before each. */
  private String bucket(String run) {
    return server == null ? conditions.endpointBucket() : run;
  }

  void close() throws IOException, InterruptedException {
    if (server != null) {
      server.close();
    } else {
      emptyBucket();
    }
    ScratchFolder.deleteTree(folder);
  }

  /** By a run that keeps nothing. */
  private void emptyBucket() throws IOException, InterruptedException {
    try (UsageSampler unused = new UsageSampler(null)) {
      warp.run(Work.PUT_4K, conditions.endpointBucket(), Duration.ofSeconds(1), false, unused);
    } catch (BenchException e) {
      System.err.println(
          "objects may be left in the bucket " + conditions.endpointBucket() + " of " + target);
    }
  }
}
