package dev.ashlar.bench.versus;

import dev.ashlar.bench.Machine;
import dev.ashlar.bench.Plan;
import dev.ashlar.bench.TimeLeft;
import dev.ashlar.bench.engine.ScratchFolder;
import dev.ashlar.bench.options.Arguments;
import dev.ashlar.bench.options.EndpointOptions;
import dev.ashlar.bench.options.Options;
import dev.ashlar.bench.options.OutputOptions;
import dev.ashlar.bench.process.BenchException;
import dev.ashlar.bench.result.ResultFolder;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Alternates between the servers within a pass, and turns the order from pass to pass. */
@Command(
    name = "versus",
    description = {
      "Runs the same warp works in turn on Ashlar and on other servers, and prints medians and"
          + " ratios as a Markdown table.",
      "Without options, a quick look of two and a half minutes: PUT and GET of 4 KiB and mixed work of 1 MiB, passes"
          + " of 1 s after 1 s of the same work. --full: all works, passes of 20 s after 30 s, somewhat over"
          + " an hour for two servers; quote only that."
    },
    mixinStandardHelpOptions = true)
public final class VersusCommand implements Callable<Integer>, Plan.Planned {
  private static final String ASHLAR = "ashlar";
  private static final String MINIO = "minio";
  private static final List<String> STARTED = List.of(ASHLAR, MINIO, "none");

  /** Preparing takes longest on slow servers, and quick looks have no time for it. */
  private static final double QUICK_OBJECTS_SHARE = 0.25;

  private static final double PREPARE_SECONDS = 0.6;
  private static final double WARP_SECONDS = 2.3;
  private static final List<Work> QUICK = List.of(Work.PUT_4K, Work.GET_4K, Work.MIXED);

  @ArgGroup(exclusive = false, multiplicity = "0..*", heading = "A running server:%n")
  private List<EndpointOptions> endpoints = new ArrayList<>();

  @Mixin private Options.Form form = new Options.Form();

  @Mixin private Options.OwnServer own = new Options.OwnServer();

  @Mixin private Options.Passes passes = new Options.Passes();

  @Option(
      names = "--drain",
      paramLabel = "SECONDS",
      description =
          "Longest wait in seconds for the server's deferred work (default: 0.5; full: 15).")
  private @Nullable Double drainSeconds;

  @Option(
      names = "--clients",
      paramLabel = "N",
      converter = Arguments.Count.class,
      defaultValue = "16",
      description = "Number of clients, each with one request in flight (default: 16).")
  private int clients = 16;

  @Option(
      names = "--objects-factor",
      paramLabel = "N",
      converter = Arguments.Count.class,
      defaultValue = "1",
      description = "Prepare N times the objects, to outgrow caches.")
  private int objectsFactor = 1;

  @Option(
      names = "--work",
      split = ",",
      description = "Works to measure: ${COMPLETION-CANDIDATES}.")
  private List<Work> works = List.of();

  @Option(
      names = "--metadata",
      split = ",",
      paramLabel = "FOLDERS",
      defaultValue = "1",
      description = "Numbers of metadata folders to run Ashlar with: 1, 5 or 1,5 (default: 1).")
  private List<Integer> metadataFolders = List.of(1);

  @Option(
      names = "--servers",
      split = ",",
      paramLabel = "NAME",
      description =
          "Servers to start: ashlar, minio or none (default: both; with an endpoint:" + " ashlar).")
  private List<String> servers = List.of();

  @Option(
      names = "--warp",
      paramLabel = "FILE",
      description = "Load generator (default: warp on the PATH).")
  private @Nullable Path warp;

  @Option(
      names = "--bucket",
      defaultValue = "ashlar-versus",
      description = {
        "Bucket on running servers, created if missing (default: ashlar-versus).",
        "ALL OBJECTS IN IT ARE DELETED."
      })
  private String bucket = "ashlar-versus";

  @Mixin private OutputOptions output = new OutputOptions();

  private boolean complete = true;

  /**
   * What {@code --json} prints.
   *
   * @param reference whom ratios refer to
   */
  record Result(String machine, String conditions, String reference, List<VersusRow> rows) {}

