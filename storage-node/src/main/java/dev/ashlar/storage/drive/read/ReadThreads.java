package dev.ashlar.storage.drive.read;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Queue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The read threads of all drives of a process. Suspending and waking a thread costs more than many
 * a read, so as few threads as possible are used: a finished thread looks for another task once
 * more, after yielding the processor, before it sleeps. No second thread is woken while one is
 * looking; that one wakes the next if there is more to do. Callers limit their number of tasks:
 * there are as many threads as tasks that block at once.
 */
public final class ReadThreads implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ReadThreads.class);

  private final ThreadFactory factory;
  private final Duration idle;
  private final ReentrantLock lock = new ReentrantLock();

  // All fields below are guarded by the lock.
  private final Queue<Runnable> waiting = new ArrayDeque<>();

  /** The most recent sleeper is woken first. */
  private final Deque<Sleeper> asleep = new ArrayDeque<>();

  /** Threads that will look for a task before they sleep: at least one while a task waits. */
  private int looking;

  private boolean isClosed;

  private static final class Sleeper {
    final Thread thread = Thread.currentThread();
    volatile boolean isWoken;
  }

  /**
   * @param idle how long a thread sleeps before it ends
   */
  public ReadThreads(ThreadFactory factory, Duration idle) {
    this.factory = factory;
    this.idle = idle;
  }

  void execute(Runnable task) {
    Sleeper woken;
    lock.lock();
    try {
      waiting.add(task);
      woken = callOne();
    } finally {
      lock.unlock();
    }
    wake(woken);
  }

  /** Ends sleeping threads, and others when they are done; later tasks are still run. */
  @Override
  public void close() {
    lock.lock();
    try {
      isClosed = true;
      asleep.forEach(ReadThreads::wake);
      looking += asleep.size();
      asleep.clear();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Requires the lock and a waiting task. Ensures that a thread is looking; returns the one to
   * wake.
   */
  private @Nullable Sleeper callOne() {
    if (looking > 0) {
      return null;
    }
    Sleeper sleeper = asleep.pollFirst();
    if (sleeper == null && !startOne()) {
      return null;
    }
    looking++;
    return sleeper;
  }

  /** False if the system refuses another thread: existing or later ones take the task. */
  private boolean startOne() {
    try {
      factory.newThread(this::run).start();
      return true;
    } catch (OutOfMemoryError e) {
      LOG.error("Starting another read thread failed", e);
      return false;
    }
  }

  private static void wake(@Nullable Sleeper sleeper) {
    if (sleeper != null) {
      sleeper.isWoken = true;
      LockSupport.unpark(sleeper.thread);
    }
  }

  private void run() {
    for (Runnable task = look(); task != null; task = next()) {
      try {
        task.run();
      } catch (RuntimeException | Error e) {
        LOG.error("A read task failed", e);
      }
      Thread.interrupted(); // a leftover interrupt would close the file of the next task
    }
  }

  /** The next task; null if this thread is no longer needed. */
  private @Nullable Runnable next() {
    lock.lock();
    try {
      Runnable task = waiting.poll();
      if (task != null) {
        return task;
      }
      looking++;
    } finally {
      lock.unlock();
    }
    letOthersRun();
    return look();
  }

  /** On busy processors, running threads are about to ask for reads. */
  @SuppressWarnings("ThreadPriorityCheck") // affects only the number of wake-ups
  private static void letOthersRun() {
    Thread.yield();
  }

  private @Nullable Runnable look() {
    while (true) {
      Runnable task;
      Sleeper woken = null;
      Sleeper self = null;
      lock.lock();
      try {
        looking--;
        task = waiting.poll();
        if (task == null) {
          if (isClosed) {
            return null;
          }
          self = new Sleeper();
          asleep.addFirst(self);
        } else if (!waiting.isEmpty()) {
          woken = callOne();
        }
      } finally {
        lock.unlock();
      }
      if (self == null) {
        wake(woken);
        return task;
      }
      if (!sleep(self)) {
        return null;
      }
    }
  }

  /** False if it was not woken in time. */
  private boolean sleep(Sleeper self) {
    long until = System.nanoTime() + idle.toNanos();
    while (!self.isWoken) {
      long left = until - System.nanoTime();
      if (left <= 0 && leaves(self)) {
        return false;
      }
      LockSupport.parkNanos(this, Math.max(1, left));
    }
    return true;
  }

  /** False if it is about to be woken. */
  private boolean leaves(Sleeper self) {
    lock.lock();
    try {
      return asleep.remove(self);
    } finally {
      lock.unlock();
    }
  }
}
