package dev.ashlar.bench.load;

import dev.ashlar.bench.Json;
import dev.ashlar.bench.Machine;
import dev.ashlar.bench.SizeArgument;
import dev.ashlar.bench.TimeLeft;
import dev.ashlar.bench.engine.ScratchFolder;
import dev.ashlar.bench.process.BenchException;
import dev.ashlar.bench.process.ManagementPage;
import dev.ashlar.bench.result.ResultFolder;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** One load on one server. */
@Command(
    name = "load",
    description = "Loads an S3 server and measures throughput, latency, CPU and memory.",
    mixinStandardHelpOptions = true)
public final class LoadCommand implements Callable<Integer> {
  private static final double SETTLE_SECONDS = 3;
  private static final double LATER_WARM_UP_SECONDS = 1;
  private static final int COUNTER_ATTEMPTS = 20;
  private static final long COUNTER_WAIT_MILLIS = 100;
  private static final String REFUSED = "ashlar_http_rejected_total";

  @Mixin private ServerOptions server = new ServerOptions();

  @Option(
      names = "--mix",
      paramLabel = "MIX",
      defaultValue = "read=70,patch=30",
      description =
          "Percents of read, write (new objects), replace (whole objects), patch (bytes in place)"
              + " and append, as read=70,patch=30, or one of them (default: read=70,patch=30).")
  private String mix = "read=70,patch=30";

  @Option(
      names = "--object-size",
      paramLabel = "BYTES",
      converter = SizeArgument.class,
      defaultValue = "4MiB",
      description = "Default: 4MiB.")
  private long objectBytes;

  @Option(
      names = "--block-size",
      paramLabel = "BYTES",
      converter = SizeArgument.class,
      defaultValue = "16KiB",
      description =
          "Of a read, patch or append; a read as large as the object is a whole GET (default:"
              + " 16KiB).")
  private long blockBytes;

  @Option(names = "--objects", defaultValue = "32", description = "Put beforehand (default: 32).")
  private int objects = 32;

  @Option(
      names = "--sequential",
      description = "Reads and patches go through the objects in order instead of at random.")
  private boolean isSequential;

  @Option(names = "--clients", defaultValue = "4", description = "1 to 16 (default: 4).")
  private int clients = 4;

  @Option(
      names = "--depth",
      defaultValue = "4",
      description =
          "Requests that each client has on their way, each on a connection of its own, 1 to 256"
              + " (default: 4).")
  private int depth = 4;

  @Option(
      names = "--rate",
      paramLabel = "OPS",
      defaultValue = "0",
      description =
          "Operations begun per second whether the server keeps up or not; latency counts from"
              + " when each was meant to begin (default: 0, as fast as answers come).")
  private double rate;

  @Option(
      names = "--warm-up",
      paramLabel = "SECONDS",
      defaultValue = "10",
      description = "The same load before the first pass (default: 10).")
  private double warmUpSeconds = 10;

  @Option(
      names = "--seconds",
      defaultValue = "5",
      description = "Measured time of each pass (default: 5).")
  private double seconds = 5;

  @Option(
      names = "--operations",
      paramLabel = "N",
      defaultValue = "0",
      description = "Ends each pass after so many, instead of --warm-up and --seconds.")
  private long operations;

  @Option(names = "--passes", defaultValue = "3", description = "Default: 3.")
  private int passes = 3;

  @Option(names = "--seed", defaultValue = "1", description = "Default: 1.")
  private long seed = 1;

  @Option(
      names = "--signed-payload",
      description = "Signatures cover the bodies, whose SHA-256 the server then computes.")
  private boolean isSigned;

  @Option(
      names = "--threads",
      defaultValue = "0",
      description = "Of the generator (default: one for four processors).")
  private int threads;

  @Option(
      names = "--phase",
      defaultValue = "run",
      description = "Names the results, as before or after (default: run).")
  private String phase = "run";

  @Option(
      names = "--results",
      paramLabel = "FOLDER",
      defaultValue = "bench-results",
      description = "Each run gets a new folder there (default: bench-results).")
  private Path results = Path.of("bench-results");

