package dev.ashlar.metadata.garbage;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Deletes shards on several drives at once, and reports the blobs of which shards may be left. */
final class ShardDeletion {
  private final Phaser pending = new Phaser(1);
  private final List<DriveDeletion> deletions = new ArrayList<>();

  /**
   * @param store null for a drive that cannot be reached: its shards are left
   */
  void delete(@Nullable ShardStore store, List<BlobId> blobs) {
    DriveDeletion deletion = new DriveDeletion(blobs);
    deletions.add(deletion);
    if (store != null) {
      pending.register();
      store.delete(blobs, deletion);
    }
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
    Set<BlobId> left = new HashSet<>();
    for (DriveDeletion deletion : deletions) {
      if (!deletion.isDone) {
        left.addAll(deletion.blobs);
      }
    }
    return left;
  }

  private final class DriveDeletion implements Completion<DriveId> {
    private final List<BlobId> blobs;
    private volatile boolean isDone;

    DriveDeletion(List<BlobId> blobs) {
      this.blobs = blobs;
    }

    @Override
    public void succeeded(DriveId drive) {
      isDone = true;
      pending.arriveAndDeregister();
    }

    @Override
    public void failed(ShardException failure) {
      pending.arriveAndDeregister();
    }
  }
}
