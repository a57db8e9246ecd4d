package dev.ashlar.metadata.garbage;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.model.BlobId;
import java.time.Duration;
import java.util.List;
import java.util.function.LongPredicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes orphans of dead sessions from a drive: shards that metadata does not know, and attempts
 * that no blob lists. The end of a session must be committed in Raft before, so that nothing of it
 * can be committed during the sweep.
 */
public final class DeadSessionSweep {
  private static final Logger LOG = LoggerFactory.getLogger(DeadSessionSweep.class);
  static final int SWEEP_BATCH = 1000;

  /** The maximum of orphans kept in memory; if there are more, the drive is searched again. */
  static final int ORPHANS_MAX = 20_000;

  private final MetadataClient metadata;
  private final Duration deleteTimeout;

  /**
   * @param deleteTimeout how long it waits for a drive; the rest stays until the next sweep
   */
  public DeadSessionSweep(MetadataClient metadata, Duration deleteTimeout) {
    this.metadata = metadata;
    this.deleteTimeout = deleteTimeout;
  }

  /**
   * Sweeps a drive on the caller's thread, which may take long.
   *
   * @param below only sessions below it are examined
   * @param isDead which of them are dead
   * @return the number of orphaned blobs and attempts
   */
  public long sweep(ShardStore store, long below, LongPredicate isDead)
      throws MetadataUnavailableException, InterruptedException {
    long orphans = 0;
    try {
      orphans += sweepBlobs(store, below, isDead);
      orphans += new DeadAttempts(metadata, store, below, isDead, deleteTimeout).drop();
    } catch (ShardException e) {
      LOG.warn("Sweep of drive {} failed: {}", store.drive(), e.getMessage());
    }
    return orphans;
  }

  private long sweepBlobs(ShardStore store, long below, LongPredicate isDead)
      throws ShardException, MetadataUnavailableException, InterruptedException {
    long deleted = 0;
    boolean isMore = true;
    while (isMore) {
      OrphanSearch search = new OrphanSearch(metadata, store.drive().id(), isDead, ORPHANS_MAX);
      store.forEachBlobBelow(below, search);
      if (Thread.interrupted()) {
        throw new InterruptedException("sweep");
      }
      long gone = delete(store, search.orphans());
      deleted += gone;
      isMore = search.isFull() && gone > 0;
    }
    return deleted;
  }

  private long delete(ShardStore store, List<BlobId> orphans) throws InterruptedException {
    long deleted = 0;
    for (int from = 0; from < orphans.size(); from += SWEEP_BATCH) {
      List<BlobId> batch = orphans.subList(from, Math.min(orphans.size(), from + SWEEP_BATCH));
      ShardDeletion deletion = new ShardDeletion();
      deletion.delete(store, batch);
      deleted += batch.size() - deletion.awaitWhatIsLeft(deleteTimeout).size();
    }
    return deleted;
  }
}
