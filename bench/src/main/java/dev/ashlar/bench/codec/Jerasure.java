package dev.ashlar.bench.codec;

import dev.ashlar.bench.engine.ScratchFolder;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;

/**
 * The installed libjerasure with its Cauchy codes over bit matrices, driven by a small C program of
 * ours that is compiled when it is needed.
 */
final class Jerasure implements CodecPlugin {
  static final int PACKET_BYTES = 3072;

  /** Bits of a symbol: a shard is a multiple of so many packets. */
  private static final int W = 8;

  private static final String SOURCE = "jerasure.c";
  private static final long RUN_MINUTES_MAX = 10;

  private final ScratchFolder folder;

  private Jerasure(ScratchFolder folder) {
    this.folder = folder;
  }

  /** Why it cannot be compared with. */
  static final class MissingException extends Exception {
    private static final long serialVersionUID = 1;

    MissingException(String reason) {
      super(
          "jerasure is left out: "
              + reason
              + ". It needs gcc and the library's headers (Debian, Ubuntu: apt-get install gcc"
              + " libjerasure-dev libgf-complete-dev).");
    }
  }

  static Jerasure compile(String compiler)
      throws IOException, InterruptedException, MissingException {
    Path parent = Path.of(System.getProperty("java.io.tmpdir"));
    Jerasure jerasure = new Jerasure(ScratchFolder.in(parent));
    try {
      try (InputStream source = Jerasure.class.getResourceAsStream(SOURCE)) {
        Files.copy(Objects.requireNonNull(source), jerasure.folder.child(SOURCE));
      }
      jerasure.compileWith(compiler);
      return jerasure;
    } catch (IOException | InterruptedException | MissingException e) {
      jerasure.close();
      throw e;
    }
  }

  private void compileWith(String compiler)
      throws IOException, InterruptedException, MissingException {
    List<String> command =
        List.of(
            compiler,
            "-O2",
            "-I/usr/include/jerasure",
            "-o",
            program().toString(),
            folder.child(SOURCE).toString(),
            "-lJerasure",
            "-lgf_complete");
    Process process;
    try {
      process = new ProcessBuilder(command).redirectErrorStream(true).start();
    } catch (IOException e) {
      throw new MissingException(compiler + " does not start");
    }
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new MissingException(
          said.lines()
              .filter(line -> line.contains("error") || line.contains("cannot find"))
              .findFirst()
              .orElse(compiler + " failed"));
    }
  }

  private Path program() {
    return folder.child("jerasure");
  }

  @Override
  public String name() {
    return "jerasure";
  }

  /** It knows no deltas. */
  @Override
  public boolean does(CodecTask.Workload workload) {
    return workload != CodecTask.Workload.UPDATE;
  }

  @Override
  public int shardBytes(CodeShape shape, int size) {
    int multiple = W * PACKET_BYTES;
    return Math.ceilDiv(Math.ceilDiv(size, shape.dataShards()), multiple) * multiple;
  }

  @Override
  public double run(CodecTask task) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(program().toString()));
    for (Object argument :
        List.of(
            task.shape().dataShards(),
            task.shape().parityShards(),
            W,
            PACKET_BYTES,
            shardBytes(task.shape(), task.size()),
            task.iterations(),
            task.workload().title(),
            task.losses().size(),
            task.erasures())) {
      command.add(argument.toString());
    }
    Path input = folder.child("losses");
    Files.writeString(input, losses(task));
    Process process =
        new ProcessBuilder(command).redirectInput(input.toFile()).redirectErrorStream(true).start();
    try {
      String said =
          new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
      if (!process.waitFor(RUN_MINUTES_MAX, TimeUnit.MINUTES) || process.exitValue() != 0) {
        throw new IOException("jerasure's program failed: " + said);
      }
      return Double.parseDouble(said);
    } finally {
      process.destroyForcibly();
    }
  }

  private static String losses(CodecTask task) {
    StringJoiner numbers = new StringJoiner(" ", "", "\n");
    task.losses()
        .forEach(
            lost -> {
              for (int shard : lost) {
                numbers.add(String.valueOf(shard));
              }
            });
    return numbers.toString();
  }

  @Override
  public void close() throws IOException {
    folder.close();
  }
}
