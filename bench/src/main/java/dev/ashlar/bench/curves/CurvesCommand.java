package dev.ashlar.bench.curves;

import dev.ashlar.bench.Machine;
import dev.ashlar.bench.Plan;
import dev.ashlar.bench.chart.Figure;
import dev.ashlar.bench.chart.Page;
import dev.ashlar.bench.engine.ScratchFolder;
import dev.ashlar.bench.load.DataSet;
import dev.ashlar.bench.load.LoadResult;
import dev.ashlar.bench.load.ServerOptions;
import dev.ashlar.bench.options.Arguments;
import dev.ashlar.bench.options.EndpointOptions;
import dev.ashlar.bench.options.Options;
import dev.ashlar.bench.options.OutputOptions;
import dev.ashlar.bench.result.ResultFolder;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Response curves and their kin. */
@Command(
    name = "curves",
    description = {
      "Sweeps of load over servers of several profiles, or over storage classes of a running"
          + " server, as charts: throughput against latency"
          + " with knee and planning point, block sizes, clients, sequential throughput.",
      "Without options, a quick look of two minutes: 4+2, 4+2 classic and 1+2, passes of 0.35 s after 4 s of"
          + " warm-up for each server. --full: also 2+2 and 6+2 and their classic modes, longer"
          + " sweeps in passes of 10 s after up to five times 30 s, until no server gets faster;"
          + " more than three hours, and 20 GB in --folder."
    },
    mixinStandardHelpOptions = true)
public final class CurvesCommand implements Callable<Integer>, Plan.Planned {
  private static final double QUICK_WARM_UP_SECONDS = 4;
  private static final double FULL_WARM_UP_SECONDS = 30;
  private static final int FULL_WARM_UP_ROUNDS = 5;
  private static final double FILL_SECONDS = 1.5;
  private static final double SETTLED_SECONDS = 1;
  private static final double DRAWING_SECONDS = 10;
  private static final List<String> QUICK_PROFILES = List.of("4+2", "4+2,optimizations=off", "1+2");
  private static final List<String> FULL_PROFILES =
      List.of(
          "1+2",
          "2+2",
          "4+2",
          "6+2",
          "2+2,optimizations=off",
          "4+2,optimizations=off",
          "6+2,optimizations=off");
  private static final int OBJECTS = 16;
  private static final int ABNORMAL_SHOWN = 5;

  @Mixin private Options.Profiles profiles = new Options.Profiles();

  @ArgGroup(exclusive = false, heading = ServerOptions.ENDPOINT_HEADING)
  private @Nullable EndpointOptions endpoint;

  @Mixin private Options.StorageClasses storageClasses = new Options.StorageClasses();

  @Mixin private Options.Form form = new Options.Form();

  @Option(
      names = "--depth",
      split = ",",
      paramLabel = "N",
      description = "Requests in flight; each value is one step of the response curve.")
  private @Nullable List<Integer> depths;

  @Option(
      names = "--block-size",
      split = ",",
      paramLabel = "BYTES",
      converter = Arguments.Size.class,
      description = "Block sizes, at most 4MiB; each value is one step of the sweep.")
  private @Nullable List<Long> blockBytes;

  @Option(
      names = "--clients",
      split = ",",
      paramLabel = "N",
      description = "Numbers of clients, at most 16; each value is one step of the sweep.")
  private @Nullable List<Integer> clients;

  @Mixin private Options.Passes passes = new Options.Passes();

  @Mixin private Options.Seed seed = new Options.Seed();

  @Mixin private Options.OwnServer own = new Options.OwnServer();

  @Mixin private OutputOptions output = new OutputOptions();

  @Override
  public Plan plan() {
    Sweep.Extent extent = extent();
    int curves = curves().size();
    Plan plan =
        new Plan()
            .servers(endpoint == null ? curves : 0)
            .add(curves, FILL_SECONDS + warmUpRounds() * warmUp())
            .add(1, DRAWING_SECONDS);
    for (Sweep.Step step : Sweep.steps(extent, seed.seed())) {
      double settled = extent.settleSeconds() > 0 ? SETTLED_SECONDS : 0;
      double measured = step.load().warmUpSeconds() + step.load().seconds();
      plan.add(curves * passes.passes(), measured + settled);
    }
    return plan;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    Page.checkFonts();
    ResultFolder kept = output.newFolder("curves");
    Curves curves = measure(kept);
    kept.write("curves-" + output.phase() + ".json", curves);
    Path page = page(kept, curves);
    output.print(curves, out -> print(curves, page, out));
    return curves.points().stream().allMatch(point -> point.operations() > 0) ? 0 : 1;
  }

