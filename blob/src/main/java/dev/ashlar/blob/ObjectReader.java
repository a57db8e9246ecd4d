package dev.ashlar.blob;

import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.StripeLayout;
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
  private final RequestMemory memory;

  ObjectReader(Engine engine, ObjectRead object) {
    this.engine = engine;
    this.object = object;
    this.memory = new RequestMemory(engine.memory());
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
          ByteRange part = new ByteRange(slice.getOffset() + from - sliceStart, to - from);
          readBlob(blob, part, to < range.end(), sink);
        }
        sliceStart += slice.getLength();
      }
      while (!ahead.isEmpty()) {
        deliverOldest(sink);
      }
    } finally {
      ahead.forEach(WindowRead::abandon);
      memory.close();
    }
  }

  private void readBlob(BlobRow blob, ByteRange part, boolean isMoreBehind, DataSink sink)
      throws DataUnavailableException, InterruptedException {
    Profile profile = Profile.of(blob.getProfile());
    StripeLayout layout = new StripeLayout(profile, blob.getLength());
    long window =
        (long) EngineConfig.windowStripes(profile, engine.config().windowBytes())
            * profile.stripeBytes();
    for (long from = part.offset(); from < part.end(); ) {
      long to = Math.min(part.end(), (from / window + 1) * window);
      ByteRange range = new ByteRange(from, to - from);
      long bytes = WindowRead.bytesMax(layout, range);
      boolean isLast = to == part.end() && !isMoreBehind;
      holdMemory(bytes, isLast ? 0 : WindowRead.bytesMax(profile, (int) window), sink);
      ahead.add(new WindowRead(engine, blob, layout, range, silentDrives, memory));
      from = to;
    }
  }

  /**
   * Makes room for the next window, in which delivering the oldest helps. The share of a longer
   * read is two windows from the start: the receiver may keep the end of one back until it gets
   * more.
   */
  private void holdMemory(long bytes, long bytesBehind, DataSink sink)
      throws DataUnavailableException, InterruptedException {
    if (!memory.isOpen()) {
      memory.open(bytes + bytesBehind);
    }
    while (ahead.size() >= engine.config().windowsInFlight() || !memory.tryHold(bytes)) {
      if (ahead.isEmpty()) {
        memory.hold(bytes);
        return;
      }
      deliverOldest(sink);
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