  @Option(names = "--json", description = "Prints JSON instead of the table.")
  private boolean json;

  private final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

  @Override
  public Integer call() throws IOException, InterruptedException {
    try {
      LoadReport report = measure();
      if (json) {
        out.println(Json.of(report));
      } else {
        report.print(out);
      }
      return report.operationsPerSecond().mean() > 0 ? 0 : 1;
    } catch (BenchException e) {
      System.err.println(e.getMessage());
      return 1;
    }
  }

  private LoadReport measure() throws IOException, InterruptedException {
    Load load =
        new Load(
            Mix.parse(mix),
            blockBytes,
            !isSequential,
            clients,
            depth,
            rate,
            warmUpSeconds,
            seconds,
            seed,
            operations);
    DataSet data = new DataSet(objects, objectBytes);
    ResultFolder folder = ResultFolder.create(results, "load");
    try (ScratchFolder scratch = ScratchFolder.in(server.folder());
        ServerOptions.Loaded loaded = server.open(scratch.child("server"));
        LoadRun run =
            new LoadRun(
                loaded.target(), new LoadRun.Client(threads, isSigned, seed), data, loaded.pid())) {
      ManagementPage.Metrics before = metrics(loaded.management());
      if (load.mix().needsObjects()) {
        run.prepare();
      }
      List<LoadResult> measured = passes(run, load, folder);
      LoadReport.Counters counters = compare(loaded.management(), before, run.answered());
      String machine = Machine.describe(scratch.child(""));
      LoadReport report = LoadReport.of(machine, loaded.title(), measured, counters);
      folder.write("report.json", Json.of(report));
      if (!server.isOwn()) {
        run.cleanUp();
      }
      return report;
    }
  }

  private List<LoadResult> passes(LoadRun run, Load load, ResultFolder folder)
      throws IOException, InterruptedException {
    List<LoadResult> measured = new ArrayList<>();
    TimeLeft progress = new TimeLeft(passes);
    for (int pass = 1; pass <= passes; pass++) {
      Load of = load.withSeed(load.seed() + pass - 1);
      double later = Math.min(LATER_WARM_UP_SECONDS, load.warmUpSeconds());
      LoadResult result = run.run(pass == 1 ? of : of.withTimes(later, load.seconds()));
      folder.writeStep(phase, server.profile(), pass, "load", Json.of(result));
      measured.add(result);
      progress.done("pass %d: %.1f op/s".formatted(pass, result.total().operationsPerSecond()));
      run.settle(SETTLE_SECONDS);
    }
    return measured;
  }

  // --- The server's counters ------------------------------------------------------------------

  private static ManagementPage.@Nullable Metrics metrics(@Nullable URI management)
      throws InterruptedException {
    return management == null ? null : new ManagementPage(management).metrics();
  }

  /** The server counts an answer when it has sent it: perhaps after we have it. */
  private static LoadReport.@Nullable Counters compare(
      @Nullable URI management, ManagementPage.@Nullable Metrics before, Map<String, Long> answered)
      throws InterruptedException {
    LoadReport.Counters counters = null;
    for (int attempt = 0; attempt < COUNTER_ATTEMPTS; attempt++) {
      ManagementPage.Metrics now = metrics(management);
      if (now == null || before == null) {
        return null;
      }
      counters = since(before, now, answered);
      if (counters.agree()) {
        return counters;
      }
      Thread.sleep(COUNTER_WAIT_MILLIS);
    }
    return counters;
  }

  private static LoadReport.Counters since(
      ManagementPage.Metrics before, ManagementPage.Metrics now, Map<String, Long> answered) {
    Map<String, Long> earlier = before.requests();
    Map<String, Long> later = now.requests();
    Map<String, Long> counted = new TreeMap<>();
    for (String operation : answered.keySet()) {
      counted.put(
          operation, later.getOrDefault(operation, 0L) - earlier.getOrDefault(operation, 0L));
    }
    long refused = (long) (now.sum(REFUSED, "") - before.sum(REFUSED, ""));
    return new LoadReport.Counters(answered, counted, refused);
  }
}
