package dev.ashlar.bench.versus;

import dev.ashlar.bench.Json;
import dev.ashlar.bench.Machine;
import dev.ashlar.bench.TimeLeft;
import dev.ashlar.bench.process.BenchException;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Alternates between the servers within a round, and turns the order from round to round. */
@Command(
    name = "versus",
    description = {
      "The same warp work in turn on Ashlar and on others, started here or running already;"
          + " medians and ratios, as a Markdown table.",
      "As it is, a quick look of two to three minutes: three works, one round of 5 s each. --full: all"
          + " works, three rounds of 20 s after 30 s of the same work; quote only that."
    },
    mixinStandardHelpOptions = true)
public final class VersusCommand implements Callable<Integer> {
  private static final List<Work> QUICK = List.of(Work.PUT_4K, Work.GET_4K, Work.MIXED);

  @ArgGroup(
      exclusive = false,
      multiplicity = "0..*",
      heading = "A server that runs already, with what belongs to it:%n")
  private List<EndpointOption> endpoints = new ArrayList<>();

  @Option(names = "--full", description = "All works, for long enough to be quoted.")
  private boolean isFull;

  @Option(
      names = "--data-root",
      paramLabel = "FOLDER",
      defaultValue = ".",
      description = "Where the drive folders are made: on the disk or the tmpfs to measure on.")
  private Path dataRoot = Path.of(".");

  @Option(names = "--rounds", description = "Default: 1; full: 3.")
  private @Nullable Integer rounds;

  @Option(
      names = "--seconds",
      description = "Measured time per work, server and round (default: 5; full: 20).")
  private @Nullable Integer seconds;

  @Option(
      names = "--warm-up",
      paramLabel = "SECONDS",
      description = "The same work beforehand, once for each server (default: 3; full: 30).")
  private @Nullable Integer warmUpSeconds;

  @Option(
      names = "--drain",
      paramLabel = "SECONDS",
      description = "Longest wait for work put off by the server (default: 2; full: 15).")
  private @Nullable Integer drainSeconds;

  @Option(names = "--concurrency", defaultValue = "16", description = "Default: 16.")
  private int concurrency = 16;

  @Option(
      names = "--objects-factor",
      paramLabel = "N",
      defaultValue = "1",
      description = "Prepares N times the objects, to outgrow caches.")
  private int objectsFactor = 1;

  @Option(names = "--work", split = ",", description = "Only these: ${COMPLETION-CANDIDATES}.")
  private List<Work> works = List.of();

  @Option(
      names = "--metadata",
      split = ",",
      paramLabel = "FOLDERS",
      defaultValue = "1",
      description = "Numbers of metadata folders Ashlar runs with: 1, 5 or 1,5 (default: 1).")
  private List<Integer> metadataFolders = List.of(1);

  @Option(
      names = "--servers",
      split = ",",
      paramLabel = "NAME",
      description =
          "Those that are started here: ashlar, minio or none (default: both; with an endpoint:"
              + " ashlar).")
  private List<String> servers = List.of();

  @Option(
      names = "--ashlar",
      paramLabel = "FILE",
      defaultValue = "./ashlar",
      description = "Ashlar's launcher (default: ./ashlar).")
  private Path launcher = Path.of("ashlar");

  @Option(
      names = "--warp",
      paramLabel = "FILE",
      description = "The load generator (default: warp on the PATH).")
  private @Nullable Path warp;

  @Option(
      names = "--bucket",
      defaultValue = "ashlar-versus",
      description = {
        "On servers that run already (default: ashlar-versus). Made where it is missing.",
        "ALL THAT IS IN IT IS DELETED."
      })
  private String bucket = "ashlar-versus";

  @Option(names = "--json", description = "JSON instead of a table.")
  private boolean isJson;

