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
 * Extra reads of a window from other drives while some drives are late. The window's own reads
 * continue in any case: a hedge never makes a read fail. Used by one thread.
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

  /** Whether late reads may be hedged; otherwise they are waited for. */
  boolean mayHelp() {
    return engine.hedging().isOn() && !isGivenUp;
  }

  /** Ends hedging: late reads are waited for, and failed hedges no longer exclude their slots. */
  void giveUp() {
    isGivenUp = true;
    Arrays.fill(fruitless, false);
  }

  /** State of the slot's extra read, if it covers the wanted range. */
  State look(int slot, ByteRange wanted) {
    ShardRead read = reads[slot];
    if (read == null) {
      return State.LOST;
    }
    if (read.covers(wanted)) {
      switch (read.progress(engine.config().driveDeadline().toNanos())) {
        case ARRIVED -> {
          return State.ARRIVED;
        }
        case IN_FLIGHT -> {
          return read.isLate() ? State.LATE : State.UNDER_WAY;
        }
        case FAILED -> fruitless[slot] = true;
      }
    }
    drop(slot);
    return State.LOST;
  }

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

  /** Whether there is no extra read that has arrived or may arrive. */
  boolean isEmpty() {
    for (ShardRead read : reads) {
      if (read != null) {
        return false;
      }
    }
    return true;
  }

  boolean isRunning() {
    for (ShardRead read : reads) {
      if (read != null && !read.isDone()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Starts extra reads from these slots if budget and memory allow. Once they do not, this window
   * is not hedged any more.
   *
   * @param free how many of these reads are needed anyway
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

  /** Direct memory beyond that of the window. */
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

  /** Removes and returns the slot's extra read, which has arrived. */
  ShardRead take(int slot) {
    ShardRead read = arrivedRead(slot);
    reads[slot] = null;
    return read;
  }

  ShardRead arrivedRead(int slot) {
    ShardRead read = reads[slot];
    if (read == null) {
      throw new IllegalStateException("slot " + slot + " has no extra read");
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

  void end() {
    for (int slot = 0; slot < reads.length; slot++) {
      drop(slot);
    }
  }

  /** Returns the reserved memory, and resets the state. */
  void release() {
    memory.giveBack(heldBytes);
    heldBytes = 0;
    isRefused = false;
    isGivenUp = false;
    Arrays.fill(fruitless, false);
  }
}
