package dev.ashlar.bench.codec;

import dev.ashlar.bench.Plan;
import dev.ashlar.bench.process.BenchException;
import dev.ashlar.bench.result.ResultFolder;
import dev.ashlar.codec.isal.NativeLibrary;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Unmatched;

/** Runs the JMH benchmarks of checksums with the options of JMH, and short times without any. */
@Command(
    name = "jmh",
    description = {
      "Checksums and hashes of single strips, by JMH in processes of their own.",
      "Takes JMH's own options, -h lists them: for example -p bytes=4096 -f 5 -i 5 -r 300ms"
          + " 'Checksum.*md5'. Without any: 3 forks of 2 iterations of 150 ms."
    })
final class JmhCommand implements Callable<Integer>, Plan.Planned {
  private static final int FORKS = 3;
  private static final int ITERATIONS = 2;
  private static final TimeValue TIME = TimeValue.milliseconds(150);

  private static final int BENCHMARKS = 9;
  private static final String NEEDS_NATIVE_LIBRARY = "\\.md5Times";

  /** Of a process, and what it does before it measures. */
  private static final double START_SECONDS = 0.5;

  @Option(names = "--help", usageHelp = true, description = "Show this help message and exit.")
  boolean isHelp;

  @Option(
      names = "--results",
      paramLabel = "FOLDER",
      defaultValue = "bench-results",
      description =
          "Folder of the results; each run makes a folder with JMH's report.json in it"
              + " (default: bench-results).")
  private Path results = Path.of("bench-results");

  @Unmatched private List<String> arguments = new ArrayList<>();

  @Override
  public Plan plan() {
    Options options = withDefaults(given()).build();
    double millis =
        options.getWarmupIterations().get() * millis(options.getWarmupTime().get())
            + options.getMeasurementIterations().get() * millis(options.getMeasurementTime().get());
    double forks = options.getForkCount().get();
    return new Plan().add(forks * BENCHMARKS, START_SECONDS + millis / 1e3);
  }

  private static double millis(TimeValue time) {
    return time.convertTo(TimeUnit.MILLISECONDS);
  }

  @Override
  public Integer call() throws RunnerException, IOException {
    CommandLineOptions given = given();
    if (given.shouldHelp()) {
      given.showHelp();
      return 0;
    }
    if (given.shouldList()) {
      new Runner(given).list();
      return 0;
    }
    String failure = NativeLibrary.failure();
    if (failure != null) {
      System.err.println("What needs the native library is left out: " + failure);
    }
    Path report = ResultFolder.create(results, "codec-jmh", "run").path().resolve("report.json");
    ChainedOptionsBuilder options = withDefaults(given);
    options.result(given.getResult().orElse(report.toString()));
    options.resultFormat(given.getResultFormat().orElse(ResultFormatType.JSON));
    new Runner(options.build()).run();
    return 0;
  }

  private CommandLineOptions given() {
    try {
      return new CommandLineOptions(arguments.toArray(String[]::new));
    } catch (CommandLineOptionException e) {
      throw new BenchException("JMH does not accept its options: " + e.getMessage(), e);
    }
  }

  private static ChainedOptionsBuilder withDefaults(CommandLineOptions given) {
    ChainedOptionsBuilder options = new OptionsBuilder().parent(given);
    if (NativeLibrary.failure() != null) {
      options.exclude(NEEDS_NATIVE_LIBRARY);
    }
    return options
        .forks(given.getForkCount().orElse(FORKS))
        .warmupIterations(given.getWarmupIterations().orElse(ITERATIONS))
        .warmupTime(given.getWarmupTime().orElse(TIME))
        .measurementIterations(given.getMeasurementIterations().orElse(ITERATIONS))
        .measurementTime(given.getMeasurementTime().orElse(TIME))
        .jvmArgsAppend(jvmFlags());
  }

  /** JDK 24 and later warn of what JMH itself does; 21 does not know the flag against it. */
  private static String[] jvmFlags() {
    List<String> flags = new ArrayList<>();
    flags.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-Xms256m", "-Xmx256m"));
    if (Runtime.version().feature() >= 24) {
      flags.add("--sun-misc-unsafe-memory-access=allow");
    }
    return flags.toArray(String[]::new);
  }
}
