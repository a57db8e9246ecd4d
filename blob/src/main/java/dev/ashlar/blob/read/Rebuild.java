package dev.ashlar.blob.read;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.context.RequestMemory;
import dev.ashlar.blob.context.Zeros;
import dev.ashlar.blob.read.SlotReads.RevisionGoneException;
import dev.ashlar.blob.read.SlotReads.State;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Rebuilds needed strips that are lost or late from the same ranges of the first k other strips
 * that arrive. Every parity shard of a one-strip blob is a copy of its data, and slots without
 * bytes count as read: so any one copy suffices. Used by one thread.
 */
final class Rebuild {
  private final EngineContext engine;
  private final SlotReads slots;
  private final Profile profile;
  private final ByteRange[] needed;
  private final Hedge hedge;
  private boolean isLost;

  /**
   * @param needed per data slot the range of its shard, possibly empty
   */
  Rebuild(EngineContext engine, SlotReads slots, ByteRange[] needed, RequestMemory memory) {
    this.engine = engine;
    this.slots = slots;
    this.profile = slots.profile();
    this.needed = needed;
    this.hedge = new Hedge(engine, slots, needed, memory);
  }

  /** Waits for the needed strips; rebuilds lost ones, and late ones if that is faster. */
  void awaitNeeded() throws DataUnavailableException, InterruptedException, RevisionGoneException {
    try {
      for (ByteRange missing = missing(); !missing.isEmpty(); missing = missing()) {
        Sources sources = new Sources(missing);
        if (sources.isEnough()) {
          rebuild(sources.ready, missing);
          return;
        }
        sources.progress();
      }
    } finally {
      hedge.end();
    }
  }

  /** Returns memory reserved for hedges, and resets their state. */
  void release() {
    hedge.release();
  }

  /** Waits for the needed strips; returns the hull of the shard ranges that did not arrive. */
  private ByteRange missing() throws InterruptedException, RevisionGoneException {
    ByteRange hull = ByteRange.EMPTY;
    isLost = false;
    for (int slot = 0; slot < profile.dataShards(); slot++) {
      if (!needed[slot].isEmpty()) {
        State state = slots.await(slot, hedge.mayHelp());
        isLost |= state == State.LOST;
        hull = state == State.ARRIVED ? hull : hull.hull(needed[slot]);
      }
    }
    return hull;
  }

  /**
   * State of each slot for a range of which k slots are needed. A slot without bytes in the range
   * counts as ready, whatever the state of its drive.
   */
  private final class Sources {
    private final ByteRange missing;

    /**
     * Reads that {@link #add} found unfinished. Only these are waited for: {@link
     * ShardRead#awaitAny} returns when a read becomes late, which only {@link #add} records.
     */
    private final List<ShardRead> underWay = new ArrayList<>();

    private final int[] ready = new int[profile.dataShards()];
    private final int[] unasked = new int[profile.shards()];
    private int readyCount;
    private int unaskedCount;
    private int timely;
    private int late;
    private boolean isLate;

    /** Whether a read is under way that brings too little, after which its drive is asked again. */
    private boolean isTooLittleUnderWay;

    Sources(ByteRange missing) throws RevisionGoneException {
      this.missing = missing;
      for (int slot = 0; slot < profile.shards() && !isEnough(); slot++) {
        add(slot);
      }
    }

    boolean isEnough() {
      return readyCount == ready.length;
    }

    private void add(int slot) throws RevisionGoneException {
      ByteRange wanted = slots.present(slot, missing);
      State own = wanted.isEmpty() ? State.ARRIVED : slots.look(slot);
      isLate |= own == State.LATE && hedge.mayHelp();
      boolean isBusy = own == State.UNDER_WAY || own == State.LATE;
      if (isBusy) {
        underWay.add(slots.arrivedRead(slot));
      }
      State state = own;
      if (!wanted.isEmpty() && !slots.covers(slot, wanted)) {
        state = hedge.look(slot, wanted);
        if (state == State.UNDER_WAY || state == State.LATE) {
          underWay.add(hedge.arrivedRead(slot));
        }
        isTooLittleUnderWay |= state == State.LOST && isBusy;
        if (state == State.LOST && !isBusy && !slots.isFaulty(slot) && !hedge.isFruitless(slot)) {
          unasked[unaskedCount++] = slot;
        }
      }
      switch (state) {
        case ARRIVED -> ready[readyCount++] = slot;
        case UNDER_WAY -> timely++;
        case LATE -> late++;
        case LOST -> {}
      }
    }

