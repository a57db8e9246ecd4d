package dev.ashlar.blob.write;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.context.EngineConfig;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.context.RequestMemory;
import dev.ashlar.codec.checksum.Md5;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.message.NewBlob;
import dev.ashlar.protocol.message.ObjectPiece;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.protocol.model.ShardId;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes one new blob. Batches of stripes go to all slots in parallel, with a bounded number of
 * batches in flight. Used by one thread.
 */
public final class BlobWriter implements PieceWriter {
  private final EngineContext engine;
  private final Profile profile;
  private final PlacementMap placement;
  private final BlobId id;
  private final int pg;
  private final RequestMemory memory;
  private final @Nullable Md5 md5;
  private final SlotWrites slots;
  private final long lengthMax;
  private @Nullable StripeBatch batch;
  private long sealedLength;

  /**
   * @param number of the profile of the blob
   * @param lengthMax maximum length; sizes the first buffers
   * @param md5 receives the written bytes; null if no MD5 is needed
   */
  public BlobWriter(
      EngineContext engine, int number, long lengthMax, RequestMemory memory, @Nullable Md5 md5)
      throws DataUnavailableException {
    this.engine = engine;
    this.placement = engine.metadata().placement();
    PlacedProfile placed =
        placement
            .numbered(number)
            .orElseThrow(
                () ->
                    new DataUnavailableException(
                        Reason.MISPLACED, "profile " + number + " was removed concurrently"));
    this.profile = placed.profile();
    this.id = engine.ids().nextBlob(number);
    this.pg = placed.group(id);
    this.lengthMax = lengthMax;
    this.memory = memory;
    this.md5 = md5;
    this.slots =
        new SlotWrites(engine, profile, slot -> placement.drive(pg, slot), id, pg, List.of());
  }

  long length() {
    return sealedLength + (batch == null ? 0 : batch.length());
  }

  @Override
  public long remaining() {
    return lengthMax - length();
  }

  @Override
  public void write(ByteBuffer bytes) throws DataUnavailableException, InterruptedException {
    while (bytes.hasRemaining() && remaining() > 0) {
      StripeBatch current = batch;
      if (current == null) {
        current = newBatch();
        batch = current;
      }
      current.fill(bytes);
      if (current.isFull()) {
        sendBatch(current);
      }
    }
  }

  /** Sends the remaining bytes to the drives. */
  void sendRest() throws DataUnavailableException, InterruptedException {
    StripeBatch last = batch;
    if (last != null) {
      sendBatch(last);
    }
  }

  @Override
  public ObjectPiece finish() throws DataUnavailableException, InterruptedException {
    sendRest();
    slots.awaitAll();
    NewBlob.Builder blob =
        NewBlob.newBuilder()
            .setId(id.toMessage())
            .setLength(sealedLength)
            .setProfile(profile.toMessage())
            .setPg(pg)
            .setEpoch(placement.epoch())
            .addAllAcks(slots.acks());
    return ObjectPiece.newBuilder().setBlob(blob).build();
  }

  @Override
  public void discard() {
    StripeBatch unsent = batch;
    if (unsent != null) {
      batch = null;
      unsent.release();
    }
    engine.metrics().abandonedBlobs.increment();
    slots.afterwards((slot, store) -> engine.cleaner().remove(store, id));
  }

  private void sendBatch(StripeBatch full) throws DataUnavailableException, InterruptedException {
    StripeBatch.@Nullable Piece[] pieces = full.seal(engine.codes().of(profile));
    engine.metrics().encodedBytes.increment(full.length());
    long shardOffset = sealedLength / profile.dataShards();
    batch = null;
    sealedLength += full.length();
    if (md5 == null) {
      send(full, pieces, shardOffset);
    } else {
      sendHashed(full, pieces, shardOffset, md5);
    }
  }

  private void sendHashed(
      StripeBatch full, StripeBatch.@Nullable Piece[] pieces, long shardOffset, Md5 hash)
      throws DataUnavailableException, InterruptedException {
    StripeBatch.Content content = full.content();
    boolean isTaken = false;
    try {
      send(full, pieces, shardOffset);
      hash.add(content.bytes(), content::release);
      isTaken = true;
    } finally {
      if (!isTaken) {
        content.release();
      }
    }
  }

  private void send(StripeBatch full, StripeBatch.@Nullable Piece[] pieces, long shardOffset)
      throws DataUnavailableException {
    slots.send(
        full,
        pieces,
        (store, slot, piece, told) ->
            store.write(
                new ShardWrite(
                    new ShardId(id, slot),
                    shardOffset,
                    piece.payload().duplicate(),
                    piece.blockCrcs()),
                told));
  }

  private int capacity(int windowBytes) {
    int stripes = EngineConfig.windowStripes(profile, windowBytes);
    return (int) Math.min((long) stripes * profile.stripeBytes(), remaining());
  }

  /** Reserves its memory, if needed by waiting for the batches in flight. */
  private StripeBatch newBatch() throws DataUnavailableException, InterruptedException {
    int capacity = StripeBatch.chooseCapacity(profile, engine.config(), memory, this::capacity);
    long bytes = StripeBatch.bytesMax(profile, capacity);
    if (!slots.tryHold(memory, bytes)) {
      if (md5 != null) {
        md5.await();
      }
      memory.hold(bytes);
    }
    return new StripeBatch(profile, engine.pool(), capacity, memory);
  }
}
