package dev.ashlar.bench.codec;

import dev.ashlar.bench.Machine;
import dev.ashlar.bench.TimeLeft;
import dev.ashlar.bench.options.CountArgument;
import dev.ashlar.bench.options.OutputOptions;
import dev.ashlar.bench.options.PassesOption;
import dev.ashlar.bench.options.ProfilesOption;
import dev.ashlar.bench.result.ResultFolder;
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
final class JmhCommand implements Callable<Integer> {
  @Mixin private PassesOption passes = new PassesOption();

  @Option(
      names = "--iterations",
      converter = CountArgument.class,
      defaultValue = "5",
      description = "Per pass (default: 5).")
  private int iterations = 5;

  @Option(
      names = "--millis",
      converter = CountArgument.class,
      defaultValue = "300",
      description = "Length of an iteration (default: 300).")
  private int millis = 300;

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
      description = "Regular expression of benchmarks.")
  private String only = "dev.ashlar.bench.codec";

  @Mixin private OutputOptions output = new OutputOptions();

  @Override
  public Integer call() throws RunnerException, IOException {
    ResultFolder kept = output.newFolder("codec-jmh");
    Map<JmhRow, List<Double>> nanos = new TreeMap<>();
    TimeLeft left = new TimeLeft(passes.passes());
    for (int pass = 1; pass <= passes.passes(); pass++) {
      for (RunResult result : new Runner(options().build()).run()) {
        collect(result, nanos);
      }
      left.done("pass " + pass);
    }
    JmhResult result = JmhResult.of(Machine.describe(), passes.passes(), nanos);
    kept.write("report.json", result);
    output.print(result, result::print);
    return 0;
  }

  private ChainedOptionsBuilder options() {
    return new OptionsBuilder()
        .include(only)
        .param("profile", profiles.shapes(CodecCommand.PROFILES).toArray(String[]::new))
        .param("shardBytes", shardBytes.toArray(String[]::new))
        .forks(1)
        .warmupIterations(2)
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
