package dev.ashlar.bench.process;

import java.util.concurrent.CancellationException;

/** What is to be done if this process ends, as by Ctrl-C, before this is closed. */
public final class AtExit implements AutoCloseable {
  private final Thread hook;

  /**
   * @throws CancellationException when the process is ending already
   */
  public AtExit(String name, Runnable task) {
    hook = new Thread(task, name);
    try {
      Runtime.getRuntime().addShutdownHook(hook);
    } catch (IllegalStateException e) {
      throw new CancellationException("interrupted");
    }
  }

  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // It runs already.
    }
  }
}
