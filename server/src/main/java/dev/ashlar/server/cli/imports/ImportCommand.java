package dev.ashlar.server.cli.imports;

import dev.ashlar.importer.ImportOptions;
import dev.ashlar.importer.Importer;
import dev.ashlar.importer.Side;
import dev.ashlar.importer.Tally;
import dev.ashlar.server.cli.Version;
import dev.ashlar.server.config.OptionTypes;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code ashlar import}: copies buckets from another S3 service, such as MinIO. */
@Command(
    name = "import",
    description = {
      "Copies buckets from another S3 service: objects with their versions, metadata, tags and"
          + " locks, and settings of buckets.",
      "What the target has already is not copied again: after an interruption, the same command"
          + " goes on. Exit code 1: something is not as at the source."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    sortOptions = false,
    subcommands = ImportIamCommand.class)
public final class ImportCommand implements Callable<Integer> {
  private static final String SCHEME = "s3://";
  private static final int PARALLEL_MAX = 256;
  private static final int FAILED = 1;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(
      paramLabel = "SOURCE",
      arity = "0..*",
      description = "s3://BUCKET or s3://BUCKET/PREFIX, or s3:// for all buckets.")
  private List<String> sources = List.of();

  @Mixin private final SourceOptions from = new SourceOptions();
  @Mixin private final TargetOptions to = new TargetOptions();

  @Option(
      names = "--parallel",
      paramLabel = "COUNT",
      defaultValue = "16",
      description = "Keys, and parts of large objects, that are copied at once.")
  private int parallel;

  @Option(
      names = "--attributes",
      description =
          "Also compare tags, retention and legal holds of what the target has already. This takes"
              + " a request to each side for each version.")
  private boolean isComparingAttributes;

  @Option(
      names = "--mirror",
      description =
          "Delete at the target what the source does not have, and replace what others have"
              + " written there. Never use it once clients write to the target.")
  private boolean isMirror;

  @Option(
      names = "--follow",
      description = "Pass after pass copy what changes at the source, until Ctrl-C.")
  private boolean isFollowing;

  @Option(
      names = "--until-lag",
      paramLabel = "SECONDS",
      description =
          "With --follow: end after a pass that took at most so long, without failures and"
              + " without keys that changed all the time.")
  private @Nullable Long untilLagSeconds;

  @Option(
      names = "--pause",
      paramLabel = "SECONDS",
      defaultValue = "10",
      description = "With --follow: between two passes.")
  private long pauseSeconds;

  @Override
  public Integer call() throws IOException, InterruptedException {
    ImportOptions options = options();
    // Each copy of a part or of an object has a connection to each side, and so do listings.
    int connections = 2 * parallel + 8;
    try (Side source = new Side(given(from::access), connections);
        Side target = new Side(given(to::access), connections);
        Importer importer = new Importer(source, target, options, new TerminalJournal())) {
      return isFollowing ? follow(importer) : result(pass(importer));
    }
  }

  private interface Reading {
    Side.Access read() throws IOException;
  }

  private Side.Access given(Reading reading) throws IOException {
    try {
      return reading.read();
    } catch (IllegalArgumentException e) {
      throw wrong(String.valueOf(e.getMessage()));
    }
  }

  private ImportOptions options() {
    if (!isFollowing && untilLagSeconds != null) {
      throw wrong("--until-lag needs --follow");
    }
    try {
      OptionTypes.require(
          parallel >= 1 && parallel <= PARALLEL_MAX, "--parallel is 1 to %s", PARALLEL_MAX);
      OptionTypes.require(pauseSeconds >= 0, "--pause is at least 0");
      OptionTypes.require(
          !sources.isEmpty(),
          "name what to copy: s3://BUCKET, s3://BUCKET/PREFIX or s3:// for all");
      List<String> buckets = new ArrayList<>();
      String prefix = "";
      for (String each : sources) {
        OptionTypes.require(each.startsWith(SCHEME), "%s does not begin with %s", each, SCHEME);
        String[] parts = each.substring(SCHEME.length()).split("/", 2);
        OptionTypes.require(
            sources.size() == 1 || (!parts[0].isEmpty() && parts.length == 1),
            "several sources have to be buckets: %s",
            each);
        if (!parts[0].isEmpty()) {
          buckets.add(parts[0]);
        }
        prefix = parts.length == 2 ? parts[1] : "";
      }
      OptionTypes.require(
          prefix.isEmpty() || !buckets.isEmpty(), "a prefix needs a bucket before it");
      return new ImportOptions(
          buckets, prefix, parallel, isMirror, isComparingAttributes, isFollowing);
    } catch (IllegalArgumentException e) {
      throw wrong(String.valueOf(e.getMessage()));
    }
  }

  private ParameterException wrong(String why) {
    return new ParameterException(Objects.requireNonNull(spec).commandLine(), why);
  }

  private static int result(Tally tally) {
    return tally.failures() == 0 ? 0 : FAILED;
  }

  private static Tally pass(Importer importer) throws InterruptedException {
    ImportProgress progress = ImportProgress.start(importer);
    Tally tally;
    try {
      tally = importer.pass();
    } finally {
      progress.stop();
    }
    ImportSummary.lines(tally).forEach(System.out::println);
    return tally;
  }

  /** The lag is the age of the oldest change that may not have been copied. */
  private int follow(Importer importer) throws InterruptedException {
    while (true) {
      Instant began = Instant.now();
      Tally tally = pass(importer);
      Duration lag = Duration.between(began, Instant.now());
      long behind = tally.failures() + tally.unsettledKeys();
      System.out.println(ImportSummary.lag(began, lag, tally.copies(), behind));
      boolean isClose =
          untilLagSeconds != null && lag.compareTo(Duration.ofSeconds(untilLagSeconds)) <= 0;
      if (isClose && behind == 0) {
        return 0;
      }
      Thread.sleep(Duration.ofSeconds(pauseSeconds));
    }
  }
}
