package dev.ashlar.blob.context;

import dev.ashlar.codec.checksum.Md5Lanes;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;

/** What the engine counts. */
public final class EngineMetrics {
  public final Counter encodedBytes;
  public final Counter rebuiltReads;
  public final Counter hedges;
  public final Counter hedgesWon;
  public final Counter hedgeReads;
  public final Counter hedgesWithoutBudget;
  public final Counter hedgesWithoutMemory;
  public final Counter indebtedSlots;
  public final Counter abandonedBlobs;
  public final Counter abandonedAttempts;
  public final Counter conflicts;
  public final Counter folds;
  private final Counter encodes;
  private final Counter deltas;
  private final Counter plannedReads;
  private final Counter plannedWrites;
  private final MeterRegistry registry;
  private final Counter refusedFull;
  private final Counter refusedTooFewDrives;

  public EngineMetrics(MeterRegistry registry) {
    this.registry = registry;
    encodedBytes =
        Counter.builder("ashlar.blob.encoded")
            .baseUnit("bytes")
            .description("Data bytes that were erasure-coded")
            .register(registry);
    rebuiltReads =
        Counter.builder("ashlar.blob.rebuilt.reads")
            .description("Shard ranges that were rebuilt from other drives to answer a read")
            .register(registry);
    hedges =
        Counter.builder("ashlar.blob.hedges")
            .description("Times that other drives were asked because some were late")
            .register(registry);
    hedgesWon =
        Counter.builder("ashlar.blob.hedges.won")
            .description("Of these, those in which the others answered first")
            .register(registry);
    hedgeReads =
        Counter.builder("ashlar.blob.hedges.reads")
            .description("Reads of the budget that these took")
            .register(registry);
    hedgesWithoutBudget = refusedHedges(registry, "budget");
    hedgesWithoutMemory = refusedHedges(registry, "memory");
    indebtedSlots =
        Counter.builder("ashlar.blob.indebted.slots")
            .description("Slots that were left without their shard by a write")
            .register(registry);
    abandonedBlobs =
        Counter.builder("ashlar.blob.abandoned")
            .description("Blobs removed because their request failed")
            .register(registry);
    abandonedAttempts =
        Counter.builder("ashlar.blob.abandoned.attempts")
            .description(
                "Changes of a blob dropped because they lost a race or their request failed")
            .register(registry);
    conflicts =
        Counter.builder("ashlar.blob.conflicts")
            .description("Changes that lost a race, those that were tried again included")
            .register(registry);
    folds =
        Counter.builder("ashlar.blob.folds")
            .description("Times that changes of a blob were made part of its shards")
            .register(registry);
    encodes = changedStripes(registry, "encode");
    deltas = changedStripes(registry, "delta");
    plannedReads =
        Counter.builder("ashlar.blob.changed.stripes.reads")
            .description("Drive reads that changing stripes takes")
            .register(registry);
    plannedWrites =
        Counter.builder("ashlar.blob.changed.stripes.writes")
            .description("Drive writes that changing stripes takes")
            .register(registry);
    refusedFull = refused(registry, "full");
    refusedTooFewDrives = refused(registry, "too_few_drives");
  }

  public void watch(Md5Lanes lanes) {
    FunctionCounter.builder("ashlar.blob.md5.steps", lanes, Md5Lanes::calls)
        .description("Steps in which the MD5s of one or several objects were computed")
        .register(registry);
    FunctionCounter.builder("ashlar.blob.md5.lanes", lanes, Md5Lanes::lanesFilled)
        .description("Objects in all these steps, at most 16 in each")
        .register(registry);
  }

  /** Counts a stripe that is changed, by encoding it or by sending deltas. */
  public void stripeChanged(boolean isEncoded, int driveReads, int driveWrites) {
    (isEncoded ? encodes : deltas).increment();
    plannedReads.increment(driveReads);
    plannedWrites.increment(driveWrites);
  }

  public Counter refused(boolean isFull) {
    return isFull ? refusedFull : refusedTooFewDrives;
  }

  private static Counter changedStripes(MeterRegistry registry, String mode) {
    return Counter.builder("ashlar.blob.changed.stripes")
        .tag("mode", mode)
        .description("Stripes changed in part, by how")
        .register(registry);
  }

  private static Counter refusedHedges(MeterRegistry registry, String reason) {
    return Counter.builder("ashlar.blob.hedges.refused")
        .tag("reason", reason)
        .description("Times that late drives were waited for, for want of budget or memory")
        .register(registry);
  }

  private static Counter refused(MeterRegistry registry, String reason) {
    return Counter.builder("ashlar.blob.refused.writes")
        .tag("reason", reason)
        .description("Writes that did not find the drives they need")
        .register(registry);
  }
}
