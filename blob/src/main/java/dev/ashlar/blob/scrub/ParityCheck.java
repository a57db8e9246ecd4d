package dev.ashlar.blob.scrub;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.context.MemoryBudget;
import dev.ashlar.blob.context.RequestMemory;
import dev.ashlar.blob.read.ShardProbe;
import dev.ashlar.blob.read.ShardProbe.Present;
import dev.ashlar.blob.read.ShardRead;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Compares the shards of a blob with each other: intact checksums do not prove that all shards were
 * written from the same data. Requires that all shards are present in one state without unfolded
 * changes. For many threads.
 */
final class ParityCheck {
  private final EngineContext engine;
  private final ShardProbe probe;

  /** Result of a comparison. */
  enum Result {
    CONSISTENT,
    /** One shard contradicts all others. */
    ONE_DIFFERS,
    /** Shards contradict each other, and the wrong ones cannot be identified. */
    INCONSISTENT,
    /** Not all shards could be read in one state. */
    UNDECIDED
  }

  /**
   * Result of a comparison.
   *
   * @param slot of the shard that differs, if it is exactly one
   */
  record Found(Result result, OptionalInt slot) {
    /** Whether all shards except this one are present and agree with each other. */
    boolean isRightWithout(int wrong) {
      return result == Result.CONSISTENT
          || (result == Result.ONE_DIFFERS && slot.equals(OptionalInt.of(wrong)));
    }

    static Found of(Result result) {
      return new Found(result, OptionalInt.empty());
    }
  }

  /**
   * @param engine without hedging
   */
  ParityCheck(EngineContext engine) {
    this.engine = engine;
    this.probe = new ShardProbe(engine.hedging(), engine.config().driveDeadline());
  }

  /** Whether the blob's shards can be compared. */
  static boolean isComparable(BlobRow row) {
    return row.getReferences() > 0
        && row.getDebtSlotsCount() == 0
        && row.getAttemptsCount() == 0
        && row.getProfile().getParityShards() > 0;
  }

  /**
   * Compares a range of all shards.
   *
   * @param row just read from metadata
   * @param range of every shard, at most a slab
   */
  Found check(BlobRow row, ByteRange range, RequestMemory memory)
      throws DataUnavailableException, InterruptedException {
    StripeLayout layout = BlobRows.layout(row);
    Profile profile = layout.profile();
    long slab = SlabPool.slabBytes((int) range.length() + 2 * Profile.BLOCK_BYTES);
    // The bytes read, a padded copy of each shard, and the decoded shards.
    long bytes = 3L * profile.shards() * slab;
    if (!memory.tryHold(bytes)) {
      throw MemoryBudget.exhausted();
    }
    @Nullable ShardRead[] reads = new ShardRead[profile.shards()];
    try {
      if (!ask(row, layout, range, reads) || !haveArrived(reads)) {
        return Found.of(Result.UNDECIDED);
      }
      ByteBuffer[] shards = new ByteBuffer[reads.length];
      for (int slot = 0; slot < shards.length; slot++) {
        shards[slot] = padded(reads[slot], (int) range.length());
      }
      return compare(layout, reads, shards);
    } finally {
      for (ShardRead read : reads) {
        if (read != null) {
          read.abandon(memory);
        }
      }
      memory.giveBack(bytes);
    }
  }

  /** False if a drive is not reachable. */
  private boolean ask(
      BlobRow row, StripeLayout layout, ByteRange range, @Nullable ShardRead[] reads) {
    PlacementMap placement = engine.metadata().placement(row.getEpoch());
    for (int slot = 0; slot < reads.length; slot++) {
      ShardStore store = engine.drives().apply(placement.location(row, slot));
      if (store == null) {
        return false;
      }
      ByteRange own = BlobRows.present(layout, slot, range);
      if (!own.isEmpty()) {
        reads[slot] = probe.ask(row, slot, store, own);
      }
    }
    return true;
  }

  private boolean haveArrived(@Nullable ShardRead[] reads) throws InterruptedException {
    boolean haveAll = true;
    for (ShardRead read : reads) {
      if (read != null) {
        haveAll &= probe.await(read) == Present.WHOLE;
      }
    }
    return haveAll;
  }

  /** The shard's bytes, followed by zeros. */
  private static ByteBuffer padded(@Nullable ShardRead read, int length) {
    ByteBuffer padded = ByteBuffer.allocateDirect(length);
    if (read != null) {
      padded.put(read.bytes(read.range()));
    }
    return padded.clear();
  }

  private Found compare(StripeLayout layout, @Nullable ShardRead[] reads, ByteBuffer[] shards) {
    Profile profile = layout.profile();
    List<Integer> present =
        IntStream.range(0, shards.length)
            .filter(slot -> reads[slot] != null || !layout.isOneStrip())
            .boxed()
            .toList();
    if (agree(layout, shards, present)) {
      return Found.of(Result.CONSISTENT);
    }
    List<Integer> odd = new ArrayList<>();
    for (int slot : present) {
      List<Integer> others = present.stream().filter(each -> each != slot).toList();
      if (reads[slot] != null && agree(layout, shards, others)) {
        odd.add(slot);
      }
    }
    // With one parity shard the others always agree, because no redundancy is left.
    boolean isKnown = odd.size() == 1 && profile.parityShards() > 1;
    return isKnown
        ? new Found(Result.ONE_DIFFERS, OptionalInt.of(odd.getFirst()))
        : Found.of(Result.INCONSISTENT);
  }

  /** Whether all of these shards can be decoded from k of them. */
  private boolean agree(StripeLayout layout, ByteBuffer[] shards, List<Integer> slots) {
    if (layout.isOneStrip()) {
      return slots.stream().allMatch(slot -> shards[slot].equals(shards[slots.getFirst()]));
    }
    int k = layout.profile().dataShards();
    int[] sources = slots.stream().limit(k).mapToInt(Integer::intValue).toArray();
    int[] others = slots.stream().skip(k).mapToInt(Integer::intValue).toArray();
    if (others.length == 0) {
      return true;
    }
    ByteBuffer[] given =
        Arrays.stream(sources).mapToObj(slot -> shards[slot]).toArray(ByteBuffer[]::new);
    ByteBuffer[] made = new ByteBuffer[others.length];
    Arrays.setAll(made, i -> ByteBuffer.allocateDirect(given[0].remaining()));
    engine.codes().of(layout.profile()).decode(sources, given, others, made);
    return IntStream.range(0, made.length).allMatch(i -> made[i].equals(shards[others[i]]));
  }
}