    /** Requests missing sources, and waits for some of them. */
    void progress() throws DataUnavailableException, InterruptedException, RevisionGoneException {
      if (!hedge.mayHelp()) {
        timely += late;
        late = 0;
      }
      int lacking = ready.length - readyCount - timely;
      boolean isRace = isLate || late > 0;
      if (lacking > 0 && (isRace ? !mayWait(lacking) : isLost && !askFor(lacking))) {
        return;
      }
      if (!underWay.isEmpty() && (isRace || hedge.isRunning())) {
        ShardRead.awaitAny(underWay, engine.config().driveDeadline().toNanos());
      } else {
        awaitTimely();
      }
    }

    /** False if the state has to be read again: others were asked, or hedging ended. */
    private boolean mayWait(int lacking) {
      int possible = readyCount + timely + late + unaskedCount;
      int others = possible < ready.length ? 0 : Math.min(lacking, unaskedCount);
      int obliged = Math.max(0, ready.length - readyCount - timely - late);
      int free = isLost ? Math.min(obliged, others) : 0;
      if (hedge.tryAsk(Arrays.copyOf(unasked, others), free, missing)) {
        return false;
      }
      if (hedge.isEmpty()) {
        hedge.giveUp();
        return false;
      }
      return true;
    }

    /**
     * False if too few slots are left, but slots that failed a hedge or are debts may be asked now.
     */
    private boolean askFor(int lacking) throws DataUnavailableException, RevisionGoneException {
      if (unaskedCount < lacking && isTooLittleUnderWay) {
        return true;
      }
      if (unaskedCount < lacking) {
        if (hedge.isFruitless()) {
          hedge.giveUp();
          return false;
        }
        if (slots.tryDebts()) {
          return false;
        }
        throw slots.unavailable();
      }
      for (int i = 0; i < lacking; i++) {
        int slot = unasked[i];
        ByteRange wanted = slots.present(slot, missing);
        slots.ask(slot, slot < profile.dataShards() ? wanted.hull(needed[slot]) : wanted);
      }
      return true;
    }

    private void awaitTimely() throws InterruptedException, RevisionGoneException {
      State state = State.ARRIVED;
      for (int slot = 0; slot < profile.shards() && state == State.ARRIVED; slot++) {
        if (slots.isUnderWay(slot)) {
          state = slots.await(slot, hedge.mayHelp());
        }
      }
    }
  }

  private ShardRead source(int slot, ByteRange wanted) {
    return slots.covers(slot, wanted) ? slots.arrivedRead(slot) : hedge.arrivedRead(slot);
  }

  private void rebuild(int[] sources, ByteRange missing) throws RevisionGoneException {
    boolean isHedged = false;
    for (int slot : sources) {
      ByteRange wanted = slots.present(slot, missing);
      isHedged |= !wanted.isEmpty() && !slots.covers(slot, wanted);
    }
    if (slots.layout().isOneStrip()) {
      copy(sources, missing);
    } else {
      decode(sources, missing);
    }
    engine.metrics().hedgesWon.increment(isHedged ? 1 : 0);
  }

  private void copy(int[] sources, ByteRange missing) {
    for (int slot : sources) {
      if (slot > 0 && !slots.present(slot, missing).isEmpty()) {
        boolean isOwn = slots.covers(slot, missing);
        slots.replace(0, isOwn ? slots.take(slot) : hedge.take(slot));
        engine.metrics().rebuiltReads.increment();
      }
    }
  }

  private void decode(int[] sources, ByteRange missing) throws RevisionGoneException {
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
      throws RevisionGoneException {
    int[] wanted = new int[profile.dataShards()];
    int count = 0;
    for (int slot = 0; slot < profile.dataShards(); slot++) {
      if (!needed[slot].isEmpty() && slots.look(slot) != State.ARRIVED) {
        wanted[count++] = slot;
      }
    }
    wanted = Arrays.copyOf(wanted, count);
    ByteBuffer[] targets = new ByteBuffer[count];
    for (int i = 0; i < count; i++) {
      Slab slab = engine.pool().acquire((int) missing.length());
      targets[i] = slab.slice(0, (int) missing.length());
      slots.replace(wanted[i], missing, new ShardData(slab, targets[i]));
    }
    engine.codes().of(profile).decode(sources, sourceBytes, wanted, targets);
    engine.metrics().rebuiltReads.increment(count);
  }

  private ByteBuffer padded(int slot, ByteRange missing, @Nullable Slab[] padding, int index) {
    ByteRange present = slots.present(slot, missing);
    if (present.equals(missing)) {
      return source(slot, missing).bytes(missing);
    }
    int length = (int) missing.length();
    Slab slab = engine.pool().acquire(length);
    padding[index] = slab;
    ByteBuffer bytes = slab.slice(0, length);
    if (!present.isEmpty()) {
      bytes.put(source(slot, present).bytes(present));
    }
    return bytes.put(Zeros.of(bytes.remaining())).flip();
  }
}
