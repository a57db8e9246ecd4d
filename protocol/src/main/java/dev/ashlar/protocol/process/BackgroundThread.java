package dev.ashlar.protocol.process;

/** A virtual thread that works until it is closed. */
public final class BackgroundThread implements AutoCloseable {
  private final Thread thread;

  /** Work that goes on until it is interrupted. */
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
      // It was told to end.
      Thread.currentThread().interrupt();
    }
  }

  /** Interrupts the work and waits until it has ended. */
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
