package dev.ashlar.blob.repair;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.blob.context.ByteRateLimiter;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.context.MemoryBudget;
import dev.ashlar.blob.context.RequestMemory;
import dev.ashlar.blob.context.Zeros;
import dev.ashlar.blob.read.WindowRead;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Rebuilds shards of a blob window by window from k others (from one if all are copies), which are
 * read once for all targets. Used by one thread, once.
 */
final class ShardRebuild {
  private final EngineContext engine;
  private final BlobRow row;
  private final Profile profile;
  private final StripeLayout layout;
  private final List<RepairTarget> targets;
  private final RequestMemory memory;
  private final ByteRateLimiter pace;
  private final Set<UUID> silentDrives = new HashSet<>();
  private final List<Slab> slabs = new ArrayList<>();
  private long unusedBytes;
  private long rebuiltBytes;

  /**
   * @param targets shards that are missing in the row
   */
  ShardRebuild(
      EngineContext engine,
      BlobRow row,
      List<RepairTarget> targets,
      RequestMemory memory,
      ByteRateLimiter pace) {
    this.engine = engine;
    this.row = row;
    this.layout = BlobRows.layout(row);
    this.profile = layout.profile();
    this.targets = new ArrayList<>(targets);
    this.memory = memory;
    this.pace = pace;
  }

  /** Bytes written so far. */
  long rebuiltBytes() {
    return rebuiltBytes;
  }

  /** Writes all shards whose drives accept them. */
  void run() throws DataUnavailableException, InterruptedException {
    int window = engine.config().windowShardBytes(profile);
    for (ByteRange range : windows(layout.shardLength(0), window)) {
      targets.removeIf(RepairTarget::hasFailed);
      if (targets.isEmpty()) {
        return;
      }
      rebuild(range);
    }
  }

  /** Cuts a shard into ranges of so many bytes; the last one may be shorter. */
  static List<ByteRange> windows(long shardLength, int windowBytes) {
    List<ByteRange> windows = new ArrayList<>();
    for (long from = 0; from < shardLength; from += windowBytes) {
      windows.add(new ByteRange(from, Math.min(windowBytes, shardLength - from)));
    }
    return windows;
  }

  private void rebuild(ByteRange range) throws DataUnavailableException, InterruptedException {
    ByteRange[] needed = needed(range);
    if (Arrays.stream(needed).allMatch(ByteRange::isEmpty)) {
      return; // the shards end earlier
    }
    int sources = layout.isOneStrip() ? 1 : profile.dataShards();
    pace.take(sources * range.length());
    hold(range, needed);
    WindowRead read =
        WindowRead.start(engine, row, needed, silentDrives, memory, ShardRebuild::changedMeanwhile);
    try {
      read.await();
      send(range, read);
    } finally {
      read.abandon();
      slabs.forEach(Slab::release);
      slabs.clear();
      memory.giveBack(unusedBytes);
    }
  }

  /** Requests have priority: they wait for memory, repair does not. */
  private void hold(ByteRange range, ByteRange[] needed) throws DataUnavailableException {
    int own = layout.isOneStrip() ? 0 : profile.parityShards() + profile.dataShards();
    unusedBytes = (long) own * SlabPool.slabBytes((int) range.length());
    if (!memory.tryHold(unusedBytes + WindowRead.bytesMax(layout, needed))) {
      throw MemoryBudget.exhausted();
    }
  }

  private static BlobRow changedMeanwhile(BlobRow stale) throws DataUnavailableException {
    throw new DataUnavailableException(
        Reason.CONFLICT, "changed concurrently: blob " + BlobId.of(stale.getId()));
  }

  /** Per data slot the range to read: of the missing slots, or of all if parity is missing. */
  private ByteRange[] needed(ByteRange range) {
    ByteRange[] needed = new ByteRange[profile.dataShards()];
    Arrays.fill(needed, ByteRange.EMPTY);
    boolean isParityMissing = false;
    for (RepairTarget target : targets) {
      if (target.slot() < profile.dataShards()) {
        needed[target.slot()] = present(target.slot(), range);
      } else {
        isParityMissing = true;
      }
    }
    if (isParityMissing || layout.isOneStrip()) {
      Arrays.setAll(needed, slot -> present(slot, range));
    }
    return needed;
  }

  /** The part of the range in which this slot's shard has bytes. */
  private ByteRange present(int slot, ByteRange range) {
    return BlobRows.present(layout, slot, range);
  }

  private void send(ByteRange range, WindowRead read) throws InterruptedException {
    List<Piece> pieces = new ArrayList<>();
    List<Slab> parity = null;
    for (RepairTarget target : targets) {
      ByteRange own = present(target.slot(), range);
      if (own.isEmpty()) {
        continue;
      }
      if (layout.isOneStrip()) {
        pieces.add(new Piece(target, read.bytes(0, own), read.slab(0)));
      } else if (target.slot() < profile.dataShards()) {
        pieces.add(new Piece(target, read.bytes(target.slot(), own), read.slab(target.slot())));
      } else {
        parity = parity == null ? encode(range, read) : parity;
        Slab made = parity.get(target.slot() - profile.dataShards());
        pieces.add(new Piece(target, made.slice(0, (int) own.length()), made));
      }
    }
    CountDownLatch done = new CountDownLatch(pieces.size());
    pieces.forEach(
        piece -> piece.target().write(range.offset(), piece.bytes(), piece.slab(), done));
    if (!done.await(engine.config().driveDeadline().toNanos(), TimeUnit.NANOSECONDS)) {
      pieces.forEach(piece -> piece.target().giveUpUnanswered());
    }
    for (Piece piece : pieces) {
      rebuiltBytes += piece.target().hasFailed() ? 0 : piece.bytes().remaining();
    }
  }

  /** Bytes for a target, and their memory. */
  private record Piece(RepairTarget target, ByteBuffer bytes, Slab slab) {}

  /** All parity of the range. */
  private List<Slab> encode(ByteRange range, WindowRead read) {
    int length = (int) range.length();
    ByteBuffer[] data = new ByteBuffer[profile.dataShards()];
    for (int slot = 0; slot < data.length; slot++) {
      data[slot] = padded(read, slot, range);
    }
    List<Slab> parity = new ArrayList<>();
    ByteBuffer[] bytes = new ByteBuffer[profile.parityShards()];
    for (int row = 0; row < bytes.length; row++) {
      parity.add(slab(length));
      bytes[row] = parity.get(row).slice(0, length);
    }
    engine.codes().of(profile).encode(data, bytes);
    return parity;
  }

  /** The shard's bytes, followed by zeros. */
  private ByteBuffer padded(WindowRead read, int slot, ByteRange range) {
    ByteRange present = present(slot, range);
    int length = (int) range.length();
    if (present.isEmpty()) {
      return Zeros.of(length);
    }
    ByteBuffer bytes = read.bytes(slot, present);
    if (present.equals(range)) {
      return bytes;
    }
    ByteBuffer padded = slab(length).slice(0, length).put(bytes);
    padded.put(Zeros.of(padded.remaining()));
    return padded.flip();
  }

  private Slab slab(int length) {
    Slab slab = engine.pool().acquire(length);
    slab.whenRecycled(memory::giveBack);
    unusedBytes -= slab.capacity();
    slabs.add(slab);
    return slab;
  }
}
