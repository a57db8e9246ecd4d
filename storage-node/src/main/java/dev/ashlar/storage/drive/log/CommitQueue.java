package dev.ashlar.storage.drive.log;

import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.index.IndexException;
import dev.ashlar.storage.io.FileNotOpenedException;
import dev.ashlar.storage.io.TooManyOpenFilesException;
import java.io.IOException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The bounded queue of the log and its writer thread, which commits all waiting requests together.
 */
public final class CommitQueue {
  private static final Logger LOG = LoggerFactory.getLogger(CommitQueue.class);

  /** How long an offer that began before the stop may take to arrive. */
  private static final long OFFER_NANOS = 50_000;

  /** The last batch is confirmed after this time without a request. */
  private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private final SegmentLog log;
  private final DriveConfig.Limits limits;
  private final DriveId drive;
  private final Consumer<Exception> onFailure;
  private final LongSupplier nanoTime;
  private final Queue<LogRequest> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicInteger depth = new AtomicInteger();
  private final AtomicLong bytes = new AtomicLong();
  private final Thread writer;
  private volatile boolean isParked;
  private volatile boolean isStopping;
  private volatile boolean isLeftHanging;
  private volatile @Nullable ShardFault refusal;
  private volatile boolean isCommitting;
  private volatile long commitBeganNanos;

  /** Used by the writer: whether its segment could not be opened at the last attempt. */
  private boolean isUnopened;

  private long unopenedSinceNanos;

  public CommitQueue(
      SegmentLog log,
      DriveConfig.Limits limits,
      DriveId drive,
      String name,
      Consumer<Exception> onFailure,
      LongSupplier nanoTime) {
    this.log = log;
    this.limits = limits;
    this.drive = drive;
    this.onFailure = onFailure;
    this.nanoTime = nanoTime;
    writer = Thread.ofPlatform().name("drive-write-" + name).daemon().unstarted(this::run);
  }

  public void start() {
    writer.start();
  }

  /**
   * Refuses all later requests.
   *
   * @param fault the fault reported to them
   */
  public void refuseAll(ShardFault fault) {
    refusal = fault;
  }

  /** Commits queued requests and ends the thread; false if a commit hangs. */
  public boolean stop() {
    isStopping = true;
    LockSupport.unpark(writer);
    boolean hasEnded = ThreadJoin.await(writer, limits.stallTimeout());
    isLeftHanging = !hasEnded;
    return hasEnded;
  }

  /**
   * Whether a commit has been running for too long. It may still succeed or fail; requests behind
   * it would wait for an unknown time.
   */
  public boolean isStalled() {
    return commitNanos() > limits.stallTimeout().toNanos();
  }

  /** Duration of the running commit; 0 if none runs. */
  public long commitNanos() {
    // The flag is set after the time and read before it, so an old time is never used.
    return isCommitting ? nanoTime.getAsLong() - commitBeganNanos : 0;
  }

  /** Refuses the requests behind a hanging commit, so that their memory is released. */
  public void refuseWaiting() {
    for (LogRequest next = waiting.poll(); next != null; next = waiting.poll()) {
      leave(next);
      fail(next, stalled());
    }
  }

  public int depth() {
    return depth.get();
  }

  /** Queues a request, or returns the refusal. */
  public @Nullable ShardException offer(LogRequest request) {
    int count = depth.incrementAndGet();
    long size = bytes.addAndGet(request.queuedBytes());
    ShardException refusal = null;
    if (isStopping) {
      refusal = new ShardException(ShardFault.UNAVAILABLE, drive + " is closed");
    } else if (isStalled()) {
      refusal = stalled();
    } else if (count > limits.queuedWritesMax() || size > limits.queuedBytesMax()) {
      refusal = new ShardException(ShardFault.OVERLOADED, drive + ": the write queue is full");
    }
    if (refusal == null) {
      enqueue(request);
    } else {
      leave(request);
    }
    return refusal;
  }

  /** Queues a request that must not be refused. */
  public void add(LogRequest request) {
    depth.incrementAndGet();
    bytes.addAndGet(request.queuedBytes());
    enqueue(request);
  }

  private void enqueue(LogRequest request) {
    waiting.add(request);
    if (isParked) {
      LockSupport.unpark(writer);
    }
  }

  private ShardException stalled() {
    return new ShardException(ShardFault.UNAVAILABLE, drive + ": a write hangs");
  }

  private void run() {
    LogRequest next = takeWithOthers();
    while (next != null) {
      ShardFault fault = refusal;
      if (fault != null) {
        leave(next);
        fail(next, new ShardException(fault, drive + " accepts no more writes"));
        next = take();
      } else {
        LogRequest notYet = commitFrom(next);
        next = notYet != null ? notYet : takeWithOthers();
      }
    }
    confirm();
  }

