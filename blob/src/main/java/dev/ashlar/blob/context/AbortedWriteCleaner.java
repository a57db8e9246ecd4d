package dev.ashlar.blob.context;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.process.BackgroundThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes from drives what failed writes left there. What a drive refuses for now, because it is
 * overloaded, full or hangs, is tried again; so many at most, and what is beyond that the sweep of
 * the next start finds.
 */
public final class AbortedWriteCleaner implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(AbortedWriteCleaner.class);
  private static final Duration INTERVAL = Duration.ofSeconds(1);
  private static final int CALL_BLOBS_MAX = 500;

  private final Function<UUID, @Nullable ShardStore> drives;
  private final int waitingMax;
  private final Queue<Left> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waitingCount = new AtomicInteger();
  private @Nullable BackgroundThread worker;

  /** A blob's shards, or only what an attempt wrote for them. */
  private record Left(UUID drive, BlobId blob, @Nullable AttemptId attempt) {}

  /**
   * @param drives the drive of this id, or null when it cannot be reached
   * @param waitingMax shards that may wait for another try
   */
  public AbortedWriteCleaner(Function<UUID, @Nullable ShardStore> drives, int waitingMax) {
    this.drives = drives;
    this.waitingMax = waitingMax;
  }

  /** Tries again in the background until it is closed. */
  public void start() {
    worker = BackgroundThread.start("leftovers", this::run);
  }

  /** Shards that wait for another try. */
  public int waiting() {
    return waitingCount.get();
  }

  /** Removes the blob's shard behind what the drive has queued. */
  public void remove(ShardStore store, BlobId blob) {
    remove(store, List.of(new Left(store.drive().id(), blob, null)));
  }

  /** Drops what the attempt wrote for the blob's shard. */
  public void drop(ShardStore store, BlobId blob, AttemptId attempt) {
    drop(store, List.of(new Left(store.drive().id(), blob, attempt)));
  }

  /** Tries once again to remove what waits. */
  public void retry() {
    Map<UUID, List<Left>> byDrive = new HashMap<>();
    for (int left = waitingCount.get(); left > 0; left--) {
      Left next = waiting.poll();
      if (next == null) {
        break;
      }
      waitingCount.decrementAndGet();
      byDrive.computeIfAbsent(next.drive(), id -> new ArrayList<>()).add(next);
    }
    byDrive.forEach(this::retryOrKeep);
  }

  private void retryOrKeep(UUID drive, List<Left> lefts) {
    try {
      retry(drive, lefts);
    } catch (RuntimeException e) {
      LOG.warn("leftovers stay on drive {}", drive, e);
      lefts.forEach(this::add);
    }
  }

  private void retry(UUID drive, List<Left> lefts) {
    ShardStore store = drives.apply(drive);
    if (store != null) {
      for (int from = 0; from < lefts.size(); from += CALL_BLOBS_MAX) {
        List<Left> some = lefts.subList(from, Math.min(lefts.size(), from + CALL_BLOBS_MAX));
        remove(store, some.stream().filter(left -> left.attempt() == null).toList());
        drop(store, some.stream().filter(left -> left.attempt() != null).toList());
      }
    }
  }

  private void remove(ShardStore store, List<Left> lefts) {
    if (!lefts.isEmpty()) {
      store.delete(lefts.stream().map(Left::blob).toList(), new Removal(lefts));
    }
  }

  private void drop(ShardStore store, List<Left> lefts) {
    List<DiscardIntent> drops = new ArrayList<>();
    for (Left left : lefts) {
      if (left.attempt() != null) {
        drops.add(new DiscardIntent(left.blob(), left.attempt()));
      }
    }
    if (!drops.isEmpty()) {
      store.drop(drops, new Removal(lefts));
    }
  }

  /** Keeps what was refused for now. */
  private final class Removal implements Completion<DriveId> {
    private final List<Left> lefts;

    Removal(List<Left> lefts) {
      this.lefts = lefts;
    }

    @Override
    public void succeeded(DriveId result) {}

    @Override
    public void failed(ShardException failure) {
      if (passes(failure.fault())) {
        lefts.forEach(AbortedWriteCleaner.this::add);
      }
    }
  }

  /** A drive that failed is read-only: only a restart, which sweeps, changes that. */
  private static boolean passes(ShardFault fault) {
    return switch (fault) {
      case OVERLOADED, FULL, UNAVAILABLE -> true;
      case MISSING, CORRUPT, IO_ERROR, READ_ONLY, REVISION_GONE -> false;
    };
  }

  private void add(Left left) {
    if (waitingCount.incrementAndGet() > waitingMax) {
      waitingCount.decrementAndGet();
    } else {
      waiting.add(left);
    }
  }

  private void run() throws InterruptedException {
    while (true) {
      Thread.sleep(INTERVAL);
      retry();
    }
  }

  /** Ends the background thread. */
  @Override
  public void close() {
    BackgroundThread running = worker;
    if (running != null) {
      running.close();
    }
  }
}
