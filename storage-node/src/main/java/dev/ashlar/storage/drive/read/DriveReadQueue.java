package dev.ashlar.storage.drive.read;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.process.RateLimitedLog;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.index.IndexException;
import java.io.IOException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The reads of one drive: a limited number runs, a limited number waits. A hanging drive blocks
 * only that many threads and no reads of other drives. Further reads are refused once all running
 * reads have hung for too long, or one of them for so long that the drive counts as failed, until
 * one returns.
 */
public final class DriveReadQueue {
  private static final Logger LOG = LoggerFactory.getLogger(DriveReadQueue.class);
  private static final RateLimitedLog FAILURES = new RateLimitedLog(LOG, Level.ERROR);

  private final DriveId drive;
  private final DriveConfig.Limits limits;
  private final LongSupplier nanoTime;
  private final int atOnce;
  private final ReadThreads threads;
  private final Queue<Read> waiting = new ConcurrentLinkedQueue<>();

  /** Number of threads that serve the queue or are about to. */
  private final AtomicInteger turns = new AtomicInteger();

  private final AtomicInteger inFlight = new AtomicInteger();
  private final AtomicReferenceArray<@Nullable Read> running;
  private final AtomicInteger runningCount = new AtomicInteger();
  private volatile long progressNanos;
  private volatile boolean isAbandoned;
  private volatile boolean isClosed;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition someEnded = lock.newCondition();

  /** A read on its thread. */
  public interface Action {
    ShardData run() throws ShardException;
  }

  /** A task on a read thread; the returned action runs when the thread is free again. */
  public interface Task {
    Runnable run() throws ShardException;
  }

  /**
   * @param atOnce maximum number of parallel reads
   */
  public DriveReadQueue(
      DriveId drive,
      ReadThreads threads,
      int atOnce,
      DriveConfig.Limits limits,
      LongSupplier nanoTime) {
    this.drive = drive;
    this.threads = threads;
    this.limits = limits;
    this.nanoTime = nanoTime;
    this.atOnce = atOnce;
    running = new AtomicReferenceArray<>(atOnce);
  }

  public interface LookUp<T> {
    T run() throws IOException;
  }

  public void read(Action action, Completion<ShardData> completion) {
    OneEnd end = new OneEnd(completion);
    run(
        () -> {
          ShardData data = action.run();
          return () -> end.succeeded(data);
        },
        end,
        Kind.READ);
  }

  /**
   * Runs a read that does not wait for the drive on the calling thread.
   *
   * @return null if the drive takes no reads now, the action returns null, or it throws anything
   */
  public @Nullable ShardData readCached(Supplier<@Nullable ShardData> action) {
    if (begin() != null) {
      return null;
    }
    try {
      return action.get();
    } catch (RuntimeException | Error e) {
      FAILURES.log("Drive " + drive + ": a read from memory failed", e);
      return null;
    } finally {
      end();
    }
  }

  /**
   * Runs another task that may read. It uses the caller's memory, so the caller is notified only
   * when the task has returned.
   *
   * @param task returns the notification of success
   */
  public void run(Task task, Completion<?> completion) {
    run(task, completion, Kind.MAKING);
  }

  /** Runs a query and waits for it, at most until the drive counts as failed. */
  public <T> T lookUp(LookUp<T> lookUp) throws ShardException {
    BlockingCompletion<T> found = new BlockingCompletion<>();
    run(
        () -> {
          try {
            T value = lookUp.run();
            return () -> found.succeeded(value);
          } catch (IOException e) {
            throw new ShardException(fault(e), drive + ": " + e.getMessage(), e);
          }
        },
        found,
        Kind.LOOK_UP);
    try {
      return found.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ShardException(ShardFault.UNAVAILABLE, drive + ": interrupted", e);
    }
  }

  /** While its index fails a drive cannot tell what it holds. */
  private static ShardFault fault(IOException e) {
    return IndexException.in(e) == null ? ShardFault.IO_ERROR : ShardFault.UNAVAILABLE;
  }

  private void run(Task task, Completion<?> completion, Kind kind) {
    ShardException refusal = begin();
    if (refusal != null) {
      completion.failed(refusal);
      return;
    }
    waiting.add(new Read(task, completion, kind));
    startTurn();
  }

  /** Starts a thread unless the maximum runs; those check the queue when they finish. */
  private void startTurn() {
    while (!waiting.isEmpty()) {
      int count = turns.get();
      if (count >= atOnce) {
        return;
      }
      if (turns.compareAndSet(count, count + 1)) {
        threads.execute(this::turn);
        return;
      }
    }
  }

  private void turn() {
    try {
      for (Read read = waiting.poll(); read != null; read = waiting.poll()) {
        read.run();
      }
    } finally {
      turns.decrementAndGet();
      startTurn();
      tellIfClosed();
    }
  }

