package dev.ashlar.metadata.garbage;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.message.AttemptRow;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongPredicate;

/**
 * Discards the intents of attempts of dead sessions that no blob lists from a drive. Attempts that
 * a blob lists are committed, and their intents are needed until they are folded.
 */
final class DeadAttempts {
  private final MetadataClient metadata;
  private final ShardStore store;
  private final long below;
  private final LongPredicate isDead;
  private final Duration dropTimeout;

  /**
   * @param below only sessions below it are examined
   * @param isDead whether nothing of a session can be committed any more
   */
  DeadAttempts(
      MetadataClient metadata,
      ShardStore store,
      long below,
      LongPredicate isDead,
      Duration dropTimeout) {
    this.metadata = metadata;
    this.store = store;
    this.below = below;
    this.isDead = isDead;
    this.dropTimeout = dropTimeout;
  }

  /**
   * Returns how many attempts were discarded; those that the drive refuses stay until the next
   * sweep.
   */
  long drop() throws ShardException, MetadataUnavailableException, InterruptedException {
    long dropped = 0;
    while (true) {
      List<DiscardIntent> found = find();
      List<DiscardIntent> dead = new ArrayList<>();
      for (int from = 0; from < found.size(); from += DeadSessionSweep.SWEEP_BATCH) {
        int to = Math.min(found.size(), from + DeadSessionSweep.SWEEP_BATCH);
        dead.addAll(unlisted(found.subList(from, to)));
      }
      boolean isDropped = dead.isEmpty() || drop(dead);
      dropped += isDropped ? dead.size() : 0;
      boolean isMore = found.size() == DeadSessionSweep.ORPHANS_MAX && !dead.isEmpty();
      if (!isDropped || !isMore) {
        return dropped;
      }
    }
  }

  private List<DiscardIntent> find() throws ShardException, InterruptedException {
    List<DiscardIntent> found = new ArrayList<>();
    store.forEachAttemptBelow(
        below,
        (blob, attempt) -> {
          if (found.size() < DeadSessionSweep.ORPHANS_MAX && isDead.test(attempt.session())) {
            found.add(new DiscardIntent(blob, attempt));
          }
        });
    if (Thread.interrupted()) {
      throw new InterruptedException("sweep");
    }
    return found;
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

  private boolean drop(List<DiscardIntent> dead) throws InterruptedException {
    Dropping dropping = new Dropping();
    store.drop(dead, dropping);
    return dropping.done.await(dropTimeout.toNanos(), TimeUnit.NANOSECONDS) && dropping.isDropped;
  }

  private static final class Dropping implements Completion<DriveId> {
    private final CountDownLatch done = new CountDownLatch(1);
    private volatile boolean isDropped;

    @Override
    public void succeeded(DriveId drive) {
      isDropped = true;
      done.countDown();
    }

    @Override
    public void failed(ShardException failure) {
      done.countDown();
    }
  }
}
