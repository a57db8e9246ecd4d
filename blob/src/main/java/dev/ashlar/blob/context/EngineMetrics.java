package dev.ashlar.blob.context;

import dev.ashlar.codec.checksum.Md5Lanes;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;

/** Counters of an engine. */
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
    encodedBytes = Meters.bytes(registry, "ashlar.blob.encoded", "Data bytes erasure-coded");
    rebuiltReads =
        counter(
            "ashlar.blob.rebuilt.reads", "Shard ranges rebuilt from other drives to answer a read");
    hedges = counter("ashlar.blob.hedges", "Times other drives were asked because some were late");
    hedgesWon = counter("ashlar.blob.hedges.won", "Hedges in which the others answered first");
    hedgeReads = counter("ashlar.blob.hedges.reads", "Drive reads added by hedging");
    hedgesWithoutBudget = refusedHedges("budget");
    hedgesWithoutMemory = refusedHedges("memory");
    indebtedSlots =
        counter("ashlar.blob.indebted.slots", "Slots that a write left without their shard");
    abandonedBlobs = counter("ashlar.blob.abandoned", "Blobs removed because their request failed");
    abandonedAttempts =
        counter(
            "ashlar.blob.abandoned.attempts",
            "Changes dropped because they lost a race or their request failed");
    conflicts =
        counter(
            "ashlar.blob.conflicts", "Changes that lost a race, including those that were retried");
    folds = counter("ashlar.blob.folds", "Folds of a blob's changes into its shards");
    encodes = changedStripes("encode");
    deltas = changedStripes("delta");
    plannedReads =
        counter("ashlar.blob.changed.stripes.reads", "Drive reads made to change stripes");
    plannedWrites =
        counter("ashlar.blob.changed.stripes.writes", "Drive writes made to change stripes");
    refusedFull = refused("full");
    refusedTooFewDrives = refused("too_few_drives");
  }

  public void watch(Md5Lanes lanes) {
    FunctionCounter.builder("ashlar.blob.md5.steps", lanes, Md5Lanes::calls)
        .description("Steps in which MD5s were computed, of one or several objects at a time")
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

  private Counter counter(String name, String description, String... tags) {
    return Meters.counter(registry, name, description, tags);
  }

  private Counter changedStripes(String mode) {
    return counter("ashlar.blob.changed.stripes", "Stripes changed in part, by mode", "mode", mode);
  }

  private Counter refusedHedges(String reason) {
    return counter(
        "ashlar.blob.hedges.refused",
        "Times late drives were waited for because the hedging budget or memory was used up",
        "reason",
        reason);
  }

  private Counter refused(String reason) {
    return counter(
        "ashlar.blob.refused.writes",
        "Writes refused because too few drives were available or had room",
        "reason",
        reason);
  }
}
