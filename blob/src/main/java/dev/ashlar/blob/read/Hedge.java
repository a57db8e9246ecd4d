package dev.ashlar.blob.read;

import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.context.EngineMetrics;
import dev.ashlar.blob.context.RequestMemory;
import dev.ashlar.blob.read.SlotReads.State;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.StripeLayout;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What a window asks other drives for while some are late, beside its own reads. Whatever becomes
 * of it, those go on: a hedge never makes a read fail. Used by one thread.
 */
final class Hedge {
  private final EngineContext engine;
  private final SlotReads slots;
  private final ByteRange[] needed;
  private final RequestMemory memory;
  private final @Nullable ShardRead[] reads;
  private final boolean[] fruitless;
  private boolean isRefused;
  private boolean isGivenUp;
  private long heldBytes;

  Hedge(EngineContext engine, SlotReads slots, ByteRange[] needed, RequestMemory memory) {
    this.engine = engine;
    this.slots = slots;
    this.needed = needed;
    this.memory = memory;
    this.reads = new ShardRead[slots.profile().shards()];
    this.fruitless = new boolean[reads.length];
  }

  /** Whether late drives are an occasion; else they are waited for. */
  boolean mayHelp() {
    return engine.hedging().isOn() && !isGivenUp;
  }

  /** From now on late drives are waited for, and asked for what they were asked for in vain. */
  void giveUp() {
    isGivenUp = true;
    Arrays.fill(fruitless, false);
  }

  /** What has become of asking this slot, if it was asked for this. */
  State look(int slot, ByteRange wanted) {
    ShardRead read = reads[slot];
    if (read == null) {
      return State.LOST;
    }
    if (read.covers(wanted)) {
      if (read.hasArrived()) {
        return State.ARRIVED;
      }
      if (!read.isDone() && !read.isOlderThan(engine.config().driveDeadline().toNanos())) {
        return read.isLate() ? State.LATE : State.UNDER_WAY;
      }
      fruitless[slot] = true;
    }
    drop(slot);
    return State.LOST;
  }

  /** Whether the slot was asked in vain. */
  boolean isFruitless(int slot) {
    return fruitless[slot];
  }

  boolean isFruitless() {
    for (boolean each : fruitless) {
      if (each) {
        return true;
      }
    }
    return false;
  }

  /** Whether nothing was asked, or all in vain. */
  boolean isEmpty() {
    for (ShardRead read : reads) {
      if (read != null) {
        return false;
      }
    }
    return true;
  }

  /** Whether answers may still come. */
  boolean isRunning() {
    for (ShardRead read : reads) {
      if (read != null && !read.isDone()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Asks these slots, if budget and memory carry it; once they do not, this window asks no more.
   *
   * @param free how many of them would have to be asked anyway
   */
  boolean tryAsk(int[] others, int free, ByteRange missing) {
    if (others.length == 0 || isRefused) {
      return false;
    }
    long bytes = Math.max(0, bytesMax(others.length) - heldBytes);
    EngineMetrics metrics = engine.metrics();
    if (!memory.tryHold(bytes)) {
      isRefused = true;
      metrics.hedgesWithoutMemory.increment();
      return false;
    }
    int extra = others.length - free;
    if (!engine.hedging().trySpend(extra)) {
      memory.giveBack(bytes);
      isRefused = true;
      metrics.hedgesWithoutBudget.increment();
      return false;
    }
    heldBytes += bytes;
    for (int slot : others) {
      reads[slot] = slots.send(slot, slots.present(slot, missing));
    }
    metrics.hedges.increment();
    metrics.hedgeReads.increment(extra);
    return true;
  }

  /** Direct memory that it takes beyond its window's. */
  private long bytesMax(int others) {
    StripeLayout layout = slots.layout();
    int slabs = slots.count() + others;
    for (ShardRead read : reads) {
      slabs += read == null ? 0 : 1;
    }
    if (!layout.isOneStrip()) {
      slabs += WindowRead.isPadded(layout, needed) ? layout.profile().dataShards() : 0;
      for (int slot = 0; slot < needed.length; slot++) {
        slabs += needed[slot].isEmpty() || slots.hasArrived(slot) ? 0 : 1; // what is rebuilt
      }
    }
    return slabs * WindowRead.slabBytes(needed) - WindowRead.bytesMax(layout, needed);
  }

  /** Takes what has arrived from this slot. */
  ShardRead take(int slot) {
    ShardRead read = arrivedRead(slot);
    reads[slot] = null;
    return read;
  }

  ShardRead arrivedRead(int slot) {
    ShardRead read = reads[slot];
    if (read == null) {
      throw new IllegalStateException("slot " + slot + " was not asked beside its read");
    }
    return read;
  }

  private void drop(int slot) {
    ShardRead read = reads[slot];
    if (read != null) {
      reads[slot] = null;
      read.abandon(memory);
    }
  }

  /** Gives back what has arrived and what still may arrive. */
  void end() {
    for (int slot = 0; slot < reads.length; slot++) {
      drop(slot);
    }
  }

  /** Gives back what was held for it, and begins anew. */
  void release() {
    memory.giveBack(heldBytes);
    heldBytes = 0;
    isRefused = false;
    isGivenUp = false;
    Arrays.fill(fruitless, false);
  }
}
