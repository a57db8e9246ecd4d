package dev.ashlar.bench.options;

import dev.ashlar.bench.engine.ScratchFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Which disk is measured. */
public final class FolderOption {
  /** Eleven drives keep 256 MiB each for deletes and moves before they take anything. */
  private static final long FREE_BYTES_WARNED = 4L << 30;

  @Option(
      names = "--folder",
      paramLabel = "FOLDER",
      defaultValue = ".",
      description = "Folder for temporary drive folders (default: the current one).")
  private Path folder = Path.of(".");

  /** A new folder in it for this run. */
  public ScratchFolder newScratch() throws IOException {
    ScratchFolder scratch = ScratchFolder.in(folder);
    long freeBytes = Files.getFileStore(folder).getUsableSpace();
    if (freeBytes < FREE_BYTES_WARNED) {
      System.err.printf(
          "Only %,d MiB are free in %s: drives that are full refuse what is written to them.%n",
          freeBytes >> 20, folder);
    }
    return scratch;
  }
}