  @Override
  public Plan plan() {
    int started =
        (started().contains(ASHLAR) ? metadataFolders.size() : 0)
            + (started().contains(MINIO) && onPath(MINIO).isPresent() ? 1 : 0);
    double drain = Math.max(Math.min(1, drain()), drain() / 2);
    double run = WARP_SECONDS + (form.isFull() ? 4 * PREPARE_SECONDS : PREPARE_SECONDS) + drain;
    int cells = works().size() * (started + endpoints.size());
    return new Plan()
        .servers(works().size() * started)
        .add(cells, run + warmUpSeconds())
        .add(cells * passes.passes(), run + seconds());
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    run();
    return complete ? 0 : 1;
  }

  private void run() throws IOException, InterruptedException {
    Path warpBinary = warp();
    List<Contender> contenders = contenders();
    Contender reference = contenders.getLast();
    ResultFolder kept = output.newFolder("versus");
    List<VersusRow> measured = new ArrayList<>();
    try (ScratchFolder scratch = own.newScratch()) {
      Cell.Conditions conditions = conditions(scratch.child(""), warpBinary);
      Result result =
          new Result(
              Machine.describe(scratch.child("")),
              describe(conditions, contenders),
              reference.title(),
              measured);
      if (!output.isJson()) {
        output.out().printf("%s%n%s%n%n", result.machine(), result.conditions());
        VersusRow.printHeader(reference.title(), output.out());
      }
      TimeLeft left = new TimeLeft(works().size() * contenders.size() * (1 + passes.passes()));
      for (Work work : works()) {
        List<VersusRow> rows =
            rows(work, measure(conditions, contenders, work, left, kept), reference);
        measured.addAll(rows);
        if (!output.isJson()) {
          rows.forEach(row -> row.print(output.out()));
        }
      }
      kept.write("report.json", result);
      output.print(result, out -> VersusRow.printAbnormal(measured, out));
    }
  }

  private Cell.Conditions conditions(Path root, Path warpBinary) {
    return new Cell.Conditions(
        root,
        bucket,
        warpBinary,
        clients,
        form.isFull() ? objectsFactor : objectsFactor * QUICK_OBJECTS_SHARE,
        duration(warmUpSeconds()),
        duration(seconds()),
        duration(drain()));
  }

  private List<Work> works() {
    return !works.isEmpty() ? works : form.isFull() ? List.of(Work.values()) : QUICK;
  }

  private double seconds() {
    return form.seconds(1, 20);
  }

  private double warmUpSeconds() {
    return form.warmUpSeconds(1, 30);
  }

  private double drain() {
    return drainSeconds != null ? drainSeconds : form.isFull() ? 15 : 0.5;
  }

  private static Duration duration(double seconds) {
    return Duration.ofMillis(Math.round(1e3 * seconds));
  }

  private Path warp() {
    if (warp == null) {
      return onPath("warp")
          .orElseThrow(
              () -> new BenchException(missing("warp", "https://github.com/minio/warp/releases")));
    }
    if (!Files.isExecutable(warp)) {
      throw new BenchException("--warp: " + warp + " is no program.");
    }
    return warp.toAbsolutePath();
  }

  /** The reference's row is last, as it is itself. */
  private static List<VersusRow> rows(
      Work work, Map<Contender, List<Measurement>> measured, Contender reference) {
    List<Measurement> references = measured.get(reference);
    VersusRow last =
        references == null ? null : VersusRow.of(work, reference.title(), references, null);
    List<VersusRow> rows = new ArrayList<>();
    measured.forEach(
        (contender, each) -> {
          if (contender != reference) {
            rows.add(VersusRow.of(work, contender.title(), each, last));
          }
        });
    if (last != null) {
      rows.add(last);
    }
    return rows;
  }

