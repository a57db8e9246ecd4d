package dev.ashlar.bench.engine;

import dev.ashlar.bench.process.AtExit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/** A new folder that is removed when it is closed, or when the process is interrupted. */
public final class ScratchFolder implements AutoCloseable {
  private static final long END_MAX_SECONDS = 10;

  private final Path path;
  private final ReentrantLock lock = new ReentrantLock();
  private final AtExit remover;
  private boolean isRemoved;

  private ScratchFolder(Path path) {
    this.path = path;
    remover = new AtExit("remove-scratch", this::interrupted);
  }

  public static ScratchFolder in(Path parent) throws IOException {
    return new ScratchFolder(
        Files.createTempDirectory(Files.createDirectories(parent).toRealPath(), "bench-"));
  }

  public Path child(String name) {
    return path.resolve(name);
  }

  /** What has files in it ends first: stores of this process, and servers that others kill. */
  private void interrupted() {
    OpenEngines.end();
    ProcessHandle.current()
        .children()
        .forEach(
            child ->
                child.onExit().completeOnTimeout(child, END_MAX_SECONDS, TimeUnit.SECONDS).join());
    try {
      remove();
    } catch (IOException e) {
      System.err.println("could not remove " + path + ": " + e);
    }
  }

  private void remove() throws IOException {
    lock.lock();
    try {
      if (!isRemoved) {
        deleteTree(path);
      }
      isRemoved = true;
    } finally {
      lock.unlock();
    }
  }

  public static void deleteTree(Path root) throws IOException {
    try (Stream<Path> files = Files.walk(root)) {
      for (Path file : (Iterable<Path>) files.sorted(Comparator.reverseOrder())::iterator) {
        Files.deleteIfExists(file);
      }
    }
  }

  @Override
  public void close() throws IOException {
    remove();
    remover.close();
  }
}
