package dev.ashlar.blob.change;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.blob.context.EngineConfig;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.context.RequestMemory;
import dev.ashlar.blob.write.PieceWriter;
import dev.ashlar.blob.write.SlotWrites;
import dev.ashlar.blob.write.StripeBatch;
import dev.ashlar.protocol.client.ShardIntent;
import dev.ashlar.protocol.client.ShardStore;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.BlobChange;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.ObjectPiece;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Writes new bytes for one range of a blob as intents. Stripes that are replaced whole, or that lie
 * beyond the old end, go in batches without reads. For a stripe that keeps old bytes before or
 * after the range, the new part is buffered and planned. Used by one thread.
 */
final class BlobChanger implements PieceWriter {
  private final EngineContext engine;
  private final BlobAttempt attempt;
  private final Profile profile;
  private final PlacementMap placement;
  private final long offset;
  private final long lengthMax;
  private final long expectedLength;
  private final RequestMemory memory;
  private final SlotWrites slots;
  private long length;
  private long batchStart;
  private @Nullable StripeBatch batch;
  private @Nullable ByteBuffer part;

  /**
   * @param offset in the blob, at most its length
   * @param lengthMax maximum bytes
   * @param expectedLength likely bytes, also beyond this range; sizes the buffers
   */
  BlobChanger(
      EngineContext engine,
      BlobAttempt attempt,
      long offset,
      long lengthMax,
      long expectedLength,
      RequestMemory memory)
      throws DataUnavailableException {
    this.engine = engine;
    this.attempt = attempt;
    this.profile = attempt.profile();
    this.placement = engine.metadata().placement(attempt.base().getEpoch());
    this.offset = offset;
    this.lengthMax = lengthMax;
    this.expectedLength = expectedLength;
    this.memory = memory;
    this.slots =
        new SlotWrites(
            engine,
            profile,
            slot -> placement.location(attempt.base(), slot),
            attempt.blob(),
            attempt.base().getPg(),
            attempt.base().getDebtSlotsList());
  }

  @Override
  public long remaining() {
    return lengthMax - length;
  }

  @Override
  public void write(ByteBuffer bytes) throws DataUnavailableException, InterruptedException {
    while (bytes.hasRemaining() && remaining() > 0) {
      if (batch != null) {
        fillBatch(batch, bytes);
      } else if (part != null) {
        fillPart(part, bytes);
      } else if (isPart()) {
        beginPart(bytes);
      } else {
        batchStart = offset + length;
        batch = newBatch();
      }
    }
  }

  @Override
  public ObjectPiece finish() throws DataUnavailableException, InterruptedException {
    StripeBatch lastBatch = batch;
    ByteBuffer lastPart = part;
    if (lastBatch != null) {
      sendBatch(lastBatch);
    } else if (lastPart != null) {
      sendCollected(lastPart);
    }
    slots.awaitAll();
    slots.afterwardsWhereMissing(this::drop);
    BlobChange.Builder change =
        BlobChange.newBuilder()
            .setBlob(attempt.base().getId())
            .setBaseRevision(attempt.base().getRevision())
            .setBaseLength(attempt.base().getLength())
            .setAttempt(attempt.id().toMessage())
            .setOffset(offset)
            .setLength(length)
            .setEpoch(placement.epoch())
            .setBaseSettled(attempt.base().getSettled())
            .addAllAcks(slots.acks());
    return ObjectPiece.newBuilder().setChange(change).build();
  }

  @Override
  public void discard() {
    StripeBatch unsent = batch;
    if (unsent != null) {
      batch = null;
      unsent.release();
    }
    engine.metrics().abandonedAttempts.increment();
    slots.afterwards(this::drop);
  }

  private void drop(int slot, ShardStore store) {
    engine.cleaner().drop(store, ShardId.name(attempt.base(), slot), attempt.id());
  }

  /** Whether the next stripe keeps old bytes before the new ones, or is likely to after them. */
  private boolean isPart() {
    long at = offset + length;
    boolean isMore = expectedLength - length >= profile.stripeBytes();
    return at % profile.stripeBytes() > 0 || (at < attempt.base().getLength() && !isMore);
  }

  private void beginPart(ByteBuffer bytes) throws DataUnavailableException, InterruptedException {
    long at = offset + length;
    long inStripe = at % profile.stripeBytes();
    int room = (int) Math.min(profile.stripeBytes() - inStripe, remaining());
    if (bytes.remaining() < room) {
      part = ByteBuffer.allocate(room);
    } else {
      ByteBuffer whole = bytes.slice(bytes.position(), room);
      bytes.position(bytes.position() + room);
      length += room;
      sendPart(at, whole);
    }
  }

