package dev.ashlar.bench.options;

import dev.ashlar.bench.engine.ScratchFolder;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Which disk is measured. */
public final class FolderOption {
  @Option(
      names = "--folder",
      paramLabel = "FOLDER",
      defaultValue = ".",
      description = "Where the drive folders are made, and removed again (default: here).")
  private Path folder = Path.of(".");

  /** A new folder in it for this run. */
  public ScratchFolder newScratch() throws IOException {
    return ScratchFolder.in(folder);
  }
}
