package dev.ashlar.blob.change;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.context.RequestMemory;
import dev.ashlar.blob.read.SliceRows;
import dev.ashlar.blob.write.BlobWriter;
import dev.ashlar.blob.write.PieceWriter;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.ObjectPiece;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.protocol.model.PlacementMap;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Distributes new bytes for a range of an object over blobs. Blobs that only this object refers to
 * are changed in place, and the last one grows if the object ends at its end; new blobs take the
 * rest. Used by one thread.
 */
public final class ChangePieces {
  private final EngineContext engine;
  private final List<SliceValue> slices;
  private final Map<BlobId, BlobRow> rows = new HashMap<>();
  private final long offset;
  private final long expectedLength;
  private final long lengthMax;
  private final AttemptId attempt;
  private final int profile;
  private final RequestMemory memory;
  private final List<PieceWriter> writers = new ArrayList<>();
  private final List<ObjectPiece> finished = new ArrayList<>();
  private @Nullable PieceWriter current;
  private long length;
  private int slice;
  private long sliceStart;

  /**
   * @param expectedLength likely bytes
   * @param lengthMax maximum bytes
   */
  public ChangePieces(
      EngineContext engine,
      ObjectRead object,
      long offset,
      long expectedLength,
      long lengthMax,
      RequestMemory memory) {
    this.engine = engine;
    this.slices = object.object().getSlicesList();
    object.blobs().forEach(row -> rows.put(BlobId.of(row.getId()), row));
    this.offset = offset;
    this.expectedLength = expectedLength;
    this.lengthMax = lengthMax;
    this.attempt = engine.ids().nextAttempt();
    this.profile = profile(engine, object).number();
    this.memory = memory;
  }

  /** The profile of new blobs of this object. */
  static PlacedProfile profile(EngineContext engine, ObjectRead object) {
    PlacementMap map = engine.metadata().placement();
    int slices = object.object().getSlicesCount();
    Optional<PlacedProfile> present =
        slices == 0
            ? map.ofClass(object.object().getSummary().getStorageClass())
            : map.numbered(BlobId.of(object.object().getSlices(slices - 1).getBlob()).profile());
    return present.orElseGet(map::standard);
  }

  AttemptId attempt() {
    return attempt;
  }

  void write(ByteBuffer bytes) throws DataUnavailableException, InterruptedException {
    while (bytes.hasRemaining()) {
      PieceWriter writer = current;
      if (writer == null) {
        writer = next();
        writers.add(writer);
        current = writer;
      }
      int before = bytes.remaining();
      writer.write(bytes);
      length += before - bytes.remaining();
      if (writer.remaining() == 0) {
        finished.add(writer.finish());
        current = null;
      }
    }
  }

  /** Waits until everything is durable. */
  List<ObjectPiece> finish() throws DataUnavailableException, InterruptedException {
    PieceWriter last = current;
    if (last != null) {
      finished.add(last.finish());
      current = null;
    }
    return List.copyOf(finished);
  }

  void discard() {
    writers.forEach(PieceWriter::discard);
  }

  private PieceWriter next() throws DataUnavailableException {
    long at = offset + length;
    moveTo(at);
    long left = expectedLength > length ? expectedLength - length : Long.MAX_VALUE;
    if (slice < slices.size()) {
      long inBlob = slices.get(slice).getOffset() + at - sliceStart;
      BlobRow row = row(slice);
      long room = Math.min(roomInPlace(slice, row) - inBlob, lengthMax - length);
      if (room > 0) {
        return new BlobChanger(
            engine, new BlobChanger.BlobAttempt(row, attempt), inBlob, room, left, memory);
      }
    }
    long fresh = Math.min(notInPlaceUntil() - at, engine.config().blobBytesMax());
    return new BlobWriter(engine, profile, Math.min(left, fresh), memory, null);
  }

  /** Moves to the slice of this position; the last one for positions beyond the end. */
  private void moveTo(long at) {
    while (slice + 1 < slices.size() && at >= sliceStart + slices.get(slice).getLength()) {
      sliceStart += slices.get(slice++).getLength();
    }
  }

  /** The end of the range of its blob that can be changed in place; 0 if none can. */
  private long roomInPlace(int index, BlobRow row) {
    SliceValue value = slices.get(index);
    long end = value.getOffset() + value.getLength();
    if (row.getReferences() != 1 || row.getFrozen()) {
      return 0;
    }
    boolean mayGrow = index == slices.size() - 1 && end == row.getLength();
    return mayGrow ? Math.max(end, engine.config().blobBytesMax()) : end;
  }

  /** Where in the object the next slice that can be changed in place begins. */
  private long notInPlaceUntil() throws DataUnavailableException {
    long position = sliceStart;
    for (int index = slice; index < slices.size(); index++) {
      if (index > slice && roomInPlace(index, row(index)) > 0) {
        return position;
      }
      position += slices.get(index).getLength();
    }
    return Long.MAX_VALUE;
  }

  private BlobRow row(int index) throws DataUnavailableException {
    BlobId id = BlobId.of(slices.get(index).getBlob());
    BlobRow row = rows.get(id);
    if (row == null) {
      for (BlobRow each : SliceRows.from(engine.metadata(), slices, index)) {
        rows.putIfAbsent(BlobId.of(each.getId()), each);
      }
      row = rows.get(id);
    }
    if (row == null) {
      throw new DataUnavailableException(
          Reason.CONFLICT, "blob " + id + " was removed concurrently");
    }
    return row;
  }
}
