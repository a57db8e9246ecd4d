package dev.ashlar.metadata.garbage;

import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.message.AttemptRow;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes orphans of dead sessions from a drive: shards that metadata does not know, and attempts
 * that no blob lists. The end of a session must be committed in Raft before, so that nothing of it
 * can be committed during the sweep.
 *
 * <p>After a restore from a backup, metadata does not know what was written later. Nothing is
 * deleted until an operator has accepted that loss.
 */
public final class DeadSessionSweep {
  private static final Logger LOG = LoggerFactory.getLogger(DeadSessionSweep.class);
  private static final int BATCH = 1000;

  /** The maximum of orphans kept in memory; if there are more, the drive is searched again. */
  static final int ORPHANS_MAX = 20_000;

  /** Metadata is asked for a fifth of the time at most, so that a search takes little CPU. */
  private static final int REST_FACTOR = 4;

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
   * @param isDead which of them are dead: nothing of them can be committed any more
   * @return the number of orphaned blobs and attempts
   */
  public long sweep(ShardStore store, long below, LongPredicate isDead)
      throws MetadataUnavailableException, InterruptedException {
    long orphans = 0;
    try {
      orphans += sweepBlobs(store, below, isDead);
      orphans += sweepAttempts(store, below, isDead);
    } catch (ShardException e) {
      LOG.warn("Sweep of drive {} failed: {}", store.drive(), e.getMessage());
    }
    return orphans;
  }

  /** Asked before each deletion: a sweep may take hours, and metadata may be restored meanwhile. */
  private boolean mayNotDelete() throws MetadataUnavailableException {
    return metadata.registry().getRestored();
  }

  private static <T> List<List<T>> batches(List<T> all) {
    List<List<T>> batches = new ArrayList<>();
    for (int from = 0; from < all.size(); from += BATCH) {
      batches.add(all.subList(from, Math.min(all.size(), from + BATCH)));
    }
    return batches;
  }

  private static void requireUninterrupted() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException("sweep");
    }
  }

  // ---- Blobs ----

  private long sweepBlobs(ShardStore store, long below, LongPredicate isDead)
      throws ShardException, MetadataUnavailableException, InterruptedException {
    long deleted = 0;
    boolean isMore = true;
    while (isMore) {
      OrphanSearch search = new OrphanSearch(store.drive().id(), isDead);
      store.forEachBlobBelow(below, search);
      requireUninterrupted();
      long gone = 0;
      for (List<BlobId> batch : batches(search.orphans())) {
        if (mayNotDelete()) {
          return deleted + gone;
        }
        ShardDeletion deletion = new ShardDeletion();
        deletion.delete(store, batch);
        gone += batch.size() - deletion.awaitWhatIsLeft(deleteTimeout).size();
      }
      deleted += gone;
      isMore = search.isFull() && gone > 0;
    }
    return deleted;
  }

  /** Receives the names of a drive's shards and keeps those that metadata does not know. */
  private final class OrphanSearch implements Consumer<BlobId> {
    private final UUID drive;
    private final LongPredicate isDead;
    private final List<BlobId> unasked = new ArrayList<>();
    private final List<BlobId> orphans = new ArrayList<>();
    private @Nullable MetadataUnavailableException failure;
    private long workingSinceNanos = System.nanoTime();

    OrphanSearch(UUID drive, LongPredicate isDead) {
      this.drive = drive;
      this.isDead = isDead;
    }

    @Override
    public void accept(BlobId id) {
      boolean isWanted = failure == null && !isFull() && isDead.test(id.session());
      if (isWanted && !Thread.currentThread().isInterrupted()) {
        unasked.add(id);
        if (unasked.size() == BATCH) {
          ask();
          rest();
        }
      }
    }

    /** Whether there may be more orphans than were kept. */
    boolean isFull() {
      return orphans.size() >= ORPHANS_MAX;
    }

    private void ask() {
      try {
        Set<BlobId> known = metadata.neededShards(drive, unasked);
        unasked.stream().filter(id -> !known.contains(id)).forEach(orphans::add);
        unasked.clear();
      } catch (MetadataUnavailableException e) {
        failure = e;
      }
    }

    private void rest() {
      try {
        TimeUnit.NANOSECONDS.sleep(REST_FACTOR * (System.nanoTime() - workingSinceNanos));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      workingSinceNanos = System.nanoTime();
    }

    List<BlobId> orphans() throws MetadataUnavailableException {
      if (failure == null) {
        ask();
      }
      if (failure != null) {
        throw failure;
      }
      return orphans;
    }
  }

  // ---- Attempts ----

  /**
   * Discards the intents of dead attempts that no blob lists. Those that a blob lists are
   * committed, and their intents are needed until they are folded; those that the drive refuses to
   * discard stay until the next sweep.
   */
  private long sweepAttempts(ShardStore store, long below, LongPredicate isDead)
      throws ShardException, MetadataUnavailableException, InterruptedException {
    long dropped = 0;
    while (true) {
      List<DiscardIntent> found = new ArrayList<>();
      store.forEachAttemptBelow(
          below,
          (blob, attempt) -> {
            if (found.size() < ORPHANS_MAX && isDead.test(attempt.session())) {
              found.add(new DiscardIntent(blob, attempt));
            }
          });
      requireUninterrupted();
      List<DiscardIntent> dead = new ArrayList<>();
      for (List<DiscardIntent> batch : batches(found)) {
        dead.addAll(unlisted(batch));
      }
      if (mayNotDelete()) {
        return dropped;
      }
      boolean isDropped = dead.isEmpty() || drop(store, dead);
      dropped += isDropped ? dead.size() : 0;
      boolean isMore = found.size() == ORPHANS_MAX && !dead.isEmpty();
      if (!isDropped || !isMore) {
        return dropped;
      }
    }
  }

  private List<DiscardIntent> unlisted(List<DiscardIntent> some)
      throws MetadataUnavailableException {
    Set<DiscardIntent> listed = new HashSet<>();
    for (BlobRow row : metadata.blobs(some.stream().map(DiscardIntent::blob).distinct().toList())) {
      for (AttemptRow attempt : row.getAttemptsList()) {
        for (int slot : attempt.getSlotsList()) {
          listed.add(new DiscardIntent(ShardId.name(row, slot), AttemptId.of(attempt.getId())));
        }
      }
    }
    return some.stream().filter(drop -> !listed.contains(drop)).toList();
  }

  private boolean drop(ShardStore store, List<DiscardIntent> dead) throws InterruptedException {
    ShardDeletion deletion = new ShardDeletion();
    store.drop(dead, deletion.of(dead.stream().map(DiscardIntent::blob).toList()));
    return deletion.awaitWhatIsLeft(deleteTimeout).isEmpty();
  }
}
