package dev.ashlar.importer;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Threads that copy.
 *
 * @param objects each copies a key at a time
 * @param parts each copies a part of a large object at a time
 */
record Workers(ExecutorService objects, ExecutorService parts) implements AutoCloseable {
  static Workers of(int parallel) {
    return new Workers(pool("import-", parallel), pool("import-part-", parallel));
  }

  private static ExecutorService pool(String name, int threads) {
    return Executors.newFixedThreadPool(
        threads, Thread.ofPlatform().daemon().name(name, 0).factory());
  }

  @Override
  public void close() {
    objects.shutdownNow();
    parts.shutdownNow();
  }
}
