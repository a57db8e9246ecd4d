package dev.ashlar.bench.curves;

import dev.ashlar.bench.Json;
import dev.ashlar.bench.Machine;
import dev.ashlar.bench.SizeArgument;
import dev.ashlar.bench.chart.Figure;
import dev.ashlar.bench.chart.Fonts;
import dev.ashlar.bench.chart.Page;
import dev.ashlar.bench.engine.ScratchFolder;
import dev.ashlar.bench.load.DataSet;
import dev.ashlar.bench.load.LoadResult;
import dev.ashlar.bench.process.BenchException;
import dev.ashlar.bench.result.ResultFolder;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Response curves and their kin. */
@Command(
    name = "curves",
    description =
        "Sweeps of load over servers of several profiles, as charts: throughput against latency"
            + " with knee and planning point, block sizes, clients, sequential throughput.",
    mixinStandardHelpOptions = true)
public final class CurvesCommand implements Callable<Integer> {
  private static final String BEFORE = "before";
  private static final String AFTER = "after";
  private static final double QUICK_WARM_UP_SECONDS = 4;
  private static final double FULL_WARM_UP_SECONDS = 30;
  private static final int OBJECTS = 16;
  private static final int ABNORMAL_SHOWN = 5;

  @Option(
      names = "--profile",
      paramLabel = "PROFILE",
      description =
          "A server of this profile takes part, as 6+2 or 6+2,optimizations=off; give it once for"
              + " each (default: 4+2, 4+2 classic and 1+2; with --full all of 1+2, 2+2, 4+2, 6+2"
              + " and the classic ones of the last three).")
  private @Nullable List<String> profiles;

  @Option(
      names = "--full",
      description =
          "Longer sweeps of 10 s steps: about three hours, and 20 GB in --folder (default: a look"
              + " of three minutes).")
  private boolean isFull;

  @Option(
      names = "--depth",
      split = ",",
      paramLabel = "N",
      description = "Requests on their way in the response curve.")
  private @Nullable List<Integer> depths;

  @Option(
      names = "--block-size",
      split = ",",
      paramLabel = "BYTES",
      converter = SizeArgument.class,
      description = "Of the sweep of block sizes, at most 4MiB.")
  private @Nullable List<Long> blockBytes;

  @Option(
      names = "--clients",
      split = ",",
      paramLabel = "N",
      description = "Of the sweep of clients, at most 16.")
  private @Nullable List<Integer> clients;

  @Option(
      names = "--seconds",
      description = "Measured time of each step and pass (default: 0.4, with --full 10).")
  private @Nullable Double seconds;

  @Option(
      names = "--warm-up",
      paramLabel = "SECONDS",
      description = "Of each server beforehand (default: 4, with --full 30).")
  private @Nullable Double warmUpSeconds;

  @Option(names = "--passes", defaultValue = "3", description = "Default: 3.")
  private int passes = 3;

  @Option(names = "--seed", defaultValue = "1", description = "Default: 1.")
  private long seed = 1;

  @Option(
      names = "--phase",
      defaultValue = "run",
      description =
          "Names what is measured. 'after' draws the newest 'before' of the same results folder"
              + " beside it (default: run).")
  private String phase = "run";

  @Option(
      names = "--against",
      paramLabel = "FOLDER",
      description = "Draws the result in this folder beside, instead of the newest 'before'.")
  private @Nullable Path against;

  @Option(
      names = "--folder",
      defaultValue = ".",
      description = "Where the servers' drive folders are made, and removed (default: here).")
  private Path folder = Path.of(".");

