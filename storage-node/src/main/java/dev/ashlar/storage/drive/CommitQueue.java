package dev.ashlar.storage.drive;

import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.model.DriveId;
import java.io.IOException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The bounded queue before the log, and the thread that commits together all that waits in it. */
final class CommitQueue {
  private static final Logger LOG = LoggerFactory.getLogger(CommitQueue.class);

  /** How long an offer that began before the stop may take to arrive, give or take. */
  private static final long OFFER_NANOS = 50_000;

  private final SegmentLog log;
  private final DriveConfig.Limits limits;
  private final DriveId drive;
  private final Consumer<Exception> onFailure;
  private final Queue<LogRequest> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicInteger depth = new AtomicInteger();
  private final AtomicLong bytes = new AtomicLong();
  private final Thread writer;
  private volatile boolean isParked;
  private volatile boolean isStopping;
  private volatile boolean hasFailed;

  CommitQueue(
      SegmentLog log,
      DriveConfig.Limits limits,
      DriveId drive,
      String name,
      Consumer<Exception> onFailure) {
    this.log = log;
    this.limits = limits;
    this.drive = drive;
    this.onFailure = onFailure;
    writer = Thread.ofPlatform().name("drive-write-" + name).daemon().unstarted(this::run);
  }

  void start() {
    writer.start();
  }

  /** From now on nothing is written any more. */
  void refuseAll() {
    hasFailed = true;
  }

  /** Commits what is queued and ends the thread. */
  void stop() {
    isStopping = true;
    LockSupport.unpark(writer);
    boolean interrupted = false;
    while (writer.isAlive()) {
      try {
        writer.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  int depth() {
    return depth.get();
  }

  /** Takes the request, or says why not. */
  @Nullable ShardException offer(LogRequest request) {
    int size = request.queuedBytes();
    int waits = depth.incrementAndGet();
    if (isStopping) {
      depth.decrementAndGet();
      return new ShardException(ShardFault.UNAVAILABLE, drive + " is closed");
    }
    if (waits > limits.queuedWritesMax()) {
      depth.decrementAndGet();
      return overloaded();
    }
    if (bytes.addAndGet(size) > limits.queuedBytesMax()) {
      depth.decrementAndGet();
      bytes.addAndGet(-size);
      return overloaded();
    }
    enqueue(request);
    return null;
  }

  /** Takes what must not be refused. */
  void add(LogRequest request) {
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

  private ShardException overloaded() {
    return new ShardException(ShardFault.OVERLOADED, drive + ": too much waits to be written");
  }

  private void run() {
    LogRequest next = take();
    while (next != null) {
      if (hasFailed) {
        leave(next);
        next.completion().failed(new ShardException(ShardFault.READ_ONLY, drive + " is read-only"));
        next = take();
      } else {
        LogRequest notYet = commitFrom(next);
        next = notYet != null ? notYet : take();
      }
    }
  }

  /** Commits a batch that begins with this request; returns the one it had no room for. */
  private @Nullable LogRequest commitFrom(LogRequest first) {
    @Nullable LogRequest next = first;
    try {
      while (next != null && log.add(next)) {
        leave(next);
        next = waiting.poll();
      }
      log.commit();
    } catch (IOException | RuntimeException | Error e) {
      // An error too (no memory, say): a writer that died silently would let everyone wait.
      hasFailed = true;
      onFailure.accept(e instanceof Exception failure ? failure : new IllegalStateException(e));
      tellFailed(log.accepted(), ShardFault.IO_ERROR, e.toString());
      tellFailed(log.rejected(), ShardFault.FULL, "full");
      return next;
    }
    for (LogRequest done : log.accepted()) {
      tellSucceeded(done);
    }
    tellFailed(log.rejected(), ShardFault.FULL, "full");
    log.clear();
    return next;
  }

  private void leave(LogRequest request) {
    depth.decrementAndGet();
    bytes.addAndGet(-request.queuedBytes());
  }

  private void tellSucceeded(LogRequest request) {
    try {
      request.completion().succeeded(drive);
    } catch (RuntimeException e) {
      LOG.error("drive {}: a completion threw", drive, e);
    }
  }

  private void tellFailed(List<LogRequest> requests, ShardFault fault, String why) {
    for (LogRequest request : requests) {
      try {
        request.completion().failed(new ShardException(fault, drive + ": " + why));
      } catch (RuntimeException e) {
        LOG.error("drive {}: a completion threw", drive, e);
      }
    }
  }

  /** The next request; null when stopping and none is left. */
  private @Nullable LogRequest take() {
    while (true) {
      LogRequest next = waiting.poll();
      if (next != null) {
        return next;
      }
      isParked = true;
      if (waiting.isEmpty()) {
        if (!isStopping) {
          LockSupport.park(this);
        } else if (depth.get() == 0) {
          return null;
        } else {
          LockSupport.parkNanos(this, OFFER_NANOS);
        }
      }
      isParked = false;
    }
  }
}
