package dev.ashlar.blob.engine;

import dev.ashlar.blob.context.AbortedWriteCleaner;
import dev.ashlar.blob.context.EngineConfig;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.context.EngineContext.SessionIds;
import dev.ashlar.blob.context.EngineMetrics;
import dev.ashlar.blob.context.ErasureCodes;
import dev.ashlar.blob.context.Hedging;
import dev.ashlar.blob.context.Hedging.HedgeConfig;
import dev.ashlar.blob.context.MemoryBudget;
import dev.ashlar.blob.context.SuspectShardQueue;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.memory.SlabPool;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import java.time.Clock;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Assembles an {@link Engine}. Unless said otherwise, reads are not hedged. */
public final class EngineBuilder {
  private static final int REMOVALS_MAX = 100_000;

  private final MetadataClient metadata;
  private final Function<UUID, @Nullable ShardStore> drives;
  private final ErasureCodes codes;
  private final SlabPool slabs;
  private final MemoryBudget memory;
  private MeterRegistry meters = new CompositeMeterRegistry();
  private Clock clock = Clock.systemUTC();
  private Hedging hedging = new Hedging(HedgeConfig.OFF, System::nanoTime);
  private int removalsMax = REMOVALS_MAX;

  /**
   * @param drives the drive of this id, or null if it cannot be reached
   * @param memory how much of the slabs requests may hold
   */
  public EngineBuilder(
      MetadataClient metadata,
      Function<UUID, @Nullable ShardStore> drives,
      ErasureCodes codes,
      SlabPool slabs,
      MemoryBudget memory) {
    this.metadata = metadata;
    this.drives = drives;
    this.codes = codes;
    this.slabs = slabs;
    this.memory = memory;
  }

  public EngineBuilder meters(MeterRegistry registry) {
    meters = registry;
    return this;
  }

  /**
   * @param steady one without jumps
   */
  public EngineBuilder clock(Clock steady) {
    clock = steady;
    return this;
  }

  public EngineBuilder hedging(Hedging ofRequests) {
    hedging = ofRequests;
    return this;
  }

  /**
   * @param max shards of failed writes that may wait to be removed
   */
  public EngineBuilder removalsMax(int max) {
    removalsMax = max;
    return this;
  }

  /** Starts nothing. */
  public Engine build(EngineConfig config) {
    EngineContext context =
        new EngineContext(
            config,
            metadata,
            drives,
            new SessionIds(metadata),
            codes,
            slabs,
            memory,
            new EngineMetrics(meters),
            hedging,
            new AbortedWriteCleaner(drives, removalsMax),
            new SuspectShardQueue());
    return new Engine(context, meters, clock);
  }
}