  @Option(
      names = "--ashlar",
      paramLabel = "FILE",
      defaultValue = "./ashlar",
      description = "The launcher of the servers (default: ./ashlar).")
  private Path launcher = Path.of("ashlar");

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
      Fonts.check();
      Optional<Curves> earlier = earlier();
      ResultFolder kept = ResultFolder.create(results, "curves");
      Curves curves = measure(kept);
      kept.write(fileOf(phase), Json.of(curves));
      Path page = page(kept, curves, earlier);
      if (json) {
        out.println(Json.of(curves));
      } else {
        print(curves, page);
      }
      return curves.points().stream().allMatch(point -> point.operations() > 0) ? 0 : 1;
    } catch (BenchException e) {
      System.err.println(e.getMessage());
      return 1;
    }
  }

  private static String fileOf(String phase) {
    return "curves-" + phase + ".json";
  }

  /**
   * What is drawn beside; looked up first, so that nobody waits for hours to hear it is missing.
   */
  private Optional<Curves> earlier() throws IOException {
    Optional<Path> place = Optional.ofNullable(against);
    if (place.isEmpty() && phase.equals(AFTER)) {
      place = ResultFolder.newestWith(results, "curves", fileOf(BEFORE));
      if (place.isEmpty()) {
        throw new BenchException(
            "There is nothing from --phase before in " + results + "; name it by --against.");
      }
    }
    return place.isEmpty() ? Optional.empty() : Optional.of(read(place.get()));
  }

  private static Curves read(Path folder) throws IOException {
    try (var files = Files.newDirectoryStream(folder, "curves-*.json")) {
      for (Path file : files) {
        return Curves.parse(Files.readString(file));
      }
    }
    throw new BenchException("There is no curves-….json in " + folder);
  }

  // --- Measuring ------------------------------------------------------------------------------

  private Curves measure(ResultFolder kept) throws IOException, InterruptedException {
    Sweep.Extent extent = extent();
    List<Sweep.Step> steps = Sweep.steps(extent, seed);
    try (ScratchFolder scratch = ScratchFolder.in(folder)) {
      Bank.Setting setting =
          new Bank.Setting(
              launcher,
              scratch.child(""),
              new DataSet(OBJECTS, Sweep.OBJECT_BYTES),
              warmUp(),
              seed);
      Map<String, Map<Sweep.Step, List<LoadResult>>> measured = new LinkedHashMap<>();
      try (Bank bank = Bank.open(profiles(), setting)) {
        bank.measure(
            steps,
            passes,
            extent.settleSeconds(),
            (profile, pass, step, result) -> {
              kept.writeStep(phase, profile, pass, step.name(), Json.of(result));
              measured
                  .computeIfAbsent(profile, first -> new LinkedHashMap<>())
                  .computeIfAbsent(step, first -> new ArrayList<>())
                  .add(result);
            });
      }
      List<Curves.Point> points = new ArrayList<>();
      for (String profile : profiles()) {
        measured
            .getOrDefault(profile, Map.of())
            .forEach((step, results) -> points.add(Curves.Point.of(profile, step, results)));
      }
      return new Curves(Machine.describe(scratch.child("")), phase, points);
    }
  }

  private List<String> profiles() {
    if (profiles != null) {
      return profiles;
    }
    String classic = ",optimizations=off";
    return isFull
        ? List.of("1+2", "2+2", "4+2", "6+2", "2+2" + classic, "4+2" + classic, "6+2" + classic)
        : List.of("4+2", "4+2" + classic, "1+2");
  }

  private Sweep.Extent extent() {
    Sweep.Extent preset = isFull ? Sweep.Extent.full() : Sweep.Extent.quick();
    return new Sweep.Extent(
        depths == null ? preset.depths() : depths,
        blockBytes == null ? preset.blockBytes() : blockBytes,
        clients == null ? preset.clients() : clients,
        seconds == null ? preset.seconds() : seconds,
        preset.leadInSeconds(),
        preset.settleSeconds());
  }

  private double warmUp() {
    if (warmUpSeconds != null) {
      return warmUpSeconds;
    }
    return isFull ? FULL_WARM_UP_SECONDS : QUICK_WARM_UP_SECONDS;
  }

  // --- Telling --------------------------------------------------------------------------------

  private String how() {
    return String.format(
        Locale.ROOT,
        "Means of %d passes of %s s each, the profiles in turn.",
        passes,
        extent().seconds());
  }

  private Path page(ResultFolder kept, Curves curves, Optional<Curves> earlier) throws IOException {
    List<Curves> phases = new ArrayList<>();
    earlier.ifPresent(phases::add);
    phases.add(curves);
    Page page = new Page(kept.path());
    for (Curves each : phases) {
      page.paragraph(phases.size() > 1 ? each.phase() + ": " + each.machine() : each.machine());
    }
    for (Figure figure : new CurvesCharts(phases, how()).figures()) {
      page.figure(figure);
    }
    page.heading("All figures");
    CurvesTable table = new CurvesTable(curves);
    page.table(CurvesTable.HEAD, table.rows());
    return page.write("Response curves");
  }

  private void print(Curves curves, Path page) {
    out.println(curves.machine());
    out.println(how());
    out.println();
    new CurvesTable(curves).print(out);
    List<Curves.Point> abnormal = curves.abnormal();
    if (!abnormal.isEmpty()) {
      out.printf(
          "ABNORMAL variance in %d of %d steps; measure longer or on a quieter machine. Some of"
              + " them:%n",
          abnormal.size(), curves.points().size());
      for (Curves.Point point : abnormal.subList(0, Math.min(ABNORMAL_SHOWN, abnormal.size()))) {
        String name = point.profile() + ", " + point.sweep().title() + " " + point.label();
        out.println("  " + point.operationsPerSecond().text(name + ", op/s"));
      }
      out.println();
    }
    out.println("Charts: " + page);
  }
}
