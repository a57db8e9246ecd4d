package dev.ashlar.bench.codec;

import dev.ashlar.bench.Machine;
import dev.ashlar.bench.Plan;
import dev.ashlar.bench.Planned;
import dev.ashlar.bench.TimeLeft;
import dev.ashlar.bench.options.CountArgument;
import dev.ashlar.bench.options.OutputOptions;
import dev.ashlar.bench.options.PassesOption;
import dev.ashlar.bench.options.ProfilesOption;
import dev.ashlar.bench.result.ResultFolder;
import dev.ashlar.codec.CodecChoice;
import dev.ashlar.codec.isal.NativeLibrary;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Runs the JMH benchmarks of the codec in several passes, so that what is compared ran close
 * together, and prints medians over all of them.
 */
@Command(
    name = "jmh",
    description =
        "Encoding, parity deltas, decoding and checksums of single strips, also as a loop in C;"
            + " GB/s of input on one core.",
    mixinStandardHelpOptions = true)
final class JmhCommand implements Callable<Integer>, Planned {
  private static final int WARM_UP_ITERATIONS = 2;

  /** Of each state class as many as it has, for each profile; {@code --only} leaves some out. */
  private static final int BENCHMARKS_PER_PROFILE = 9;

  private static final int CHECKSUMS = 9;

  private static final String NEEDS_ISAL = "\\.(isal|md5Times)";

  /** Of a process, and what it does before it measures. */
  private static final double START_SECONDS = 0.5;

  @Mixin private PassesOption passes = new PassesOption();

  @Option(
      names = "--iterations",
      converter = CountArgument.class,
      defaultValue = "2",
      description = "Iterations per pass (default: 2; use 5 for figures to quote).")
  private int iterations = 2;

  @Option(
      names = "--millis",
      converter = CountArgument.class,
      defaultValue = "150",
      description = "Milliseconds of an iteration (default: 150; use 300 for figures to quote).")
  private int millis = 150;

  @Option(
      names = "--shard-bytes",
      split = ",",
      defaultValue = "16384",
      description = "Bytes per shard and call (default: 16384, one strip).")
  private List<String> shardBytes = List.of("16384");

  @Mixin private ProfilesOption profiles = new ProfilesOption();

  @Option(
      names = "--only",
      defaultValue = "dev.ashlar.bench.codec",
      description = "Regular expression that selects benchmarks.")
  private String only = "dev.ashlar.bench.codec";

  @Mixin private OutputOptions output = new OutputOptions();

  @Override
  public Plan plan() {
    int shapes = profiles.shapes(CodecCommand.PROFILES).size();
    int benchmarks = shardBytes.size() * shapes * BENCHMARKS_PER_PROFILE + CHECKSUMS;
    double each = START_SECONDS + (WARM_UP_ITERATIONS + iterations) * millis / 1e3;
    return new Plan().add((double) passes.passes() * benchmarks, each);
  }

  @Override
  public Integer call() throws RunnerException, IOException {
    ResultFolder kept = output.newFolder("codec-jmh");
    String failure = NativeLibrary.failure();
    if (failure != null) {
      System.err.println("What needs ISA-L is left out: " + failure);
    }
    String machine = Machine.describe();
    Map<JmhRow, List<Double>> nanos = new TreeMap<>();
    TimeLeft left = new TimeLeft(passes.passes());
    for (int pass = 1; pass <= passes.passes(); pass++) {
      Map<JmhRow, List<Double>> ofPass = new TreeMap<>();
      for (RunResult result : new Runner(options().build()).run()) {
        collect(result, ofPass);
      }
      for (Map.Entry<JmhRow, List<Double>> row : ofPass.entrySet()) {
        JmhResult alone = JmhResult.of(machine, 1, Map.of(row.getKey(), row.getValue()));
        kept.writeStep(row.getKey().folder(), pass, row.getKey().step(), alone);
        nanos.computeIfAbsent(row.getKey(), first -> new ArrayList<>()).addAll(row.getValue());
      }
      left.done("pass " + pass);
    }
    JmhResult result = JmhResult.of(machine, passes.passes(), nanos);
    kept.write("report.json", result);
    output.print(result, result::print);
    return 0;
  }

  private ChainedOptionsBuilder options() {
    ChainedOptionsBuilder options = commonOptions();
    return NativeLibrary.failure() == null
        ? options
        : options.exclude(NEEDS_ISAL).param("codec", CodecChoice.JAVA.name());
  }

  private ChainedOptionsBuilder commonOptions() {
    return new OptionsBuilder()
        .include(only)
        .param("profile", profiles.shapes(CodecCommand.PROFILES).toArray(String[]::new))
        .param("shardBytes", shardBytes.toArray(String[]::new))
        .forks(1)
        .warmupIterations(WARM_UP_ITERATIONS)
        .warmupTime(TimeValue.milliseconds(millis))
        .measurementIterations(iterations)
        .measurementTime(TimeValue.milliseconds(millis))
        .jvmArgsAppend(jvmFlags())
        .verbosity(VerboseMode.SILENT);
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

  private static void collect(RunResult result, Map<JmhRow, List<Double>> nanos) {
    BenchmarkParams params = result.getParams();
    List<Double> scores = nanos.computeIfAbsent(JmhRow.of(params), row -> new ArrayList<>());
    IterationParams measured = params.getMeasurement();
    result
        .getBenchmarkResults()
        .forEach(
            fork ->
                fork.getIterationResults().stream()
                    .limit(measured.getCount())
                    .forEach(iteration -> scores.add(iteration.getPrimaryResult().getScore())));
  }
}
