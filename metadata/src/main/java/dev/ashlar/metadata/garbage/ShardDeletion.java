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

/** Deletes on several drives at once; knows in the end of which blobs something is left. */
final class ShardDeletion {
  private final Phaser pending = new Phaser(1);
  private final List<DriveDeletion> deletions = new ArrayList<>();

  /**
   * @param store null for a drive that is not reachable: all of it is left
   */
  void delete(@Nullable ShardStore store, List<BlobId> blobs) {
    DriveDeletion deletion = new DriveDeletion(blobs);
    deletions.add(deletion);
    if (store != null) {
      pending.register();
      store.delete(blobs, deletion);
    }
  }

  /** Waits until it has ended on all drives or the time is over. */
  Set<BlobId> awaitWhatIsLeft(Duration timeout) throws InterruptedException {
    try {
      pending.awaitAdvanceInterruptibly(pending.arrive(), timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      // What has not been acknowledged by now counts as left, and is deleted again later.
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
