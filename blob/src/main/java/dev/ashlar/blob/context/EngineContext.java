package dev.ashlar.blob.context;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.memory.SlabPool;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Configuration, clients, memory and metrics that all operations of an engine share.
 *
 * @param memory what requests may hold of the pool
 * @param drives the drive of this id, or null when it cannot be reached
 * @param suspects gets the shards that reads did not find as they should be
 */
public record EngineContext(
    EngineConfig config,
    MetadataClient metadata,
    Function<UUID, @Nullable ShardStore> drives,
    ErasureCodes codes,
    SlabPool pool,
    EngineMetrics metrics,
    MemoryBudget memory,
    Hedging hedging,
    AbortedWriteCleaner leftovers,
    SuspectShardQueue suspects) {}
