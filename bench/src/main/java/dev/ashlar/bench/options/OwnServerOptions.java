package dev.ashlar.bench.options;

import dev.ashlar.bench.engine.ScratchFolder;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** How our own servers are started, and where their folders are. */
public final class OwnServerOptions {
  @Mixin private FolderOption folder = new FolderOption();

  @Option(
      names = "--ashlar",
      paramLabel = "FILE",
      defaultValue = "./ashlar",
      description = "Launcher that starts the servers under test (default: ./ashlar).")
  private Path launcher = Path.of("ashlar");

  /** A new folder for the servers of this run. */
  public ScratchFolder newScratch() throws IOException {
    return folder.newScratch();
  }

  public Path launcher() {
    return launcher;
  }
}
