package dev.ashlar.blob.simulation;

import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Virtual threads of which one at a time runs, on the thread that steps them, from one place where
 * it blocks to the next. Which one is next is drawn from the given source of chance, so that a seed
 * gives the same interleaving again. Threads that these start are stepped with them.
 *
 * <p>The JDK has no public way to give virtual threads a scheduler; its own tests use the builder
 * that is used here, which needs {@code --add-opens java.base/java.lang=ALL-UNNAMED}.
 */
final class SteppedThreads {
  private static final Constructor<?> BUILDER = builder();

  private final Random random;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition added = lock.newCondition();
  private final List<Runnable> runnable = new ArrayList<>();
  private final Map<Runnable, Thread> threads = new HashMap<>();
  private final Thread.Builder.OfVirtual ofVirtual;
  private @Nullable AssertionError failure;

  /** What a thread does. */
  interface Body {
    void run() throws Exception;
  }

  SteppedThreads(Random random) {
    this.random = random;
    try {
      ofVirtual = (Thread.Builder.OfVirtual) BUILDER.newInstance((Executor) this::add);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Constructor<?> builder() {
    try {
      Constructor<?> builder =
          Class.forName("java.lang.ThreadBuilders$VirtualThreadBuilder")
              .getDeclaredConstructor(Executor.class);
      builder.setAccessible(true);
      return builder;
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** May be called by any thread: also timers wake. */
  private void add(Runnable next) {
    lock.lock();
    try {
      runnable.add(next);
      added.signal();
    } finally {
      lock.unlock();
    }
  }

  /** Starts a thread; what it throws ends the run. */
  void start(String name, Body body) {
    Thread thread =
        ofVirtual
            .name(name)
            .unstarted(
                () -> {
                  try {
                    body.run();
                  } catch (Throwable e) {
                    failed(new AssertionError("thread " + name, e));
                  }
                });
    int before = runnable.size();
    thread.start();
    threads.put(runnable.get(before), thread);
  }

  private void failed(AssertionError e) {
    if (failure == null) {
      failure = e;
    }
  }

  /** Called by one of the threads: others may go on. */
  @SuppressWarnings("ThreadPriorityCheck") // the scheduler is ours
  static void pause() {
    Thread.yield();
  }

  /** How many threads can go on. */
  int runnable() {
    return runnable.size();
  }

  /** Whether any thread that was started here has not ended. */
  boolean areAlive() {
    threads.values().removeIf(thread -> !thread.isAlive());
    return !threads.isEmpty();
  }

  /** Lets one of the threads that can go on do so until it blocks. */
  void step() {
    Runnable next;
    lock.lock();
    try {
      next = runnable.remove(random.nextInt(runnable.size()));
    } finally {
      lock.unlock();
    }
    next.run();
    if (failure != null) {
      throw failure;
    }
    Thread thread = threads.get(next);
    if (thread != null && isAsleep(thread)) {
      awaitWake(next);
    }
  }

  /**
   * Sleeping takes no time of the others: where it ends in their work must not be left to clocks.
   */
  private void awaitWake(Runnable sleeping) {
    lock.lock();
    try {
      while (!runnable.contains(sleeping)) {
        added.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Or blocked: monitors are the JDK's own, and are held for a moment by threads not stepped here.
   */
  private static boolean isAsleep(Thread thread) {
    if (thread.getState() == Thread.State.BLOCKED) {
      return true;
    }
    if (thread.getState() != Thread.State.TIMED_WAITING) {
      return false;
    }
    for (StackTraceElement frame : thread.getStackTrace()) {
      if (frame.getMethodName().equals("sleep")
          && frame.getClassName().equals("java.lang.Thread")) {
        return true;
      }
    }
    return false;
  }

  /** Where those threads are that have not ended. */
  String describe() {
    StringBuilder all = new StringBuilder();
    for (Thread thread : threads.values()) {
      all.append('\n').append(thread.getName()).append(' ').append(thread.getState());
      for (StackTraceElement frame : thread.getStackTrace()) {
        all.append("\n    ").append(frame);
      }
    }
    return all.toString();
  }
}