  private Map<Contender, List<Measurement>> measure(
      Cell.Conditions conditions,
      List<Contender> contenders,
      Work work,
      TimeLeft left,
      ResultFolder kept)
      throws IOException, InterruptedException {
    Map<Contender, Cell> cells = new LinkedHashMap<>();
    Map<Contender, List<Measurement>> measured = new LinkedHashMap<>();
    try {
      for (Contender contender : contenders) {
        guarded(
            work,
            contender,
            () -> {
              cells.put(contender, Cell.open(contender, work, conditions));
              return "warm";
            },
            left);
      }
      List<Map.Entry<Contender, Cell>> order = new ArrayList<>(cells.entrySet());
      for (int pass = 1; pass <= passes.passes(); pass++) {
        int current = pass;
        for (Map.Entry<Contender, Cell> cell : order) {
          guarded(
              work,
              cell.getKey(),
              () -> {
                Measurement result = cell.getValue().measure(current);
                String title = cell.getKey().title();
                kept.writeStep(title, current, work.name().toLowerCase(Locale.ROOT), result);
                measured.computeIfAbsent(cell.getKey(), first -> new ArrayList<>()).add(result);
                return "pass " + current + ": " + result;
              },
              left);
        }
        Collections.reverse(order);
      }
      return measured;
    } finally {
      for (Cell cell : cells.values()) {
        cell.close();
      }
    }
  }

  private interface Step {
    String run() throws IOException, InterruptedException;
  }

  /** The other cells of an hour's run are not lost for one that fails. */
  private void guarded(Work work, Contender contender, Step step, TimeLeft left)
      throws IOException, InterruptedException {
    String what;
    try {
      what = step.run();
    } catch (BenchException e) {
      complete = false;
      what = "failed";
      System.err.printf("%s, %s: %s%n", work.title(), contender.title(), e.getMessage());
    }
    left.done("%s, %s, %s".formatted(work.title(), contender.title(), what));
  }

  /** Ratios refer to the last: an endpoint, or MinIO. */
  private List<Contender> contenders() {
    List<Contender> contenders = new ArrayList<>();
    if (started().contains(ASHLAR)) {
      metadataFolders.forEach(
          folders -> contenders.add(Contender.Ashlar.of(own.launcher(), folders)));
    }
    if (started().contains(MINIO)) {
      onPath(MINIO)
          .ifPresentOrElse(
              minio -> contenders.add(new Contender.Minio(minio)),
              () ->
                  System.err.println(
                      "MinIO is left out: "
                          + missing(MINIO, "https://min.io/download or its source code")));
    }
    endpoints.forEach(each -> contenders.add(new Contender.Endpoint(each.name(), each.endpoint())));
    if (contenders.isEmpty()) {
      throw new BenchException("Nothing to measure: there is no server of " + started());
    }
    List<String> titles = contenders.stream().map(Contender::title).toList();
    if (Set.copyOf(titles).size() < titles.size()) {
      throw new BenchException("Servers need different names (--name, --metadata): " + titles);
    }
    return contenders;
  }

  /** Names of those that are started here. */
  private List<String> started() {
    if (!STARTED.containsAll(servers)) {
      throw new BenchException("--servers takes " + STARTED + ", not " + servers);
    }
    if (!servers.isEmpty()) {
      return servers;
    }
    return endpoints.isEmpty() ? List.of(ASHLAR, MINIO) : List.of(ASHLAR);
  }

  private static Optional<Path> onPath(String program) {
    String path = System.getenv().getOrDefault("PATH", "");
    return Stream.of(path.split(File.pathSeparator, -1))
        .map(folder -> Path.of(folder, program))
        .filter(Files::isExecutable)
        .findFirst();
  }

  private static String missing(String program, String source) {
    return "%s is not on the PATH; get it from its makers: %s".formatted(program, source);
  }

  private String describe(Cell.Conditions conditions, List<Contender> contenders) {
    boolean isStarting = contenders.stream().anyMatch(Contender.Started.class::isInstance);
    return String.format(
        Locale.ROOT,
        "%d clients, %.1f s after %.1f s of the same work, medians of %d passes. CPU: the server's,"
            + " deferred work included.%s",
        clients,
        conditions.measured().toMillis() / 1e3,
        conditions.warmUp().toMillis() / 1e3,
        passes.passes(),
        isStarting ? " Servers started here: six folders, 4+2." : "");
  }
}
