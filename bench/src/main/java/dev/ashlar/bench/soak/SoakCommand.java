package dev.ashlar.bench.soak;

import dev.ashlar.bench.Machine;
import dev.ashlar.bench.Plan;
import dev.ashlar.bench.TimeLeft;
import dev.ashlar.bench.chart.Figure;
import dev.ashlar.bench.chart.Page;
import dev.ashlar.bench.engine.ScratchFolder;
import dev.ashlar.bench.load.DataSet;
import dev.ashlar.bench.load.Load;
import dev.ashlar.bench.load.LoadOptions;
import dev.ashlar.bench.load.LoadResult;
import dev.ashlar.bench.load.LoadRun;
import dev.ashlar.bench.load.ServerOptions;
import dev.ashlar.bench.options.OutputOptions;
import dev.ashlar.bench.process.BenchException;
import dev.ashlar.bench.process.ManagementPage;
import dev.ashlar.bench.result.ResultFolder;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The same load for long: the server must not grow. */
@Command(
    name = "soak",
    description = {
      "Random reads and writes for a long time. Records memory, threads, file handles and CPU,"
          + " and reports whether any of them grows.",
      "Without options: 64 objects of 1 MiB, two minutes."
    },
    mixinStandardHelpOptions = true)
public final class SoakCommand implements Callable<Integer>, Plan.Planned {
  /** Shorter, and the virtual machine and its caches are still warming up. */
  private static final double JUDGED_MINUTES_MIN = 30;

  private static final int SAMPLES_MAX = 2000;
  private static final int PROGRESS_STEPS = 10;
  private static final int THIRDS = 3;
  private static final double SECONDS_PER_MINUTE = 60;
  private static final double PREPARATION_SECONDS = 2;
  private static final double DRAWING_SECONDS = 4;
  private static final int OBJECTS = 64;
  private static final long OBJECT_BYTES = 1 << 20;

  @Mixin private ServerOptions server = new ServerOptions();

  @Option(
      names = "--minutes",
      paramLabel = "N",
      defaultValue = "1.75",
      description = "Duration in minutes (default: 1.75). From 30 on, growth is an error.")
  private double minutes = 1.75;

  @Option(
      names = "--mix",
      paramLabel = "MIX",
      defaultValue = "read=60,patch=35,replace=5",
      description =
          "Mix as for load; write and append fill the drives (default: read=60,patch=35,replace=5).")
  private String mix = "read=60,patch=35,replace=5";

  @Option(
      names = "--rate",
      paramLabel = "OPS",
      defaultValue = "200",
      description =
          "Operations started per second, so that the load is constant. 0 starts the next"
              + " operation when the last is answered (default: 200).")
  private double rate = 200;

  @Mixin private LoadOptions work = new LoadOptions();

  @Mixin private OutputOptions output = new OutputOptions();

  /** What a soak came to. */
  record SoakResult(
      String machine, String server, LoadResult load, List<Growth> growth, List<Sample> samples) {}

  @Override
  public Plan plan() {
    return new Plan()
        .servers(server.isOwn() ? 1 : 0)
        .add(minutes, SECONDS_PER_MINUTE)
        .add(1, PREPARATION_SECONDS + DRAWING_SECONDS);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    Page.checkFonts();
    Load load = work.load(mix, true, rate, 0, minutes * SECONDS_PER_MINUTE, 0);
    DataSet data = work.data(load, OBJECTS, OBJECT_BYTES);
    ResultFolder folder = output.newFolder("soak");
    SoakResult result = measure(load, data);
    folder.writeStep(server.profile(), 1, "soak", result);
    Path page = page(folder, result);
    output.print(result, out -> print(result, page, out));
    if (result.load().total().operations() == 0) {
      return 1; // it is not known how that would grow which works
    }
    boolean isJudged = minutes >= JUDGED_MINUTES_MIN;
    return isJudged && result.growth().stream().anyMatch(Growth::isGrowing) ? 1 : 0;
  }

  private SoakResult measure(Load load, DataSet data) throws IOException, InterruptedException {
    LoadRun.Client client = new LoadRun.Client(0, false, work.seed());
    try (ScratchFolder scratch = server.newScratch();
        ServerOptions.Loaded loaded = server.open(scratch.child("server"), fixedHeap());
        LoadRun run = new LoadRun(loaded, client, data)) {
      ProcessHandle process = loaded.process();
      if (process == null) {
        throw new BenchException("Say which process is watched: --pid.");
      }
      run.prepare();
      String machine = Machine.describe(scratch.child(""));
      CompletableFuture<LoadResult> running = begin(run, load);
      List<Sample> samples = watch(running, load.seconds(), process.pid(), loaded.management());
      LoadResult result = await(running);
      return new SoakResult(machine, loaded.title(), result, Growth.of(samples), samples);
    }
  }

