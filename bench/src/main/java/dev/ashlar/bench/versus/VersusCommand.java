package dev.ashlar.bench.versus;

import dev.ashlar.bench.Machine;
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
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Alternates between the servers within a round, and turns the order from round to round. */
@Command(
    name = "versus",
    description = "The same warp work in turn on Ashlar and on MinIO; medians and ratios.",
    mixinStandardHelpOptions = true)
public final class VersusCommand implements Callable<Integer> {
  @Option(
      names = "--data-root",
      paramLabel = "FOLDER",
      defaultValue = ".",
      description = "Where the drive folders are made: on the disk or the tmpfs to measure on.")
  private Path dataRoot = Path.of(".");

  @Option(names = "--rounds", defaultValue = "3", description = "Default: 3.")
  private int rounds = 3;

  @Option(
      names = "--seconds",
      defaultValue = "20",
      description = "Measured time per work, server and round (default: 20).")
  private int seconds = 20;

  @Option(
      names = "--warm-up",
      paramLabel = "SECONDS",
      defaultValue = "30",
      description = "The same work beforehand, once for each server (default: 30).")
  private int warmUpSeconds = 30;

  @Option(
      names = "--drain",
      paramLabel = "SECONDS",
      defaultValue = "15",
      description = "Longest wait for work put off by the server (default: 15).")
  private int drainSeconds = 15;

  @Option(names = "--concurrency", defaultValue = "16", description = "Default: 16.")
  private int concurrency = 16;

  @Option(
      names = "--objects-factor",
      paramLabel = "N",
      defaultValue = "1",
      description = "Prepares N times the objects, to outgrow caches.")
  private int objectsFactor = 1;

  @Option(
      names = "--work",
      split = ",",
      description = "Only these: ${COMPLETION-CANDIDATES} (default: all).")
  private List<Work> works = List.of(Work.values());

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
      defaultValue = "ashlar,minio",
      description = "Default: ashlar,minio.")
  private List<String> servers = List.of("ashlar", "minio");

  @Option(
      names = "--ashlar",
      paramLabel = "FILE",
      defaultValue = "./ashlar",
      description = "Ashlar's launcher (default: ./ashlar).")
  private Path launcher = Path.of("ashlar");

  private final PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);

  private boolean complete = true;

  @Override
  public Integer call() throws IOException, InterruptedException {
    try {
      run();
      return complete ? 0 : 1;
    } catch (VersusException e) {
      System.err.println(e.getMessage());
      return 1;
    }
  }

  private void run() throws IOException, InterruptedException {
    Path warp = onPath("warp", "https://github.com/minio/warp/releases");
    List<Contender> contenders = contenders();
    Path root = Files.createDirectories(dataRoot).toRealPath();
    Cell.Conditions conditions =
        new Cell.Conditions(
            root,
            warp,
            concurrency,
            objectsFactor,
            Duration.ofSeconds(warmUpSeconds),
            Duration.ofSeconds(seconds),
            Duration.ofSeconds(drainSeconds));
    preface(root);
    Report report = new Report(contenders.get(contenders.size() - 1), out);
    report.header();
    for (Work work : works) {
      report.rows(work, measure(conditions, contenders, work));
    }
  }

  private Map<Contender, List<Measurement>> measure(
      Cell.Conditions conditions, List<Contender> contenders, Work work)
      throws IOException, InterruptedException {
    Map<Contender, Cell> cells = new LinkedHashMap<>();
    Map<Contender, List<Measurement>> measured = new LinkedHashMap<>();
    try {
      for (Contender contender : contenders) {
        guarded(
            work, 0, contender, () -> cells.put(contender, Cell.open(contender, work, conditions)));
      }
      List<Map.Entry<Contender, Cell>> order = new ArrayList<>(cells.entrySet());
      for (int round = 1; round <= rounds; round++) {
        int current = round;
        for (Map.Entry<Contender, Cell> cell : order) {
          Contender contender = cell.getKey();
          guarded(
              work,
              round,
              contender,
              () -> {
                Measurement result = cell.getValue().measure(current);
                measured.computeIfAbsent(contender, first -> new ArrayList<>()).add(result);
                progress(work, current, contender, result.toString());
              });
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
    void run() throws IOException, InterruptedException;
  }

  /** The other cells of an hour's run are not lost for one that fails. */
  private void guarded(Work work, int round, Contender contender, Step step)
      throws IOException, InterruptedException {
    try {
      step.run();
    } catch (VersusException e) {
      complete = false;
      progress(work, round, contender, e.getMessage());
    }
  }

  private static void progress(Work work, int round, Contender contender, @Nullable String what) {
    System.err.printf("%s, round %d, %s: %s%n", work.title(), round, contender.title(), what);
  }

  /** MinIO, if it takes part, comes last: ratios refer to the last. */
  private List<Contender> contenders() {
    List<Contender> contenders = new ArrayList<>();
    if (servers.contains("ashlar")) {
      if (!Files.isExecutable(launcher)) {
        throw new VersusException("There is no launcher at " + launcher + "; name it by --ashlar.");
      }
      Path absolute = launcher.toAbsolutePath();
      metadataFolders.forEach(folders -> contenders.add(new Contender.Ashlar(absolute, folders)));
    }
    if (servers.contains("minio")) {
      contenders.add(
          new Contender.Minio(onPath("minio", "https://min.io/download or its source code")));
    }
    if (contenders.isEmpty()) {
      throw new VersusException("--servers takes ashlar and minio, not " + servers);
    }
    return contenders;
  }

  private static Path onPath(String program, String source) {
    String path = System.getenv().getOrDefault("PATH", "");
    return Stream.of(path.split(File.pathSeparator, -1))
        .map(folder -> Path.of(folder, program))
        .filter(Files::isExecutable)
        .findFirst()
        .orElseThrow(
            () ->
                new VersusException(
                    "%s is not on the PATH; get it from its makers: %s"
                        .formatted(program, source)));
  }

  private void preface(Path root) throws IOException {
    out.println(Machine.describe(root));
    out.printf(
        "Six folders, 4+2, concurrency %d, %d s after %d s of the same work, medians of %d rounds."
            + " CPU: the server's, deferred work included.%n%n",
        concurrency, seconds, warmUpSeconds, rounds);
  }
}