  private Curves measure(ResultFolder kept) throws IOException, InterruptedException {
    Sweep.Extent extent = extent();
    List<Sweep.Step> steps = Sweep.steps(extent, seed.seed());
    try (ScratchFolder scratch = own.newScratch()) {
      ServerFleet.Setting setting =
          new ServerFleet.Setting(
              own.launcher(),
              scratch.child(""),
              new DataSet(OBJECTS, Sweep.OBJECT_BYTES),
              warmUp(),
              warmUpRounds(),
              seed.seed());
      Map<String, Map<Sweep.Step, List<LoadResult>>> measured = new LinkedHashMap<>();
      try (ServerFleet fleet = fleet(setting)) {
        fleet.measure(
            steps,
            passes.passes(),
            extent.settleSeconds(),
            (profile, pass, step, result) -> {
              kept.writeStep(profile, pass, step.name(), result);
              measured
                  .computeIfAbsent(profile, first -> new LinkedHashMap<>())
                  .computeIfAbsent(step, first -> new ArrayList<>())
                  .add(result);
            });
      }
      List<Curves.Point> points = new ArrayList<>();
      for (String curve : curves()) {
        measured
            .getOrDefault(curve, Map.of())
            .forEach((step, results) -> points.add(Curves.Point.of(curve, step, results)));
      }
      String server = endpoint == null ? null : endpoint.name();
      return new Curves(Machine.describe(scratch.child("")), server, output.phase(), points);
    }
  }

  private ServerFleet fleet(ServerFleet.Setting setting) throws IOException, InterruptedException {
    return endpoint == null
        ? ServerFleet.open(profiles(), setting)
        : ServerFleet.on(
            ServerOptions.running(endpoint, null), storageClasses.of(endpoint), setting);
  }

  /** Of a chart: profiles, or storage classes of a server that runs already. */
  private List<String> curves() {
    List<String> classes = storageClasses.of(endpoint);
    if (endpoint == null) {
      return profiles();
    }
    return classes.isEmpty() ? List.of(ServerOptions.RUNNING) : classes;
  }

  private List<String> profiles() {
    return profiles.or(form.isFull() ? FULL_PROFILES : QUICK_PROFILES);
  }

  private Sweep.Extent extent() {
    Sweep.Extent preset = form.isFull() ? Sweep.Extent.full() : Sweep.Extent.quick();
    return new Sweep.Extent(
        depths == null ? preset.depths() : depths,
        blockBytes == null ? preset.blockBytes() : blockBytes,
        clients == null ? preset.clients() : clients,
        form.seconds(preset.seconds()),
        preset.leadInSeconds(),
        preset.settleSeconds());
  }

  private double warmUp() {
    return form.warmUpSeconds(QUICK_WARM_UP_SECONDS, FULL_WARM_UP_SECONDS);
  }

  private int warmUpRounds() {
    return form.isFull() ? FULL_WARM_UP_ROUNDS : 1;
  }

  private static String machine(Curves curves) {
    String server = curves.server();
    return server == null ? curves.machine() : curves.machine() + " The server is " + server + ".";
  }

  private static Path page(ResultFolder kept, Curves curves) throws IOException {
    Page page = new Page(kept.path());
    page.paragraph(machine(curves));
    for (Figure figure : new CurvesCharts(curves).figures()) {
      page.figure(figure);
    }
    CurvesTable table = new CurvesTable(curves);
    page.heading("Knees and planning points");
    page.table(CurvesTable.RESPONSE_HEAD, table.responses());
    page.heading("All figures");
    abnormal(curves).forEach(page::paragraph);
    page.table(CurvesTable.HEAD, table.rows());
    return page.write("Response curves");
  }

  private void print(Curves curves, Path page, PrintStream out) {
    out.println(machine(curves));
    out.println(curves.how(Sweep.RESPONSE));
    out.println();
    new CurvesTable(curves).print(out);
    List<String> abnormal = abnormal(curves);
    abnormal.stream().limit(1 + ABNORMAL_SHOWN).forEach(out::println);
    if (abnormal.size() > 1 + ABNORMAL_SHOWN) {
      out.println("… and others, which the page names.");
    }
    if (!abnormal.isEmpty()) {
      out.println();
    }
    out.println("Charts: " + page);
  }

  /** How many, and each of them. */
  private static List<String> abnormal(Curves curves) {
    List<String> told = new ArrayList<>();
    for (Curves.Point point : curves.abnormal()) {
      String name = point.profile() + ", " + point.sweep().title() + " " + point.label();
      told.add(point.operationsPerSecond().text(name + ", op/s"));
    }
    if (!told.isEmpty()) {
      told.addFirst(
          "ABNORMAL variance in %d of %d steps; measure longer or on a quieter machine."
              .formatted(told.size(), curves.points().size()));
    }
    return told;
  }
}