  private void fillPart(ByteBuffer collected, ByteBuffer bytes)
      throws DataUnavailableException, InterruptedException {
    int count = Math.min(collected.remaining(), bytes.remaining());
    collected.put(bytes.slice(bytes.position(), count));
    bytes.position(bytes.position() + count);
    length += count;
    if (!collected.hasRemaining()) {
      sendCollected(collected);
    }
  }

  private void sendCollected(ByteBuffer collected)
      throws DataUnavailableException, InterruptedException {
    part = null;
    collected.flip();
    sendPart(offset + length - collected.remaining(), collected);
  }

  private void sendPart(long at, ByteBuffer bytes)
      throws DataUnavailableException, InterruptedException {
    StripeChange change =
        new StripeChange(
            engine,
            attempt,
            at / profile.stripeBytes(),
            (int) (at % profile.stripeBytes()),
            bytes,
            slots.missing(),
            memory);
    long needed = change.bytesMax();
    if (!memory.isOpen()) {
      boolean isMore = bytes.remaining() < expectedLength;
      long share = isMore ? Math.max(needed, StripeChange.bytesMax(profile)) : needed;
      memory.open(share, share);
    }
    hold(needed);
    slots.send(change.writes());
  }

  private void fillBatch(StripeBatch current, ByteBuffer bytes)
      throws DataUnavailableException, InterruptedException {
    int before = bytes.remaining();
    current.fill(bytes);
    length += before - bytes.remaining();
    if (current.isFull()) {
      sendBatch(current);
    }
  }

  /** Sends whole stripes at once; old bytes may follow the rest. */
  private void sendBatch(StripeBatch full) throws DataUnavailableException, InterruptedException {
    batch = null;
    int rest = full.length() % profile.stripeBytes();
    long end = offset + length;
    if (rest == 0 || attempt.base().getLength() <= end) {
      sendWhole(full);
      return;
    }
    ByteBuffer tail = full.cutTail();
    if (full.length() > 0) {
      sendWhole(full);
    } else {
      full.release();
    }
    sendPart(end - rest, tail);
  }

  private void sendWhole(StripeBatch full) throws DataUnavailableException {
    StripeBatch.@Nullable Piece[] pieces = full.seal(engine.codes().of(profile));
    engine.metrics().encodedBytes.increment(full.length());
    long shardOffset = batchStart / profile.dataShards();
    slots.send(
        full,
        pieces,
        (store, slot, piece, told) ->
            store.prepare(
                new ShardIntent.Bytes(
                    attempt.target(slot),
                    shardOffset,
                    piece.payload().duplicate(),
                    piece.blockCrcs()),
                told));
  }

  private StripeBatch newBatch() throws DataUnavailableException, InterruptedException {
    int capacity = StripeBatch.chooseCapacity(profile, engine.config(), memory, this::capacity);
    hold(StripeBatch.bytesMax(profile, capacity));
    return new StripeBatch(profile, engine.pool(), capacity, memory);
  }

  /** Whole stripes, as many as expected, unless the range ends earlier. */
  private int capacity(int windowBytes) {
    long stripeBytes = profile.stripeBytes();
    long expectedStripes = Math.max(1, Math.ceilDiv(expectedLength - length, stripeBytes));
    long stripes = Math.min(EngineConfig.windowStripes(profile, windowBytes), expectedStripes);
    return (int) Math.min(stripes * stripeBytes, remaining());
  }

  private void hold(long bytes) throws DataUnavailableException, InterruptedException {
    if (!slots.tryHold(memory, bytes)) {
      memory.hold(bytes);
    }
  }

  /**
   * An attempt to change a blob.
   *
   * @param base the row of the blob when the attempt began
   */
  record BlobAttempt(BlobRow base, AttemptId id) {
    BlobId blob() {
      return BlobId.of(base.getId());
    }

    Profile profile() {
      return Profile.of(base.getProfile());
    }

    StripeLayout layout() {
      return BlobRows.layout(base);
    }

    ShardIntent.Target target(int slot) {
      return new ShardIntent.Target(
          ShardId.of(base, slot), id, BlobRows.view(base, slot), layout().shardLength(slot));
    }
  }
}