  /** All of it there from the start: when the collector lets it grow is not the matter. */
  private static Map<String, String> fixedHeap() {
    String heap = System.getenv().getOrDefault("ASHLAR_HEAP", "384m");
    String options = System.getenv().getOrDefault("ASHLAR_JAVA_OPTIONS", "");
    return Map.of(
        "ASHLAR_HEAP",
        heap,
        "ASHLAR_JAVA_OPTIONS",
        (options + " -Xms" + heap + " -XX:+AlwaysPreTouch").strip());
  }

  private static CompletableFuture<LoadResult> begin(LoadRun run, Load load) {
    CompletableFuture<LoadResult> result = new CompletableFuture<>();
    Thread.ofVirtual()
        .start(
            () -> {
              try {
                result.complete(run.run(load));
              } catch (InterruptedException | RuntimeException e) {
                result.completeExceptionally(e);
              }
            });
    return result;
  }

  private static LoadResult await(CompletableFuture<LoadResult> running)
      throws InterruptedException {
    try {
      return running.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof BenchException expected) {
        throw expected;
      }
      throw new IllegalStateException(e);
    }
  }

  /** Samples evenly until the time is over, once a second or less often. */
  private List<Sample> watch(
      CompletableFuture<LoadResult> running, double seconds, long pid, @Nullable URI management)
      throws IOException, InterruptedException {
    ManagementPage page = management == null ? null : new ManagementPage(management);
    double period = Math.max(Math.min(1, seconds / PROGRESS_STEPS), seconds / SAMPLES_MAX);
    long begin = System.nanoTime();
    TimeLeft progress = new TimeLeft(PROGRESS_STEPS);
    List<Sample> samples = new ArrayList<>();
    int told = 0;
    int collections = 0;
    while (!running.isDone()) {
      double since = (System.nanoTime() - begin) / 1e9;
      if (since > seconds) {
        break;
      }
      if (since / seconds > (collections + 0.5) / THIRDS) {
        collections++;
        // Not in a server that is not ours: one that is no JVM might end of being asked.
        if (server.isOwn()) {
          FullCollection.run(pid);
        }
      }
      samples.add(Sample.now(since, pid, page));
      if (since * PROGRESS_STEPS / seconds >= told + 1) {
        told++;
        progress.done("%.0f MiB resident".formatted(samples.getLast().residentMebibytes()));
      }
      double next = samples.size() * period - (System.nanoTime() - begin) / 1e9;
      Thread.sleep((long) Math.max(0, 1e3 * next));
    }
    return samples;
  }

  private Path page(ResultFolder folder, SoakResult result) throws IOException {
    Page page = new Page(folder.path());
    page.paragraph(result.machine());
    page.paragraph(told(result));
    page.table(
        List.of("", "last third against the middle third"),
        result.growth().stream().map(growth -> List.of(growth.name(), growth.verdict())).toList());
    for (Figure figure : new SoakCharts(result.samples()).figures()) {
      page.figure(figure);
    }
    return page.write("Soak of " + result.server());
  }

  private static String told(SoakResult result) {
    LoadResult load = result.load();
    return String.format(
        Locale.ROOT,
        "%s: %s of %,d bytes in %d objects of %,d, %.0f s, %,d operations (%.1f/s), p50 %.2f ms,"
            + " p99 %.2f ms, %,d failed, %,d not even sent in time.",
        result.server(),
        load.load().mix(),
        load.load().blockBytes(),
        load.objects(),
        load.objectBytes(),
        load.seconds(),
        load.total().operations(),
        load.total().operationsPerSecond(),
        load.total().latency().p50(),
        load.total().latency().p99(),
        load.total().failures(),
        load.unsent());
  }

  private void print(SoakResult result, Path page, PrintStream out) {
    out.println(result.machine());
    out.println(told(result));
    out.println();
    out.println("| | last third against the middle third |");
    out.println("|---|---|");
    for (Growth growth : result.growth()) {
      out.printf("| %s | %s |%n", growth.name(), growth.verdict());
    }
    out.println();
    result
        .load()
        .total()
        .errors()
        .forEach((name, n) -> out.printf("Failed %d times: %s.%n", n, name));
    if (minutes < JUDGED_MINUTES_MIN) {
      out.println(
          "Less than half an hour is mostly warm-up: growth in it says little, and is not an error.");
    }
    out.println("Charts: " + page);
  }
}
