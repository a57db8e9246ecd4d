package dev.ashlar.metadata.garbage;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Deletes shards on several drives at once, and reports the blobs of which shards may be left. */
final class ShardDeletion {
  private final Phaser pending = new Phaser(1);
  private final List<Part> parts = new ArrayList<>();

  /** What one drive deletes. */
  private record Part(List<BlobId> blobs, AtomicBoolean isDone) {
    Part(List<BlobId> blobs) {
      this(blobs, new AtomicBoolean());
    }
  }

  /**
   * @param store null for a drive that cannot be reached: its shards are left
   */
  void delete(@Nullable ShardStore store, List<BlobId> blobs) {
    if (store == null) {
      parts.add(new Part(blobs));
    } else {
      store.delete(blobs, of(blobs));
    }
  }

  /** To be told when a drive has deleted something of these blobs. */
  Completion<DriveId> of(List<BlobId> blobs) {
    Part part = new Part(blobs);
    parts.add(part);
    pending.register();
    return Completion.of(
        drive -> {
          part.isDone().set(true);
          pending.arriveAndDeregister();
        },
        failure -> pending.arriveAndDeregister());
  }

  /**
   * Waits until all drives have finished or the time is over, and returns the blobs with shards
   * left.
   */
  Set<BlobId> awaitWhatIsLeft(Duration timeout) throws InterruptedException {
    try {
      pending.awaitAdvanceInterruptibly(pending.arrive(), timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      // Unacknowledged deletions count as left, and are retried later.
    }
    return parts.stream()
        .filter(part -> !part.isDone().get())
        .flatMap(part -> part.blobs().stream())
        .collect(Collectors.toSet());
  }
}
