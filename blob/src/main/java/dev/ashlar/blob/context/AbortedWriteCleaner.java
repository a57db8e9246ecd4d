package dev.ashlar.blob.context;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
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
 * Removes the shards and intents of failed writes from drives. What a drive refuses because it is
 * overloaded, full or hung is retried. The number of waiting entries is bounded: the sweep of dead
 * sessions finds the rest after the next start.
 */
public final class AbortedWriteCleaner implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(AbortedWriteCleaner.class);
  private static final Duration INTERVAL = Duration.ofSeconds(1);
  private static final int CALL_BLOBS_MAX = 500;

  private final Function<UUID, @Nullable ShardStore> drives;
  private final int waitingMax;
  private final Queue<Removal> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waitingCount = new AtomicInteger();
  private final BackgroundLoop loop = new BackgroundLoop("aborted-write-cleaner", INTERVAL);

  /** A removal of a blob's shards, or of one attempt's intents for them. */
  private record Removal(UUID drive, BlobId blob, @Nullable AttemptId attempt) {}

  /**
   * @param drives the drive of this id, or null if it cannot be reached
   * @param waitingMax shards that may wait for a retry
   */
  public AbortedWriteCleaner(Function<UUID, @Nullable ShardStore> drives, int waitingMax) {
    this.drives = drives;
    this.waitingMax = waitingMax;
  }

  /** Retries in the background until it is closed. */
  public void start() {
    loop.start(this::retry);
  }

  /** Shards that wait for a retry. */
  public int waiting() {
    return waitingCount.get();
  }

  /** Removes the blob's shard, after everything that the drive has queued. */
  public void remove(ShardStore store, BlobId blob) {
    remove(store, List.of(new Removal(store.drive().id(), blob, null)));
  }

  /** Discards the attempt's intents for the blob's shard. */
  public void drop(ShardStore store, BlobId blob, AttemptId attempt) {
    drop(store, List.of(new Removal(store.drive().id(), blob, attempt)));
  }

  /** Retries each waiting removal once. */
  public void retry() {
    Map<UUID, List<Removal>> byDrive = new HashMap<>();
    for (int count = waitingCount.get(); count > 0; count--) {
      Removal next = waiting.poll();
      if (next == null) {
        break;
      }
      waitingCount.decrementAndGet();
      byDrive.computeIfAbsent(next.drive(), id -> new ArrayList<>()).add(next);
    }
    byDrive.forEach(this::retryOrKeep);
  }

  private void retryOrKeep(UUID drive, List<Removal> removals) {
    try {
      retry(drive, removals);
    } catch (RuntimeException e) {
      LOG.warn("Removing shards of failed writes from drive {} failed; will retry", drive, e);
      removals.forEach(this::add);
    }
  }

  private void retry(UUID drive, List<Removal> removals) {
    ShardStore store = drives.apply(drive);
    if (store != null) {
      for (int from = 0; from < removals.size(); from += CALL_BLOBS_MAX) {
        List<Removal> some =
            removals.subList(from, Math.min(removals.size(), from + CALL_BLOBS_MAX));
        remove(store, some.stream().filter(each -> each.attempt() == null).toList());
        drop(store, some.stream().filter(each -> each.attempt() != null).toList());
      }
    }
  }

  private void remove(ShardStore store, List<Removal> removals) {
    if (!removals.isEmpty()) {
      store.delete(removals.stream().map(Removal::blob).toList(), new Retry(removals));
    }
  }

  private void drop(ShardStore store, List<Removal> removals) {
    List<DiscardIntent> drops = new ArrayList<>();
    for (Removal each : removals) {
      if (each.attempt() != null) {
        drops.add(new DiscardIntent(each.blob(), each.attempt()));
      }
    }
    if (!drops.isEmpty()) {
      store.drop(drops, new Retry(removals));
    }
  }

  /** Keeps removals that the drive refused for now. */
  private final class Retry implements Completion<DriveId> {
    private final List<Removal> removals;

    Retry(List<Removal> removals) {
      this.removals = removals;
    }

    @Override
    public void succeeded(DriveId result) {}

    @Override
    public void failed(ShardException failure) {
      if (isTemporary(failure.fault())) {
        removals.forEach(AbortedWriteCleaner.this::add);
      }
    }
  }

  /** A failed drive stays read-only until a restart, which sweeps it. */
  private static boolean isTemporary(ShardFault fault) {
    return switch (fault) {
      case OVERLOADED, FULL, UNAVAILABLE -> true;
      case MISSING, CORRUPT, IO_ERROR, READ_ONLY, REVISION_GONE -> false;
    };
  }

  private void add(Removal each) {
    if (waitingCount.incrementAndGet() > waitingMax) {
      waitingCount.decrementAndGet();
    } else {
      waiting.add(each);
    }
  }

  /** Ends the background thread. */
  @Override
  public void close() {
    loop.close();
  }
}
