package dev.ashlar.storage.drive;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.model.DriveId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The reads of one drive: so many at a time, on threads of its own, and so many more in line. A
 * drive that hangs holds up these threads and no other drive's; once all of them have been stuck
 * for too long, further reads are refused until one comes back.
 */
final class ReadLane {
  private static final Logger LOG = LoggerFactory.getLogger(ReadLane.class);
  private static final long IDLE_SECONDS = 60;

  private final DriveId drive;
  private final DriveConfig.Limits limits;
  private final LongSupplier nanoTime;
  private final int atOnce;
  private final ThreadPoolExecutor threads;
  private final AtomicInteger inFlight = new AtomicInteger();
  private final AtomicInteger running = new AtomicInteger();
  private volatile long progressNanos;
  private volatile boolean isClosed;

  /** What a read does on its thread. */
  interface Action {
    ShardData run() throws ShardException;
  }

  /** What is done on a read's thread; what it returns is run when the thread is free again. */
  interface Task {
    Runnable run() throws ShardException;
  }

  ReadLane(
      DriveId drive, String name, int atOnce, DriveConfig.Limits limits, LongSupplier nanoTime) {
    this.drive = drive;
    this.limits = limits;
    this.nanoTime = nanoTime;
    this.atOnce = atOnce;
    threads =
        new ThreadPoolExecutor(
            atOnce,
            atOnce,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Thread.ofPlatform().name("drive-read-" + name + "-", 0).daemon().factory());
    threads.allowCoreThreadTimeOut(true);
  }

  void read(Action action, Completion<ShardData> completion) {
    run(
        () -> {
          ShardData data = action.run();
          return () -> completion.succeeded(data);
        },
        completion);
  }

  /**
   * Does something else that may read.
   *
   * @param task returns how to tell of it; whom it concerns is told of failures only
   */
  void run(Task task, Completion<?> completion) {
    ShardException refusal = begin();
    if (refusal != null) {
      completion.failed(refusal);
      return;
    }
    try {
      threads.execute(new Read(task, completion));
    } catch (RejectedExecutionException e) {
      end();
      completion.failed(closed());
    }
  }

  /** Counts a read on the caller's thread, which has to {@link #end} it; or says why not. */
  @Nullable ShardException begin() {
    if (isStalled()) {
      return stalled();
    }
    if (inFlight.incrementAndGet() > limits.queuedReadsMax()) {
      end();
      return new ShardException(ShardFault.OVERLOADED, drive + ": too many reads");
    }
    if (isClosed) {
      end();
      return closed();
    }
    return null;
  }

  /** Reads that wait or run. */
  int inFlight() {
    return inFlight.get();
  }

  void end() {
    inFlight.decrementAndGet();
  }

  /** Whether every thread has been in a read that does not come back. */
  boolean isStalled() {
    return running.get() >= atOnce
        && nanoTime.getAsLong() - progressNanos > limits.stallTimeout().toNanos();
  }

  /** Refuses what waits behind reads that hang. */
  void dropWaiting() {
    List<Runnable> waiting = new ArrayList<>();
    threads.getQueue().drainTo(waiting);
    for (Runnable read : waiting) {
      ((Read) read).refuse(stalled());
    }
  }

  /** Lets what was accepted finish; false if it hangs. */
  boolean close() {
    isClosed = true;
    threads.shutdown();
    try {
      // Reads on callers' threads end soon after: they see the drive's state change.
      return threads.awaitTermination(limits.stallTimeout().toNanos(), TimeUnit.NANOSECONDS)
          && awaitCallers();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private boolean awaitCallers() throws InterruptedException {
    long deadline = System.nanoTime() + limits.stallTimeout().toNanos();
    while (inFlight.get() > 0) {
      if (System.nanoTime() - deadline > 0) {
        return false;
      }
      TimeUnit.MILLISECONDS.sleep(1);
    }
    return true;
  }

  private ShardException stalled() {
    return new ShardException(ShardFault.UNAVAILABLE, drive + ": its reads hang");
  }

  private ShardException closed() {
    return new ShardException(ShardFault.UNAVAILABLE, drive + " is closed");
  }

  private final class Read implements Runnable {
    private final Task task;
    private final Completion<?> completion;

    Read(Task task, Completion<?> completion) {
      this.task = task;
      this.completion = completion;
    }

    @Override
    public void run() {
      progressNanos = nanoTime.getAsLong();
      running.incrementAndGet();
      Runnable told = null;
      ShardException failure = null;
      try {
        told = task.run();
      } catch (ShardException e) {
        failure = e;
      } catch (RuntimeException | Error e) {
        LOG.error("drive {}: a read failed", drive, e);
        failure = new ShardException(ShardFault.IO_ERROR, drive + ": " + e, e);
      }
      progressNanos = nanoTime.getAsLong();
      running.decrementAndGet();
      end();
      if (told != null) {
        told.run();
      } else if (failure != null) {
        completion.failed(failure);
      }
    }

    void refuse(ShardException why) {
      end();
      completion.failed(why);
    }
  }
}
