package dev.ashlar.bench.codec;

import dev.ashlar.bench.Machine;
import dev.ashlar.bench.Plan;
import dev.ashlar.bench.TimeLeft;
import dev.ashlar.bench.options.Arguments;
import dev.ashlar.bench.options.Options;
import dev.ashlar.bench.options.OutputOptions;
import dev.ashlar.bench.result.ResultFolder;
import dev.ashlar.codec.CodecChoice;
import dev.ashlar.codec.isal.NativeLibrary;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The table that erasure-code plugins have been compared by since ceph_erasure_code_benchmark. In
 * each pass the plugins do the same thing one right after the other, so that what else the machine
 * does hits them alike.
 */
@Command(
    name = "codec",
    description = {
      "Encoding, decoding and parity deltas of whole objects on one core, by Ashlar's codecs and,"
          + " where it is installed, by jerasure (cauchy_good, packets of 3072 bytes, w = 8).",
      "Decoded data is verified before anything is timed.",
      "Without options: 4+2, 6+2 and 8+3 in one minute."
    },
    mixinStandardHelpOptions = true,
    subcommands = JmhCommand.class)
public final class CodecCommand implements Callable<Integer>, Plan.Planned {
  static final List<String> PROFILES = List.of("4+2", "6+2", "8+3");

  /** Of all plugins in the mean, checks and warm-up included. */
  private static final double BYTES_PER_SECOND = 3.5e9;

  private static final String ALL = "all";
  private static final String EXHAUSTIVE = "exhaustive";

  /** Of all shards: the direct memory that the launcher gives, and not quite. */
  private static final long SHARD_BYTES_MAX = 400L << 20;

