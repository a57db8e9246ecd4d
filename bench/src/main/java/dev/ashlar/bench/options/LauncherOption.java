package dev.ashlar.bench.options;

import java.nio.file.Path;
import picocli.CommandLine.Option;

/** How our own servers are started. */
public final class LauncherOption {
  @Option(
      names = "--ashlar",
      paramLabel = "FILE",
      defaultValue = "./ashlar",
      description = "The launcher of the servers that are started here (default: ./ashlar).")
  private Path launcher = Path.of("ashlar");

  public Path launcher() {
    return launcher;
  }
}
