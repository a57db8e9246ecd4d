package dev.ashlar.bench.versus;

import dev.ashlar.bench.process.AtExit;
import dev.ashlar.bench.process.BenchException;
import dev.ashlar.bench.process.S3Endpoint;
import dev.ashlar.bench.process.UsageSampler;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Runs warp and reads the record it makes of each operation. */
final class Warp {
  private final Path binary;
  private final Path folder;
  private final int concurrency;
  private final double objectsFactor;
  private final S3Endpoint target;

  /**
   * @param folder where warp may leave files
   */
  Warp(Path binary, Path folder, int concurrency, double objectsFactor, S3Endpoint target) {
    this.target = target;
    this.binary = binary;
    this.folder = folder;
    this.concurrency = concurrency;
    this.objectsFactor = objectsFactor;
  }

  /**
   * @param keepData leaves the objects behind, so that deleting them is not taken for deferred work
   */
  List<Operation> run(
      Work work, String bucket, Duration duration, boolean keepData, UsageSampler sampler)
      throws IOException, InterruptedException {
    Path errors = folder.resolve("warp.err");
    ProcessBuilder builder =
        new ProcessBuilder(command(work, bucket, duration, keepData))
            .directory(folder.toFile())
            .redirectError(errors.toFile());
    // The environment is not shown to other users, as arguments are.
    builder.environment().put("WARP_ACCESS_KEY", target.accessKey());
    builder.environment().put("WARP_SECRET_KEY", target.secretKey());
    builder.environment().put("WARP_REGION", target.region());
    Process process = builder.start();
    sampler.watchGenerator(process.toHandle());
    List<Operation> operations = new ArrayList<>();
    List<String> other = new ArrayList<>();
    AtExit killer = new AtExit("end-warp", process::destroyForcibly);
    try (BufferedReader lines = process.inputReader()) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (Operation.isRecord(line)) {
          operations.add(Operation.parse(line));
        } else {
          other.add(line);
        }
      }
    } finally {
      killer.close();
    }
    int status = process.waitFor();
    if (status != 0) {
      String said = (String.join("\n", other) + "\n" + Files.readString(errors)).strip();
      throw new BenchException(
          "warp ended with status " + status + (said.isEmpty() ? "" : ": " + said));
    }
    return operations;
  }

  private List<String> command(Work work, String bucket, Duration duration, boolean keepData) {
    List<String> command = new ArrayList<>();
    command.add(binary.toString());
    command.addAll(work.warpArguments(objectsFactor));
    command.addAll(
        List.of(
            "--stdout",
            "--no-color",
            "--host",
            target.url().getHost() + ":" + target.port(),
            "--bucket",
            bucket,
            "--concurrent",
            String.valueOf(concurrency),
            "--duration",
            duration.toMillis() + "ms",
            "--benchdata",
            folder.resolve("warp").toString()));
    if (target.isTls()) {
      command.add("--tls");
    }
    if (keepData) {
      command.add("--keep-data");
    }
    return command;
  }
}
