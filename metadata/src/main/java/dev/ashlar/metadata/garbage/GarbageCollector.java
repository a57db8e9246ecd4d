package dev.ashlar.metadata.garbage;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.message.EndSessions;
import dev.ashlar.protocol.message.ForgetBlobs;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Deletes the shards of blobs without references, then their rows. A row stays while any drive of
 * the blob's placement group may still have a shard, so that no shard remains on a drive that was
 * down. One thread at a time may collect.
 *
 * <p>It processes garbage from the oldest to the newest and continues there, so that blobs that
 * could not be deleted do not delay others; after a pause it starts again with the oldest. While a
 * restore from a backup is not accepted, it deletes nothing.
 */
public final class GarbageCollector {
  private final MetadataClient metadata;
  private final Function<UUID, @Nullable ShardStore> drives;
  private final Clock clock;
  private final GarbageConfig config;
  private final Counter collected;
  private final LongSupplier oldestReadMs;

  /** The last blob that was processed. */
  private @Nullable BlobRow position;

  /** When to start again because of blobs that were left; 0: none was. */
  private long retryAtMs;

  /** Older garbage has been tried before. */
  private long triedBeforeMs;

  /**
   * @param drives the store of a drive, or null while it is not reachable
   * @param oldestReadMs the start of the oldest running read; now, if none is running
   */
  public GarbageCollector(
      MetadataClient metadata,
      Function<UUID, @Nullable ShardStore> drives,
      LongSupplier oldestReadMs,
      Clock clock,
      GarbageConfig config,
      MeterRegistry meters) {
    this.metadata = metadata;
    this.drives = drives;
    this.oldestReadMs = oldestReadMs;
    this.clock = clock;
    this.config = config;
    this.collected =
        Counter.builder("ashlar.garbage.blobs")
            .description("Blobs without references that were deleted")
            .register(meters);
  }

  /**
   * One round.
   *
   * @return how many blobs are gone
   */
  public int collect() throws MetadataUnavailableException, InterruptedException {
    long nowMs = clock.millis();
    List<BlobRow> found =
        metadata.garbage(removableBeforeMs(nowMs), position, config.blobsPerRoundMax());
    if (found.isEmpty() && retryAtMs > 0 && retryAtMs <= nowMs) {
      position = null;
      retryAtMs = 0;
      found = metadata.garbage(removableBeforeMs(nowMs), null, config.blobsPerRoundMax());
    }
    if (found.isEmpty() || metadata.registry().getRestored()) {
      return 0;
    }
    position = found.getLast();
    List<BlobRow> due = found.stream().filter(this::isWorthATry).toList();
    triedBeforeMs = Math.max(triedBeforeMs, position.getUnreferencedAtMs());
    int removed = 0;
    try {
      removed = remove(due);
    } finally {
      if (removed < found.size() && retryAtMs == 0) {
        retryAtMs = nowMs + config.retryDelay().toMillis();
      }
    }
    return removed;
  }

  /**
   * Garbage from before this time can be removed: a read may need blobs that were referenced when
   * it began, or a little earlier when it looked them up.
   */
  private long removableBeforeMs(long nowMs) {
    long held = nowMs - config.heldByReadMax().toMillis();
    return Math.max(Math.min(oldestReadMs.getAsLong(), nowMs), held) - config.grace().toMillis();
  }

  /**
   * Whether to try a blob: a retry is pointless while a drive that has to delete its shard is down.
   */
  private boolean isWorthATry(BlobRow blob) {
    return blob.getUnreferencedAtMs() >= triedBeforeMs
        || metadata.placement(blob.getEpoch()).holders(blob).stream()
            .allMatch(drive -> drives.apply(drive) != null);
  }

  private int remove(List<BlobRow> blobs)
      throws MetadataUnavailableException, InterruptedException {
    Set<BlobId> left = deleteShards(blobs).awaitWhatIsLeft(config.deleteTimeout());
    ForgetBlobs.Builder forget = ForgetBlobs.newBuilder();
    for (BlobRow blob : blobs) {
      if (names(blob).noneMatch(left::contains)) {
        forget.addBlobs(blob.getId());
      }
    }
    if (forget.getBlobsCount() > 0) {
      metadata.submit(Command.newBuilder().setForgetBlobs(forget));
      collected.increment(forget.getBlobsCount());
    }
    return forget.getBlobsCount();
  }

  /** The names under which drives may have shards of the blob. */
  private static Stream<BlobId> names(BlobRow blob) {
    return Stream.concat(
        Stream.of(BlobId.of(blob.getId())),
        blob.getRebuiltList().stream().map(shard -> BlobId.of(shard.getName())));
  }

  /** The drives that are down or failed, and out: the collector does not wait for them. */
  private Set<UUID> out(Set<UUID> asked) throws MetadataUnavailableException {
    if (asked.stream().noneMatch(this::isAway)) {
      return Set.of();
    }
    return metadata.registry().getDrivesList().stream()
        .filter(row -> row.getStanding() == DriveStanding.STANDING_OUT)
        .map(row -> DriveId.of(row).id())
        .filter(this::isAway)
        .collect(Collectors.toUnmodifiableSet());
  }

  private boolean isAway(UUID drive) {
    ShardStore store = drives.apply(drive);
    ShardFault refusal = store == null ? ShardFault.UNAVAILABLE : store.writeRefusal();
    return refusal == ShardFault.UNAVAILABLE || refusal == ShardFault.READ_ONLY;
  }

  private ShardDeletion deleteShards(List<BlobRow> blobs) throws MetadataUnavailableException {
    Map<UUID, List<BlobId>> byDrive = new HashMap<>();
    for (BlobRow blob : blobs) {
      for (UUID drive : metadata.placement(blob.getEpoch()).holders(blob)) {
        names(blob).forEach(byDrive.computeIfAbsent(drive, id -> new ArrayList<>())::add);
      }
    }
    ShardDeletion deletion = new ShardDeletion();
    Set<UUID> out = out(byDrive.keySet());
    byDrive.forEach(
        (drive, ids) -> {
          if (!out.contains(drive)) {
            deletion.delete(drives.apply(drive), ids);
          }
        });
    return deletion;
  }

  /**
   * Ends all sessions before this client's, and then deletes their uncommitted shards and intents
   * from these drives. In this order, so that nothing that is being deleted can still be committed.
   * Call it when no earlier process can write any more.
   *
   * @return the number of orphaned blobs and attempts
   */
  public long sweepDeadSessions(Collection<? extends ShardStore> stores)
      throws MetadataUnavailableException, InterruptedException {
    long present = metadata.session();
    metadata.submit(
        Command.newBuilder().setEndSessions(EndSessions.newBuilder().setBelow(present)));
    DeadSessionSweep sweep = new DeadSessionSweep(metadata, config.deleteTimeout());
    LongPredicate isDead = session -> Long.compareUnsigned(session, present) < 0;
    long orphans = 0;
    for (ShardStore store : stores) {
      orphans += sweep.sweep(store, present, isDead);
    }
    return orphans;
  }
}
