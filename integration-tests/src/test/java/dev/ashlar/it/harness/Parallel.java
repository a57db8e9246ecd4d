package dev.ashlar.it.harness;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Several clients at a time, each on a thread of its own. */
public final class Parallel {
  /** What a client does. */
  @FunctionalInterface
  public interface Client {
    /**
     * @param number from 0
     */
    void run(int number) throws Exception;
  }

  private Parallel() {}

  /** Returns when all have ended; that one fails is a failure. */
  public static void run(int clients, Client client) throws InterruptedException {
    try (ExecutorService threads = Executors.newFixedThreadPool(clients)) {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        int number = i;
        running.add(
            threads.submit(
                () -> {
                  client.run(number);
                  return null;
                }));
      }
      for (Future<?> each : running) {
        each.get();
      }
    } catch (ExecutionException e) {
      throw new AssertionError("a client failed: " + e.getCause(), e.getCause());
    }
  }
}