  /** As many as a codec remembers the matrices of, and then some. */
  private static final int LOSSES_MAX = 128;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--plugins",
      split = ",",
      paramLabel = "NAME",
      defaultValue = "isal,java,jerasure",
      description = "Codecs to measure (default: isal,java,jerasure).")
  private List<String> plugins = List.of();

  @Mixin private Options.Profiles profiles = new Options.Profiles();

  @Option(
      names = "--size",
      converter = Arguments.Size.class,
      defaultValue = "1MiB",
      description = "Data bytes of one iteration (default: 1MiB).")
  private long size;

  @Option(
      names = "--iterations",
      converter = Arguments.Count.class,
      defaultValue = "1024",
      description = "Number of iterations (default: 1024).")
  private int iterations;

  @Option(
      names = "--erasures",
      split = ",",
      paramLabel = "N",
      defaultValue = ALL,
      description = {
        "Numbers of lost shards when decoding, 'all' for 0 to m (the default): the iterations go"
            + " through their combinations, at most 128 of them;",
        "'exhaustive' for 0 to m and every combination, equally often."
      })
  private List<String> erasures = List.of();

  @Mixin private Options.Passes passes = new Options.Passes();

  @Option(
      names = "--compiler",
      defaultValue = "gcc",
      description = "C compiler for the comparison with jerasure (default: gcc).")
  private String compiler = "gcc";

  @Mixin private OutputOptions output = new OutputOptions();

  @Override
  public Plan plan() {
    double bytes = (double) tasks().size() * iterations * size;
    double each = plugins.size() * bytes / BYTES_PER_SECOND;
    return new Plan().add(passes.passes(), each);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    List<CodecTask> tasks = tasks();
    List<CodecPlugin> all = new ArrayList<>();
    try {
      for (String name : new LinkedHashSet<>(plugins)) {
        addPlugin(name, all);
      }
      if (all.isEmpty()) {
        throw new ParameterException(
            spec.commandLine(), "None of these codecs is here: " + plugins);
      }
      ResultFolder kept = output.newFolder("codec");
      report(measure(all, tasks, kept), kept);
    } finally {
      for (CodecPlugin plugin : all) {
        plugin.close();
      }
    }
    return 0;
  }

  private void addPlugin(String name, List<CodecPlugin> all)
      throws IOException, InterruptedException {
    switch (name) {
      case "isal" -> {
        String failure = NativeLibrary.failure();
        if (failure == null) {
          all.add(new OwnCodec(CodecChoice.ISAL));
        } else {
          System.err.println("isal is left out: " + failure);
        }
      }
      case "java" -> all.add(new OwnCodec(CodecChoice.JAVA));
      case "jerasure" -> {
        try {
          all.add(Jerasure.compile(compiler));
        } catch (Jerasure.MissingException e) {
          System.err.println(e.getMessage());
        }
      }
      default ->
          throw new ParameterException(
              spec.commandLine(), "There are isal, java and jerasure, not '" + name + "'");
    }
  }

  private List<CodecTask> tasks() {
    if (size < 1) {
      throw new ParameterException(spec.commandLine(), "--size is at least 1");
    }
    List<CodecTask> tasks = new ArrayList<>();
    for (String profile : profiles.shapes(PROFILES)) {
      CodeShape shape = shape(profile);
      tasks.add(CodecTask.encode(shape, (int) size, iterations));
      erasures(shape).forEach(lost -> tasks.add(decode(shape, lost)));
      tasks.add(CodecTask.update(shape, (int) size, iterations));
    }
    return tasks;
  }

  private CodeShape shape(String profile) {
    try {
      CodeShape shape = CodeShape.parse(profile);
      if (shape.parityShards() == 0) {
        throw new IllegalArgumentException("profile '" + profile + "' has no parity");
      }
      if (size > SHARD_BYTES_MAX * shape.dataShards() / shape.count()) {
        throw new IllegalArgumentException("--size is too much for memory with " + profile);
      }
      return shape;
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  /** A profile with fewer parity shards takes part as far as it can. */
  private List<Integer> erasures(CodeShape shape) {
    if (erasures.equals(List.of(ALL)) || erasures.equals(List.of(EXHAUSTIVE))) {
      return IntStream.rangeClosed(0, shape.parityShards()).boxed().toList();
    }
    try {
      return erasures.stream()
          .mapToInt(Integer::parseUnsignedInt)
          .filter(lost -> lost <= shape.parityShards())
          .sorted()
          .distinct()
          .boxed()
          .toList();
    } catch (NumberFormatException e) {
      throw new ParameterException(
          spec.commandLine(), "--erasures takes numbers, 'all' or 'exhaustive', not " + erasures);
    }
  }

  private CodecTask decode(CodeShape shape, int lost) {
    List<int[]> combinations = CodecTask.allLosses(shape.count(), lost);
    boolean isExhaustive = erasures.contains(EXHAUSTIVE);
    return new CodecTask(
        shape,
        CodecTask.Workload.DECODE,
        (int) size,
        isExhaustive
            ? Math.ceilDiv(iterations, combinations.size()) * combinations.size()
            : iterations,
        isExhaustive ? combinations : CodecTask.someLosses(combinations, LOSSES_MAX));
  }

  private record Cell(CodecPlugin plugin, CodecTask task) {}

  private List<CodecResult.Row> measure(
      List<CodecPlugin> all, List<CodecTask> tasks, ResultFolder kept)
      throws IOException, InterruptedException {
    Map<Cell, List<Double>> seconds = new LinkedHashMap<>();
    TimeLeft left = new TimeLeft(passes.passes() * tasks.size());
    for (int pass = 1; pass <= passes.passes(); pass++) {
      for (CodecTask task : tasks) {
        for (CodecPlugin plugin : all) {
          if (plugin.does(task.workload())) {
            double spent = plugin.run(task);
            kept.writeStep(
                task.shape().toString(),
                pass,
                plugin.name() + "-" + task.title(),
                CodecResult.Row.of(plugin, task, List.of(spent)));
            seconds.computeIfAbsent(new Cell(plugin, task), first -> new ArrayList<>()).add(spent);
          }
        }
        left.done("pass %d: %s %s".formatted(pass, task.shape(), task.title()));
      }
    }
    List<CodecResult.Row> rows = new ArrayList<>();
    seconds.forEach((cell, each) -> rows.add(CodecResult.Row.of(cell.plugin(), cell.task(), each)));
    return rows;
  }

  private void report(List<CodecResult.Row> rows, ResultFolder kept) throws IOException {
    CodecResult result = CodecResult.of(Machine.describe(), passes.passes(), rows);
    kept.write("report.json", result);
    output.print(result, out -> print(result, out));
  }

  private void print(CodecResult result, PrintStream out) {
    out.printf(
        "%s Median of %d passes; seconds of one core.%n%n", result.machine(), result.passes());
    result.print(out);
    if (erasures.contains(EXHAUSTIVE)) {
      out.println();
      out.println("Every combination of lost shards was decoded, and gave what was encoded.");
    }
  }
}
