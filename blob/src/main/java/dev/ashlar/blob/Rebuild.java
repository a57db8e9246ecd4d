package dev.ashlar.blob;

import dev.ashlar.blob.SlotReads.RevisionGoneException;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Makes the needed strips that did not come out of the same ranges of k others. Used by one thread.
 */
final class Rebuild {
  private final Engine engine;
  private final SlotReads slots;
  private final Profile profile;
  private final ByteRange[] needed;

  /**
   * @param needed per data slot the range of its shard, possibly empty
   */
  Rebuild(Engine engine, SlotReads slots, ByteRange[] needed) {
    this.engine = engine;
    this.slots = slots;
    this.profile = slots.profile();
    this.needed = needed;
  }

  /** Waits for the needed strips and rebuilds those that do not come. */
  void complete() throws DataUnavailableException, InterruptedException, RevisionGoneException {
    ByteRange missing = missing();
    if (!missing.isEmpty()) {
      if (slots.layout().isOneStrip()) {
        readCopy(missing);
      } else {
        rebuild(missing);
      }
    }
  }

  /** Waits for the needed strips and tells the hull of the shard ranges that did not come. */
  private ByteRange missing() throws InterruptedException, RevisionGoneException {
    ByteRange hull = ByteRange.EMPTY;
    for (int slot = 0; slot < profile.dataShards(); slot++) {
      if (!needed[slot].isEmpty() && !slots.arrived(slot)) {
        hull = hull.hull(needed[slot]);
      }
    }
    return hull;
  }

  /** Every parity shard of a one-strip blob is a copy of its data. */
  private void readCopy(ByteRange missing)
      throws DataUnavailableException, InterruptedException, RevisionGoneException {
    for (int slot = profile.dataShards(); slot < profile.shards(); slot++) {
      slots.ask(slot, missing);
      if (slots.arrived(slot)) {
        engine.metrics().rebuiltReads.increment();
        slots.replace(0, slots.take(slot));
        return;
      }
    }
    throw slots.unavailable();
  }

  private void rebuild(ByteRange firstMissing)
      throws DataUnavailableException, InterruptedException, RevisionGoneException {
    ByteRange missing = firstMissing;
    int[] sources = gather(missing);
    // A slot lost on the way widens what has to be rebuilt; each round loses one or ends.
    for (ByteRange now = missing(); !now.equals(missing); now = missing()) {
      missing = now;
      sources = gather(missing);
    }
    ByteBuffer[] sourceBytes = new ByteBuffer[sources.length];
    Slab[] padding = new Slab[sources.length];
    try {
      for (int i = 0; i < sources.length; i++) {
        sourceBytes[i] = padded(sources[i], missing, padding, i);
      }
      decode(sources, sourceBytes, missing);
    } finally {
      for (Slab slab : padding) {
        if (slab != null) {
          slab.release();
        }
      }
    }
  }

  private void decode(int[] sources, ByteBuffer[] sourceBytes, ByteRange missing)
      throws InterruptedException, RevisionGoneException {
    int[] wanted = new int[profile.dataShards()];
    int count = 0;
    for (int slot = 0; slot < profile.dataShards(); slot++) {
      if (!needed[slot].isEmpty() && !slots.arrived(slot)) {
        wanted[count++] = slot;
      }
    }
    wanted = Arrays.copyOf(wanted, count);
    ByteBuffer[] targets = new ByteBuffer[count];
    for (int i = 0; i < count; i++) {
      Slab slab = engine.pool().acquire((int) missing.length());
      targets[i] = slab.slice(0, (int) missing.length());
      ShardRead rebuilt = new ShardRead(missing);
      rebuilt.succeeded(new ShardData(slab, targets[i]));
      slots.replace(wanted[i], rebuilt);
    }
    engine.codes().of(profile).decode(sources, sourceBytes, wanted, targets);
    engine.metrics().rebuiltReads.increment(count);
  }

  /**
   * Reads the range from k slots, data slots first; replaces those that fail. A slot without bytes
   * there is as good as any, whatever became of its drive.
   */
  private int[] gather(ByteRange missing)
      throws DataUnavailableException, InterruptedException, RevisionGoneException {
    while (true) {
      int[] sources = new int[profile.dataShards()];
      int count = 0;
      for (int slot = 0; slot < profile.shards() && count < sources.length; slot++) {
        if (!slots.isFaulty(slot) || slots.present(slot, missing).isEmpty()) {
          sources[count++] = slot;
          askToCover(slot, missing);
        }
      }
      if (count < sources.length) {
        throw slots.unavailable();
      }
      boolean complete = true;
      for (int slot : sources) {
        complete &= slots.present(slot, missing).isEmpty() || slots.arrived(slot);
      }
      if (complete) {
        return sources;
      }
    }
  }

  private void askToCover(int slot, ByteRange missing) {
    ByteRange wanted = slots.present(slot, missing);
    if (!wanted.isEmpty() && !slots.covers(slot, wanted)) {
      slots.drop(slot);
      slots.ask(slot, slot < profile.dataShards() ? wanted.hull(needed[slot]) : wanted);
    }
  }

  private ByteBuffer padded(int slot, ByteRange missing, @Nullable Slab[] padding, int index) {
    ByteRange present = slots.present(slot, missing);
    if (present.equals(missing)) {
      return slots.arrivedRead(slot).bytes(missing);
    }
    int length = (int) missing.length();
    Slab slab = engine.pool().acquire(length);
    padding[index] = slab;
    ByteBuffer bytes = slab.slice(0, length);
    if (!present.isEmpty()) {
      bytes.put(slots.arrivedRead(slot).bytes(present));
    }
    while (bytes.hasRemaining()) {
      bytes.put((byte) 0);
    }
    return bytes.flip();
  }
}
