package dev.ashlar.blob;

import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Reads a range of an object: its slices in order, cut into windows of whole stripes; the next
 * windows are read while one is handed over. Used by one thread.
 */
final class ObjectReader {
  private final Engine engine;
  private final ObjectRead object;
  private final Map<BlobId, BlobRow> blobs = new HashMap<>();
  private final ArrayDeque<WindowRead> ahead = new ArrayDeque<>();
  private final Set<UUID> silentDrives = new HashSet<>();

  ObjectReader(Engine engine, ObjectRead object) {
    this.engine = engine;
    this.object = object;
    object.blobs().forEach(row -> blobs.put(BlobId.of(row.getId()), row));
  }

  void read(ByteRange range, DataSink sink) throws DataUnavailableException, InterruptedException {
    try {
      long sliceStart = 0;
      List<SliceValue> slices = object.object().getSlicesList();
      for (int i = 0; i < slices.size() && sliceStart < range.end(); i++) {
        SliceValue slice = slices.get(i);
        long from = Math.max(range.offset(), sliceStart);
        long to = Math.min(range.end(), sliceStart + slice.getLength());
        if (from < to) {
          BlobRow blob = blob(slices, i);
          readBlob(blob, slice.getOffset() + from - sliceStart, to - from, sink);
        }
        sliceStart += slice.getLength();
      }
      while (!ahead.isEmpty()) {
        deliverOldest(sink);
      }
    } finally {
      ahead.forEach(WindowRead::abandon);
    }
  }

  private void readBlob(BlobRow blob, long offset, long length, DataSink sink)
      throws DataUnavailableException, InterruptedException {
    Profile profile = Profile.of(blob.getProfile());
    long window =
        (long) EngineConfig.windowStripes(profile, engine.config().windowBytes())
            * profile.stripeBytes();
    long end = offset + length;
    for (long from = offset; from < end; ) {
      long to = Math.min(end, (from / window + 1) * window);
      while (ahead.size() >= engine.config().windowsInFlight()) {
        deliverOldest(sink);
      }
      ahead.add(
          new WindowRead(engine, blob, profile, new ByteRange(from, to - from), silentDrives));
      from = to;
    }
  }

  private void deliverOldest(DataSink sink) throws DataUnavailableException, InterruptedException {
    WindowRead oldest = ahead.element();
    oldest.deliver(sink);
    ahead.remove();
  }

  private BlobRow blob(List<SliceValue> slices, int index) throws DataUnavailableException {
    BlobId id = BlobId.of(slices.get(index).getBlob());
    BlobRow row = blobs.get(id);
    if (row == null) {
      row = fetchBlobs(slices, index, id);
    }
    return row;
  }

  private BlobRow fetchBlobs(List<SliceValue> slices, int index, BlobId wanted)
      throws DataUnavailableException {
    blobs.clear();
    List<BlobId> ids =
        slices.subList(index, Math.min(slices.size(), index + ObjectRead.BLOBS_MAX)).stream()
            .map(slice -> BlobId.of(slice.getBlob()))
            .distinct()
            .toList();
    try {
      engine.metadata().blobs(ids).forEach(row -> blobs.put(BlobId.of(row.getId()), row));
    } catch (MetadataUnavailableException e) {
      throw new DataUnavailableException(Reason.TOO_FEW_DRIVES, "metadata: " + e.getMessage());
    }
    BlobRow row = blobs.get(wanted);
    if (row == null) {
      throw new DataUnavailableException(Reason.GONE, "blob " + wanted + " was removed");
    }
    return row;
  }
}
