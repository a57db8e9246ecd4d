package dev.ashlar.bench.load;

import dev.ashlar.bench.Machine;
import dev.ashlar.bench.Plan;
import dev.ashlar.bench.TimeLeft;
import dev.ashlar.bench.engine.ScratchFolder;
import dev.ashlar.bench.options.Options;
import dev.ashlar.bench.options.OutputOptions;
import dev.ashlar.bench.process.ManagementPage;
import dev.ashlar.bench.result.ResultFolder;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** One load on one server, perhaps on several storage classes in turn. */
@Command(
    name = "load",
    description = {
      "Puts load on an S3 server and measures throughput, latency, CPU and memory.",
      "Without options: 32 objects of 4 MiB, passes of 5 s after 10 s of warm-up, one minute."
    },
    mixinStandardHelpOptions = true)
public final class LoadCommand implements Callable<Integer>, Plan.Planned {
  private static final Duration SETTLE = Duration.ofSeconds(3);
  private static final double LATER_WARM_UP_SECONDS = 1;
  private static final int COUNTER_ATTEMPTS = 20;
  private static final long COUNTER_WAIT_MILLIS = 100;
  private static final String REFUSED = "ashlar_http_rejected_total";

  private static final int OBJECTS = 32;
  private static final long OBJECT_BYTES = 4 << 20;
  private static final double PASS_SECONDS = 5;
  private static final double WARM_UP_SECONDS = 10;
  private static final double PREPARATION_SECONDS = 4;

  @Mixin private ServerOptions server = new ServerOptions();

  @Mixin private Options.StorageClasses storageClasses = new Options.StorageClasses();

  @Option(
      names = "--mix",
      paramLabel = "MIX",
      defaultValue = "read=70,patch=30",
      description =
          "Percentages of read, write (new objects), replace (whole objects), patch (bytes in"
              + " place), append, list (pages of 1,000 keys), stat and delete (of what was written), or one of these words (default: read=70,patch=30).")
  private String mix = "read=70,patch=30";

  @Mixin private LoadOptions work = new LoadOptions();

  @Option(
      names = "--sequential",
      description = "Read and patch the objects in order instead of at random.")
  private boolean isSequential;

  @Option(
      names = "--rate",
      paramLabel = "OPS",
      defaultValue = "0",
      description =
          "Operations started per second, independent of the server's speed. Latency counts"
              + " from the scheduled start (default: 0, the next when the last is answered).")
  private double rate;

  @Mixin private Options.Times times = new Options.Times();

  @Option(
      names = "--operations",
      paramLabel = "N",
      defaultValue = "0",
      description = "Number of operations of each pass, instead of --warm-up and --seconds.")
  private long operations;

  @Mixin private Options.Passes passes = new Options.Passes();

  @Option(
      names = "--signed-payload",
      description = "Sign the bodies, so that the server computes their SHA-256.")
  private boolean isSigned;

  @Option(
      names = "--threads",
      paramLabel = "N",
      defaultValue = "0",
      description = "Threads of the generator (default: one per four processors).")
  private int threads;

  @Mixin private OutputOptions output = new OutputOptions();

  @Override
  public Plan plan() {
    int runs = Math.max(1, classes().size());
    double eachPass = seconds() + SETTLE.toSeconds() + LATER_WARM_UP_SECONDS;
    return new Plan()
        .servers(server.isOwn() ? 1 : 0)
        .add(runs, PREPARATION_SECONDS + warmUpSeconds())
        .add(runs * passes.passes(), eachPass);
  }

  private double seconds() {
    return times.seconds(PASS_SECONDS);
  }

  private double warmUpSeconds() {
    return times.warmUpSeconds(WARM_UP_SECONDS);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    List<String> classes = classes();
    ClassesReport report = measure(classes);
    if (classes.isEmpty()) {
      LoadReport only = report.only();
      output.print(only, only::print);
    } else {
      output.print(report, report::print);
    }
    return report.classes().values().stream().allMatch(LoadReport::hasSucceeded) ? 0 : 1;
  }

  private List<String> classes() {
    return storageClasses.of(server.endpoint());
  }

  private ClassesReport measure(List<String> classes) throws IOException, InterruptedException {
    Load load = work.load(mix, !isSequential, rate, warmUpSeconds(), seconds(), operations);
    DataSet data = work.data(load, OBJECTS, OBJECT_BYTES);
    LoadRun.Client client = new LoadRun.Client(threads, isSigned, work.seed());
    ResultFolder folder = output.newFolder("load");
    try (ScratchFolder scratch = server.newScratch();
        ServerOptions.Loaded loaded = server.open(scratch.child("server"), Map.of());
        LoadRuns runs = LoadRuns.open(loaded, classes, server.profile(), client, data)) {
      ManagementPage page = page(loaded.management());
      ManagementPage.Metrics before = page == null ? null : page.requiredMetrics();
      if (load.mix().needsObjects()) {
        runs.prepare();
      }
      Map<String, List<LoadResult>> measured = passes(runs, load, folder);
      LoadReport.Counters counters = compare(page, before, runs.answered());
      String machine = Machine.describe(scratch.child(""));
      ClassesReport report = ClassesReport.of(machine, loaded.title(), measured, counters);
      folder.write("report.json", classes.isEmpty() ? report.only() : report);
      return report;
    }
  }

  /** The classes in turn, and in the other order with each pass. */
  private Map<String, List<LoadResult>> passes(LoadRuns runs, Load load, ResultFolder folder)
      throws IOException, InterruptedException {
    Map<String, List<LoadResult>> measured = new LinkedHashMap<>();
    List<String> order = new ArrayList<>(runs.byClass().keySet());
    order.forEach(name -> measured.put(name, new ArrayList<>()));
    TimeLeft progress = new TimeLeft(passes.passes() * order.size());
    for (int pass = 1; pass <= passes.passes(); pass++) {
      for (String name : order) {
        LoadRun run = Objects.requireNonNull(runs.byClass().get(name));
        LoadResult result = run.run(ofPass(load, pass));
        folder.writeStep(name, pass, "load", result);
        Objects.requireNonNull(measured.get(name)).add(result);
        String what = order.size() > 1 ? "pass " + pass + ", " + name : "pass " + pass;
        progress.done("%s: %.1f op/s".formatted(what, result.total().operationsPerSecond()));
        run.settle(SETTLE);
      }
      Collections.reverse(order);
    }
    return measured;
  }

  /** Warmed up for long only before the first. */
  private static Load ofPass(Load load, int pass) {
    Load of = load.withSeed(load.seed() + pass - 1);
    double later = Math.min(LATER_WARM_UP_SECONDS, load.warmUpSeconds());
    return pass == 1 ? of : of.withTimes(later, load.seconds());
  }

  private static @Nullable ManagementPage page(@Nullable URI management) {
    return management == null ? null : new ManagementPage(management);
  }

  /** The server counts an answer when it has sent it: perhaps after we have it. */
  private static LoadReport.@Nullable Counters compare(
      @Nullable ManagementPage page,
      ManagementPage.@Nullable Metrics before,
      Map<String, Long> answered)
      throws InterruptedException {
    LoadReport.Counters counters = null;
    for (int attempt = 0; attempt < COUNTER_ATTEMPTS; attempt++) {
      ManagementPage.Metrics now = page == null ? null : page.metrics();
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
