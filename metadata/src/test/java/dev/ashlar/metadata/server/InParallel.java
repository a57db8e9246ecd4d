package dev.ashlar.metadata.server;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Rounds of a test that mostly wait: Ratis needs up to a second to close a peer. */
public final class InParallel {
  private static final int THREADS = 8;

  private InParallel() {}

  /** One of the rounds. */
  @FunctionalInterface
  public interface Round<T> {
    void run(T item) throws Exception;
  }

  /** Returns when all have ended; fails when one has failed. */
  public static <T> void forEach(Collection<T> items, Round<T> round) throws Exception {
    List<Future<?>> rounds = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
      for (T item : items) {
        rounds.add(
            threads.submit(
                () -> {
                  round.run(item);
                  return null;
                }));
      }
    }
    AssertionError failed = new AssertionError("rounds have failed");
    for (Future<?> each : rounds) {
      try {
        each.get();
      } catch (ExecutionException e) {
        failed.addSuppressed(e.getCause());
      }
    }
    if (failed.getSuppressed().length > 0) {
      throw failed;
    }
  }
}