  /** Keeps damage of the last batch from being taken for an interrupted write. */
  private void confirm() {
    if (refusal != null || isLeftHanging) {
      return;
    }
    commitBeganNanos = nanoTime.getAsLong();
    isCommitting = true;
    try {
      log.confirm();
      isUnopened = false;
    } catch (FileNotOpenedException e) {
      notOpened(e);
    } catch (IOException | RuntimeException | Error e) {
      refuseAfter(e);
    } finally {
      isCommitting = false;
    }
  }

  /**
   * The next request; null when stopping and none is left. On busy processors the first request
   * wakes this thread before other threads offer theirs. If those run first, all requests share a
   * write and a sync; otherwise the yield costs almost nothing.
   */
  @SuppressWarnings("ThreadPriorityCheck") // affects only the number of requests per batch
  private @Nullable LogRequest takeWithOthers() {
    LogRequest next = take();
    Thread.yield();
    return next;
  }

  /** Commits a batch that begins with this request; returns the request that did not fit. */
  private @Nullable LogRequest commitFrom(LogRequest first) {
    @Nullable LogRequest next = first;
    commitBeganNanos = nanoTime.getAsLong();
    isCommitting = true;
    try {
      while (next != null && log.add(next)) {
        leave(next);
        next = waiting.poll();
      }
      log.commit();
      isCommitting = false;
      isUnopened = false;
    } catch (FileNotOpenedException e) {
      isCommitting = false;
      notOpened(e);
      return next;
    } catch (IOException | RuntimeException | Error e) {
      // Errors are caught as well: if the writer died silently, all callers would wait. Whether
      // they leave data in doubt depends on the kind: see LogWriteException.
      refuseAfter(e);
      isCommitting = false;
      boolean isOfIndex = IndexException.in(e) != null;
      failAll(isOfIndex ? ShardFault.UNAVAILABLE : ShardFault.IO_ERROR, e);
      return next;
    }
    for (LogRequest done : log.accepted()) {
      complete(done);
    }
    failAll(log.rejected(), ShardFault.FULL, "full");
    log.clear();
    return next;
  }

  /**
   * Handles a segment that could not be opened. Nothing was written, so requests may be repeated
   * unless the condition persists. Too many open files is a temporary condition.
   */
  private void notOpened(FileNotOpenedException e) {
    boolean isPassing = e instanceof TooManyOpenFilesException;
    long now = nanoTime.getAsLong();
    if (!isPassing && !isUnopened) {
      isUnopened = true;
      unopenedSinceNanos = now;
    } else if (!isPassing && now - unopenedSinceNanos > limits.stallTimeout().toNanos()) {
      refusal = ShardFault.READ_ONLY;
      onFailure.accept(e);
    }
    ShardFault fault = isPassing ? ShardFault.OVERLOADED : ShardFault.UNAVAILABLE;
    failAll(fault, e);
    log.clear();
  }

  private void leave(LogRequest request) {
    depth.decrementAndGet();
    bytes.addAndGet(-request.queuedBytes());
  }

  private void complete(LogRequest request) {
    try {
      request.completion().succeeded(drive);
    } catch (RuntimeException | Error e) {
      LOG.error("Drive {}: a completion failed", drive, e);
    }
  }

  private void refuseAfter(Throwable e) {
    IndexException ofIndex = IndexException.in(e);
    refusal = ofIndex == null ? ShardFault.READ_ONLY : ofIndex.kind().fault();
    onFailure.accept(e instanceof Exception failure ? failure : new IllegalStateException(e));
  }

  private void failAll(ShardFault fault, Throwable e) {
    failAll(log.accepted(), fault, e.toString());
    failAll(log.rejected(), ShardFault.FULL, "full");
  }

  private void failAll(List<LogRequest> requests, ShardFault fault, String why) {
    for (LogRequest request : requests) {
      fail(request, new ShardException(fault, drive + ": " + why));
    }
  }

  private void fail(LogRequest request, ShardException failure) {
    try {
      request.completion().failed(failure);
    } catch (RuntimeException | Error e) {
      LOG.error("Drive {}: a completion threw an exception.", drive, e);
    }
  }

  /** The next request; null when stopping and none is left. */
  private @Nullable LogRequest take() {
    long idleSince = System.nanoTime();
    while (true) {
      LogRequest next = waiting.poll();
      if (next != null) {
        return next;
      }
      isParked = true;
      if (waiting.isEmpty()) {
        if (!isStopping) {
          awaitOffer(idleSince);
        } else if (depth.get() == 0) {
          return null;
        } else {
          LockSupport.parkNanos(this, OFFER_NANOS);
        }
      }
      isParked = false;
    }
  }

  private void awaitOffer(long idleSince) {
    if (refusal != null || !log.needsConfirmation()) {
      LockSupport.park(this);
      return;
    }
    LockSupport.parkNanos(this, IDLE_NANOS);
    if (waiting.isEmpty() && System.nanoTime() - idleSince >= IDLE_NANOS) {
      confirm();
    }
  }
}
