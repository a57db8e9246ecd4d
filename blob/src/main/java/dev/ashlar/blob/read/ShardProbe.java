package dev.ashlar.blob.read;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.blob.context.Hedging;
import dev.ashlar.blob.context.MemoryBudget;
import dev.ashlar.blob.context.RequestMemory;
import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.ShardId;
import java.time.Duration;

/** Checks whether drives have the shards that blobs' rows name. For many threads. */
public final class ShardProbe {
  private final Hedging hedging;
  private final Duration driveDeadline;

  /** Whether a drive has a part of a shard. */
  public enum Present {
    /** All bytes, in the state of the row. */
    WHOLE,
    NOT,
    /** Only a later state is present. */
    LATER,
    /** The drive cannot tell now. */
    UNKNOWN
  }

  /**
   * @param hedging ends waits and records latencies; these reads are not hedged
   */
  public ShardProbe(Hedging hedging, Duration driveDeadline) {
    this.hedging = hedging;
    this.driveDeadline = driveDeadline;
  }

  /** Whether the drive has lost the bytes; other faults may be temporary. */
  static boolean isLoss(ShardFault fault) {
    return fault == ShardFault.MISSING
        || fault == ShardFault.CORRUPT
        || fault == ShardFault.IO_ERROR;
  }

  /**
   * Reads a range of the slot's shard.
   *
   * @param range not empty, of a slab at most
   * @throws DataUnavailableException if memory is short
   */
  public Present look(
      BlobRow row, int slot, ShardStore store, ByteRange range, RequestMemory memory)
      throws DataUnavailableException, InterruptedException {
    long bytes = SlabPool.slabBytes((int) range.length());
    if (!memory.tryHold(bytes)) {
      throw MemoryBudget.exhausted();
    }
    ShardRead read = ask(row, slot, store, range);
    try {
      return await(read);
    } finally {
      read.abandon(memory);
      memory.giveBack(bytes);
    }
  }

  /** Starts a read of the slot's shard in the state of the row; the caller has reserved memory. */
  public ShardRead ask(BlobRow row, int slot, ShardStore store, ByteRange range) {
    ShardRead read = new ShardRead(range, hedging, hedging.drive(store.drive().id()));
    store.read(
        ShardId.of(row, slot),
        BlobRows.view(row, slot),
        range.offset(),
        (int) range.length(),
        read);
    return read;
  }

  /** Waits for the drive's answer, until the deadline. */
  public Present await(ShardRead read) throws InterruptedException {
    read.await(driveDeadline.toNanos(), false);
    if (read.hasArrived()) {
      return Present.WHOLE;
    }
    if (read.fault() == ShardFault.REVISION_GONE) {
      return Present.LATER;
    }
    return isLoss(read.fault()) ? Present.NOT : Present.UNKNOWN;
  }
}
