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
 * The threads on which all drives of a process read. To send a thread to sleep and to wake it costs
 * more than many a read, so as few as possible take turns: one that is done looks once more, after
 * others had the processor, and only then sleeps; no second one is woken while one is about to
 * look, which then wakes the next if there is more to do. Whoever gives them tasks bounds how many
 * it has at a time: there are as many threads as tasks that block at once.
 */
public final class ReadThreads implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ReadThreads.class);

  private final ThreadFactory factory;
  private final Duration idle;
  private final ReentrantLock lock = new ReentrantLock();

  // All below only with the lock.
  private final Queue<Runnable> waiting = new ArrayDeque<>();

  /** The last to have fallen asleep is the first to be woken. */
  private final Deque<Sleeper> asleep = new ArrayDeque<>();

  /** Threads that will look for a task before they sleep: at least one wherever a task waits. */
  private int looking;

  private boolean isClosed;

  /** A thread until it is woken. */
  private static final class Sleeper {
    final Thread thread = Thread.currentThread();
    volatile boolean isWoken;
  }

  /**
   * @param idle for how long a thread sleeps before it ends
   */
  public ReadThreads(ThreadFactory factory, Duration idle) {
    this.factory = factory;
    this.idle = idle;
  }

  /** Has it run, in the order in which tasks come. */
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

  /** Threads that sleep end, the others when they are done; what comes later is still run. */
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
   * With the lock, where a task waits: sees to it that a thread looks; returns who is to be woken.
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

  /** False if the system gives no thread: those that there are take the task, or later ones. */
  private boolean startOne() {
    try {
      factory.newThread(this::run).start();
      return true;
    } catch (OutOfMemoryError e) {
      LOG.error("no further thread for reads of drives", e);
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
        LOG.error("a task failed", e);
      }
      Thread.interrupted(); // left behind, it would close the file that the next task reads
    }
  }

  /** The next task; null: this thread is not needed any more. */
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

  /** Where processors are short, those that run now are about to ask for reads. */
  @SuppressWarnings("ThreadPriorityCheck") // nothing but the number of wake-ups depends on it
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

  /** False if nobody woke it in time. */
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

  /** False if somebody is about to wake it. */
  private boolean leaves(Sleeper self) {
    lock.lock();
    try {
      return asleep.remove(self);
    } finally {
      lock.unlock();
    }
  }
}
