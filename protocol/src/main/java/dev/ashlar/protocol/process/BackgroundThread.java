package dev.ashlar.protocol.process;

import org.jspecify.annotations.Nullable;

/** A virtual thread that runs until it is closed. */
public final class BackgroundThread implements AutoCloseable {
  private final Thread thread;

  /** Work that ends when it is interrupted. */
  public interface Work {
    void run() throws InterruptedException;
  }

  private BackgroundThread(Thread thread) {
    this.thread = thread;
  }

  public static BackgroundThread start(String name, Work work) {
    return new BackgroundThread(Thread.ofVirtual().name(name).start(() -> run(work)));
  }

  private static void run(Work work) {
    try {
      work.run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Closes a thread that may not have been started. */
  public static void closeIfStarted(@Nullable BackgroundThread thread) {
    if (thread != null) {
      thread.close();
    }
  }

  /** Interrupts the work and waits for its end. */
  @Override
  public void close() {
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