  private final PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);

  private boolean complete = true;

  /**
   * What {@code --json} prints.
   *
   * @param reference whom ratios refer to
   */
  record Result(String machine, String conditions, String reference, List<VersusRow> rows) {}

  @Override
  public Integer call() throws IOException, InterruptedException {
    try {
      run();
      return complete ? 0 : 1;
    } catch (BenchException e) {
      System.err.println(e.getMessage());
      return 1;
    }
  }

  private void run() throws IOException, InterruptedException {
    Path root = Files.createDirectories(dataRoot).toRealPath();
    Cell.Conditions conditions = conditions(root);
    List<Contender> contenders = contenders();
    Contender reference = contenders.getLast();
    Result result =
        new Result(
            Machine.describe(root),
            describe(conditions, contenders),
            reference.title(),
            new ArrayList<>());
    Report report = new Report(out);
    if (!isJson) {
      out.printf("%s%n%s%n%n", result.machine(), result.conditions());
      report.header(reference.title());
    }
    List<Work> chosen = works.isEmpty() ? isFull ? List.of(Work.values()) : QUICK : works;
    TimeLeft left = new TimeLeft(chosen.size() * contenders.size() * (1 + rounds()));
    for (Work work : chosen) {
      List<VersusRow> rows = rows(work, measure(conditions, contenders, work, left), reference);
      result.rows().addAll(rows);
      if (!isJson) {
        rows.forEach(report::row);
      }
    }
    if (isJson) {
      out.println(Json.of(result));
      out.flush();
    }
  }

  private Cell.Conditions conditions(Path root) {
    return new Cell.Conditions(
        root,
        bucket,
        warp(),
        concurrency,
        objectsFactor,
        seconds(warmUpSeconds, 3, 30),
        seconds(seconds, 5, 20),
        seconds(drainSeconds, 2, 15));
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

  private Duration seconds(@Nullable Integer given, int quick, int full) {
    return Duration.ofSeconds(given != null ? given : isFull ? full : quick);
  }

  private int rounds() {
    return rounds != null ? rounds : isFull ? 3 : 1;
  }

  /** The reference's row is last, as it is itself. */
  private static List<VersusRow> rows(
      Work work, Map<Contender, List<Measurement>> measured, Contender reference) {
    List<Measurement> references = measured.get(reference);
    VersusRow last =
        references == null ? null : VersusRow.of(work, reference.title(), references, null);
    List<VersusRow> rows = new ArrayList<>();
    measured.forEach(
        (contender, rounds) -> {
          if (contender != reference) {
            rows.add(VersusRow.of(work, contender.title(), rounds, last));
          }
        });
    if (last != null) {
      rows.add(last);
    }
    return rows;
  }

  private Map<Contender, List<Measurement>> measure(
      Cell.Conditions conditions, List<Contender> contenders, Work work, TimeLeft left)
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
      for (int round = 1; round <= rounds(); round++) {
        int current = round;
        for (Map.Entry<Contender, Cell> cell : order) {
          guarded(
              work,
              cell.getKey(),
              () -> {
                Measurement result = cell.getValue().measure(current);
                measured.computeIfAbsent(cell.getKey(), first -> new ArrayList<>()).add(result);
                return "round " + current + ": " + result;
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
    List<String> started =
        !servers.isEmpty()
            ? servers
            : endpoints.isEmpty() ? List.of("ashlar", "minio") : List.of("ashlar");
    List<Contender> contenders = new ArrayList<>();
    if (started.contains("ashlar")) {
      metadataFolders.forEach(folders -> contenders.add(Contender.Ashlar.of(launcher, folders)));
    }
    if (started.contains("minio")) {
      onPath("minio")
          .ifPresentOrElse(
              minio -> contenders.add(new Contender.Minio(minio)),
              () ->
                  System.err.println(
                      "MinIO is left out: "
                          + missing("minio", "https://min.io/download or its source code")));
    }
    endpoints.forEach(endpoint -> contenders.add(endpoint.contender()));
    if (contenders.isEmpty()) {
      throw new BenchException(
          "Nothing to measure: --servers takes ashlar, minio and none, not " + started);
    }
    return contenders;
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
    return ("Concurrency %d, %d s after %d s of the same work, medians of %d round(s). CPU: the"
            + " server's, deferred work included.%s")
        .formatted(
            concurrency,
            conditions.measured().toSeconds(),
            conditions.warmUp().toSeconds(),
            rounds(),
            isStarting ? " Servers started here: six folders, 4+2." : "");
  }
}
