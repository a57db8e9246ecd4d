package dev.ashlar.blob.context;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Configuration, clients, memory and metrics that all operations of an engine share.
 *
 * @param drives the drive of this id, or null if it cannot be reached
 * @param memory how much of the pool requests may hold
 * @param cleaner removes the shards of failed writes
 * @param suspects receives the shards that a read found damaged or missing
 */
public record EngineContext(
    EngineConfig config,
    MetadataClient metadata,
    Function<UUID, @Nullable ShardStore> drives,
    SessionIds ids,
    ErasureCodes codes,
    SlabPool pool,
    MemoryBudget memory,
    EngineMetrics metrics,
    Hedging hedging,
    AbortedWriteCleaner cleaner,
    SuspectShardQueue suspects) {
  /** The same with other metrics and hedging. */
  public EngineContext with(EngineMetrics otherMetrics, Hedging otherHedging) {
    return new EngineContext(
        config,
        metadata,
        drives,
        ids,
        codes,
        pool,
        memory,
        otherMetrics,
        otherHedging,
        cleaner,
        suspects);
  }

  /** Ids of new blobs and attempts, each unique in its metadata session. For many threads. */
  public static final class SessionIds {
    private final MetadataClient metadata;
    private final AtomicLong sequence = new AtomicLong();

    public SessionIds(MetadataClient metadata) {
      this.metadata = metadata;
    }

    /**
     * @param profile the number of the blob's profile
     */
    public BlobId nextBlob(int profile) {
      return BlobId.of(metadata.session(), profile, sequence.getAndIncrement());
    }

    public AttemptId nextAttempt() {
      return new AttemptId(metadata.session(), sequence.getAndIncrement());
    }
  }
}
