package dev.ashlar.server.jobs;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Works on several items at once. */
final class AtOnce {
  private AtOnce() {}

  /** Work on an item. */
  interface Work<T> {
    /** Returns whether to go on with other items. */
    boolean on(T item) throws InterruptedException;
  }

  /** Works on all items, or until some work says not to go on; returns when all work has ended. */
  static <T> void run(List<T> items, int threadsMax, Work<T> work) throws InterruptedException {
    AtomicInteger next = new AtomicInteger();
    List<Future<?>> threads = new ArrayList<>();
    try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < Math.min(threadsMax, items.size()); i++) {
        threads.add(executor.submit(() -> run(items, next, work)));
      }
      for (Future<?> thread : threads) {
        await(thread, executor);
      }
    }
  }

  private static <T> @Nullable Void run(List<T> items, AtomicInteger next, Work<T> work)
      throws InterruptedException {
    boolean isMore = true;
    for (int at = next.getAndIncrement();
        isMore && at < items.size();
        at = next.getAndIncrement()) {
      isMore = work.on(items.get(at));
    }
    return null;
  }

  private static void await(Future<?> thread, ExecutorService executor)
      throws InterruptedException {
    try {
      thread.get();
    } catch (InterruptedException e) {
      executor.shutdownNow();
      throw e;
    } catch (ExecutionException e) {
      executor.shutdownNow();
      if (e.getCause() instanceof InterruptedException) {
        throw new InterruptedException("the work ends");
      }
      throw new IllegalStateException("an item was not worked on", e.getCause());
    }
  }
}
