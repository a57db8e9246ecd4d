package dev.ashlar.bench.engine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A new folder that is removed when it is closed, or when the process is interrupted. */
public final class ScratchFolder implements AutoCloseable {
  private final Path path;
  private final Thread remover = new Thread(this::removeQuietly);

  private ScratchFolder(Path path) {
    this.path = path;
    Runtime.getRuntime().addShutdownHook(remover);
  }

  public static ScratchFolder in(Path parent) throws IOException {
    return new ScratchFolder(
        Files.createTempDirectory(Files.createDirectories(parent).toRealPath(), "bench-"));
  }

  public Path child(String name) {
    return path.resolve(name);
  }

  private void removeQuietly() {
    try {
      remove();
    } catch (IOException e) {
      System.err.println("could not remove " + path + ": " + e);
    }
  }

  private void remove() throws IOException {
    try (Stream<Path> files = Files.walk(path)) {
      for (Path file : (Iterable<Path>) files.sorted(Comparator.reverseOrder())::iterator) {
        Files.deleteIfExists(file);
      }
    }
  }

  @Override
  public void close() throws IOException {
    remove();
    Runtime.getRuntime().removeShutdownHook(remover);
  }
}
