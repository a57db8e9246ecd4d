package dev.ashlar.metadata.garbage;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.model.BlobId;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Receives the names of a drive's shards and keeps those that metadata does not know, up to a
 * maximum. It asks metadata in batches and pauses between them, so that a search through a whole
 * drive takes a fifth of one core at most.
 */
final class OrphanSearch implements Consumer<BlobId> {
  private static final int REST_FACTOR = 4;

  private final MetadataClient metadata;
  private final UUID drive;
  private final LongPredicate isDead;
  private final int orphansMax;
  private final List<BlobId> unasked = new ArrayList<>();
  private final List<BlobId> orphans = new ArrayList<>();
  private @Nullable MetadataUnavailableException failure;
  private long workingSinceNanos = System.nanoTime();

  /**
   * @param isDead whether nothing of this session can be committed any more; shards of others are
   *     skipped
   */
  OrphanSearch(MetadataClient metadata, UUID drive, LongPredicate isDead, int orphansMax) {
    this.metadata = metadata;
    this.drive = drive;
    this.isDead = isDead;
    this.orphansMax = orphansMax;
  }

  @Override
  public void accept(BlobId id) {
    boolean isWanted = failure == null && !isFull() && isDead.test(id.session());
    if (isWanted && !Thread.currentThread().isInterrupted()) {
      unasked.add(id);
      if (unasked.size() == DeadSessionSweep.SWEEP_BATCH) {
        ask();
        rest();
      }
    }
  }

  /** Whether there may be more orphans than were kept. */
  boolean isFull() {
    return orphans.size() >= orphansMax;
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