  /** Counts a read, or returns the refusal. */
  private @Nullable ShardException begin() {
    if (isStalled()) {
      return stalled();
    }
    if (inFlight.incrementAndGet() > limits.queuedReadsMax()) {
      end();
      return new ShardException(ShardFault.OVERLOADED, drive + ": the read queue is full");
    }
    if (isClosed) {
      end();
      return closed();
    }
    return null;
  }

  public int inFlight() {
    return inFlight.get();
  }

  private void end() {
    inFlight.decrementAndGet();
    tellIfClosed();
  }

  private void tellIfClosed() {
    if (isClosed) {
      lock.lock();
      try {
        someEnded.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  /** Whether all running reads hang, or the drive counts as failed. */
  public boolean isStalled() {
    return isAbandoned
        || (runningCount.get() >= atOnce
            && nanoTime.getAsLong() - progressNanos > limits.stallTimeout().toNanos());
  }

  /**
   * Age of the oldest running read; 0 if none runs. Index queries do not count, because they may
   * take long.
   */
  public long oldestNanos() {
    long now = nanoTime.getAsLong();
    long oldest = 0;
    for (int place = 0; place < atOnce; place++) {
      Read read = running.get(place);
      if (read != null && read.kind != Kind.LOOK_UP) {
        oldest = Math.max(oldest, now - read.beganNanos);
      }
    }
    return oldest;
  }

  /** The drive counts as failed: fails hanging requests and, if a read hangs, refuses others. */
  public void abandonHanging() {
    long now = nanoTime.getAsLong();
    boolean isReadHanging = false;
    for (int place = 0; place < atOnce; place++) {
      Read read = running.get(place);
      if (read != null && now - read.beganNanos > limits.stallTimeout().toNanos()) {
        isReadHanging |= read.kind != Kind.LOOK_UP;
        if (read.kind != Kind.MAKING) {
          read.completion.failed(stalled());
        }
      }
    }
    isAbandoned = isReadHanging;
  }

  public void resume() {
    isAbandoned = false;
  }

  /** Refuses the reads that wait behind hanging ones. */
  public void refuseWaiting() {
    for (Read read = waiting.poll(); read != null; read = waiting.poll()) {
      read.refuse(stalled());
    }
  }

  /** Completes accepted reads; false if they hang. */
  public boolean close() {
    isClosed = true;
    long left = limits.stallTimeout().toNanos();
    lock.lock();
    try {
      while (!isIdle()) {
        if (left <= 0) {
          return false;
        }
        left = someEnded.awaitNanos(left);
      }
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      lock.unlock();
    }
  }

  private boolean isIdle() {
    return inFlight.get() == 0 && turns.get() == 0;
  }

  private ShardException stalled() {
    return new ShardException(ShardFault.UNAVAILABLE, drive + ": reads hang");
  }

  private ShardException closed() {
    return new ShardException(ShardFault.UNAVAILABLE, drive + " is closed");
  }

  /**
   * The kinds of task, which differ in whether they can be abandoned and in what their duration
   * tells about the drive.
   */
  private enum Kind {
    READ,
    /** May take long on a healthy drive. */
    LOOK_UP,
    /** Uses memory of the caller, so it cannot be abandoned. */
    MAKING
  }

  /** Reports a read once: as done or as abandoned. */
  private static final class OneEnd implements Completion<ShardData> {
    private final Completion<ShardData> told;
    private final AtomicBoolean isTold = new AtomicBoolean();

    OneEnd(Completion<ShardData> told) {
      this.told = told;
    }

    @Override
    public void succeeded(ShardData data) {
      if (isTold.compareAndSet(false, true)) {
        told.succeeded(data);
      } else {
        data.release();
      }
    }

    @Override
    public void failed(ShardException failure) {
      if (isTold.compareAndSet(false, true)) {
        told.failed(failure);
      }
    }
  }

  private final class Read {
    private final Task task;
    private final Completion<?> completion;
    private final Kind kind;
    private long beganNanos;

    Read(Task task, Completion<?> completion, Kind kind) {
      this.task = task;
      this.completion = completion;
      this.kind = kind;
    }

    void run() {
      int place = enter();
      Runnable told = null;
      ShardException failure = null;
      try {
        told = task.run();
      } catch (ShardException e) {
        failure = e;
      } catch (RuntimeException | Error e) {
        FAILURES.log("Drive " + drive + ": a read failed", e);
        failure = new ShardException(ShardFault.IO_ERROR, drive + ": " + e, e);
      }
      leave(place);
      end();
      if (told != null) {
        told.run();
      } else if (failure != null) {
        completion.failed(failure);
      }
    }

    /** Claims a place; there is one for each thread. */
    private int enter() {
      beganNanos = nanoTime.getAsLong();
      progressNanos = beganNanos;
      runningCount.incrementAndGet();
      int place = 0;
      while (!running.compareAndSet(place, null, this)) {
        place = (place + 1) % atOnce;
      }
      return place;
    }

    private void leave(int place) {
      progressNanos = nanoTime.getAsLong();
      running.set(place, null);
      runningCount.decrementAndGet();
    }

    void refuse(ShardException why) {
      end();
      completion.failed(why);
    }
  }
}
