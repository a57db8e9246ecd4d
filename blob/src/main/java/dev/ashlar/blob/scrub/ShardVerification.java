package dev.ashlar.blob.scrub;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.context.RequestMemory;
import dev.ashlar.blob.read.ShardProbe;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.BlobRow;

/** Reads whole shards on request, and changes nothing. For many threads. */
public final class ShardVerification {
  private static final int READ_BYTES = 1 << 20;

  private final EngineContext engine;
  private final ShardProbe probe;

  /** What a drive has of a shard. */
  public enum State {
    /** All bytes, and each block matches its checksum. */
    VERIFIED,
    /** A block is missing or damaged. */
    LOST,
    /** The shard has changed since the row was read. */
    CHANGED,
    /** The drive cannot be reached, or cannot tell now. */
    UNREACHABLE
  }

  /**
   * @param engine without hedging
   */
  public ShardVerification(EngineContext engine) {
    this.engine = engine;
    this.probe = new ShardProbe(engine.hedging(), engine.config().driveDeadline());
  }

  /** Reads all of the slot's shard, as the row describes it. */
  public State check(BlobRow row, int slot) throws InterruptedException {
    ShardStore store =
        engine.drives().apply(engine.metadata().placement(row.getEpoch()).location(row, slot));
    if (store == null) {
      return State.UNREACHABLE;
    }
    long length = BlobRows.layout(row).shardLength(slot);
    try (RequestMemory memory = new RequestMemory(engine.memory())) {
      for (long from = 0; from < length; from += READ_BYTES) {
        ByteRange part = new ByteRange(from, Math.min(READ_BYTES, length - from));
        State state = state(probe.look(row, slot, store, part, memory));
        if (state != State.VERIFIED) {
          return state;
        }
      }
      return State.VERIFIED;
    } catch (DataUnavailableException e) {
      return State.UNREACHABLE;
    }
  }

  private static State state(ShardProbe.Present present) {
    return switch (present) {
      case WHOLE -> State.VERIFIED;
      case NOT -> State.LOST;
      case LATER -> State.CHANGED;
      case UNKNOWN -> State.UNREACHABLE;
    };
  }
}
