package dev.ashlar.blob.read;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.DataUnavailableException.Reason;
import dev.ashlar.blob.ObjectStore.DataSink;
import dev.ashlar.blob.context.BlobRows;
import dev.ashlar.blob.context.EngineConfig;
import dev.ashlar.blob.context.EngineContext;
import dev.ashlar.blob.context.RequestMemory;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.SliceValue;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Reads a range of an object: its slices in order, in windows of whole stripes. The next windows
 * are read while one is delivered. A window from memory is delivered before the next is read. Each
 * blob is read in the revision in which it was first seen, or in a later one that did not change
 * its old bytes. Used by one thread.
 */
public final class ObjectReader {
  private final EngineContext engine;
  private final ObjectRead object;
  private final Map<BlobId, BlobRow> blobs = new HashMap<>();
  private final ArrayDeque<Window> ahead = new ArrayDeque<>();
  private final Set<UUID> silentDrives = new HashSet<>();
  private final RequestMemory memory;

  private record Window(ByteRange range, WindowRead read) {}

  public ObjectReader(EngineContext engine, ObjectRead object) {
    this.engine = engine;
    this.object = object;
    this.memory = new RequestMemory(engine.memory());
    object.blobs().forEach(row -> blobs.put(BlobId.of(row.getId()), row));
  }

  /** Accepts a row that is newer than the object, if it still has the object's bytes. */
  private void accept(BlobRow row) throws DataUnavailableException {
    BlobId id = BlobId.of(row.getId());
    if (row.getRewritten() > object.object().getVersion()) {
      throw new DataUnavailableException(Reason.GONE, "blob " + id + " was changed concurrently");
    }
    blobs.put(id, row);
  }

  public void read(ByteRange range, DataSink sink)
      throws DataUnavailableException, InterruptedException {
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
          if (!memory.isOpen()) {
            open(BlobRows.layout(blob), part, behind(slices, i, range.end() - sliceStart));
          }
          readBlob(blob, part, sink);
        }
        sliceStart += slice.getLength();
      }
      while (!ahead.isEmpty()) {
        deliverOldest(sink);
      }
    } finally {
      ahead.forEach(window -> window.read().abandon());
      memory.close();
    }
  }

  /** The slices that begin within so many bytes, from the start of this one on, without it. */
  private static List<SliceValue> behind(List<SliceValue> slices, int index, long bytes) {
    int end = index + 1;
    long position = slices.get(index).getLength();
    while (end < slices.size() && position < bytes) {
      position += slices.get(end++).getLength();
    }
    return slices.subList(index + 1, end);
  }

  /**
   * Reserves memory to begin with. Only now may the request wait for others, so this must suffice
   * for the blobs behind the first as well, which may have other profiles.
   */
  private void open(StripeLayout layout, ByteRange part, List<SliceValue> behind)
      throws DataUnavailableException, InterruptedException {
    EngineConfig config = engine.config();
    boolean isMoreBehind = !behind.isEmpty();
    List<Profile> others = profiles(behind, layout.profile());
    memory.open(
        share(layout, part, isMoreBehind, others, config.windowBytes()),
        share(layout, part, isMoreBehind, others, config.leastWindowBytes()));
  }

  /** The profiles of these blobs that are not this one. */
  private List<Profile> profiles(List<SliceValue> slices, Profile but) {
    if (slices.isEmpty()) {
      return List.of();
    }
    PlacementMap map = engine.metadata().placement();
    return slices.stream()
        .mapToInt(slice -> BlobId.of(slice.getBlob()).profile())
        .distinct()
        .mapToObj(map::numbered)
        .flatMap(Optional::stream)
        .map(PlacedProfile::profile)
        .filter(profile -> !profile.equals(but))
        .toList();
  }

  private void readBlob(BlobRow blob, ByteRange part, DataSink sink)
      throws DataUnavailableException, InterruptedException {
    StripeLayout layout = BlobRows.layout(blob);
    int window = window(layout.profile());
    for (long from = part.offset(); from < part.end(); ) {
      ByteRange range = firstWindow(from, part, window);
      ByteRange[] needed = WindowRead.needed(layout, range);
      holdMemory(WindowRead.bytesMax(layout, needed), sink);
      ahead.add(
          new Window(
              range,
              WindowRead.start(engine, blob, needed, silentDrives, memory, this::unchangedSince)));
      from = range.end();
      // At once: it came from memory and is still in the processor's cache. Windows that drives
      // have sent meanwhile wait until the next one is asked for.
      if (ahead.getLast().read().hasArrived()) {
        while (!ahead.isEmpty() && ahead.element().read().hasArrived()) {
          deliverOldest(sink);
        }
      }
    }
  }

  private int window(Profile profile) {
    EngineConfig config = engine.config();
    return window(profile, memory.isRoomy() ? config.windowBytes() : config.leastWindowBytes());
  }

  private static int window(Profile profile, int bytes) {
    return EngineConfig.windowStripes(profile, bytes) * profile.stripeBytes();
  }

  private static ByteRange firstWindow(long from, ByteRange part, long window) {
    long to = Math.min(part.end(), (from / window + 1) * window);
    return new ByteRange(from, to - from);
  }

  /**
   * Memory that a read needs to begin: two windows if it has several, because the receiver may keep
   * the end of one until it receives more.
   *
   * @param others further profiles of the blobs behind
   */
  private static long share(
      StripeLayout layout,
      ByteRange part,
      boolean isMoreBehind,
      List<Profile> others,
      int windowBytes) {
    int window = window(layout.profile(), windowBytes);
    ByteRange first = firstWindow(part.offset(), part, window);
    long bytes = WindowRead.bytesMax(layout, WindowRead.needed(layout, first));
    boolean isLast = first.end() == part.end() && !isMoreBehind;
    long own = isLast ? bytes : 2 * WindowRead.bytesMax(layout.profile(), window);
    return others.stream()
        .mapToLong(profile -> 2 * WindowRead.bytesMax(profile, window(profile, windowBytes)))
        .reduce(own, Math::max);
  }

  /** Reserves memory for the next window, if needed by delivering the oldest. */
  private void holdMemory(long bytes, DataSink sink)
      throws DataUnavailableException, InterruptedException {
    while (ahead.size() >= engine.config().windowsInFlight() || !memory.tryHold(bytes)) {
      if (ahead.isEmpty()) {
        memory.hold(bytes);
        return;
      }
      deliverOldest(sink);
    }
  }

  private void deliverOldest(DataSink sink) throws DataUnavailableException, InterruptedException {
    Window oldest = ahead.element();
    oldest.read().deliver(oldest.range(), sink);
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
    for (BlobRow row : SliceRows.from(engine.metadata(), slices, index)) {
      accept(row);
    }
    BlobRow row = blobs.get(wanted);
    if (row == null) {
      throw new DataUnavailableException(Reason.GONE, "blob " + wanted + " was removed");
    }
    return row;
  }

  /** The blob in a revision that drives still have. */
  private BlobRow unchangedSince(BlobRow stale) throws DataUnavailableException {
    BlobId id = BlobId.of(stale.getId());
    BlobRow row = blobs.get(id);
    if (row == null || row.getRevision() <= stale.getRevision()) { // or was read before a repair
      List<BlobRow> rows = SliceRows.of(engine.metadata(), List.of(id));
      row = rows.isEmpty() ? stale : rows.getFirst();
    }
    boolean isNewer =
        row.getRevision() > stale.getRevision()
            || row.getSettled() > stale.getSettled(); // a shard was renamed
    if (!isNewer || row.getReferences() == 0) {
      throw new DataUnavailableException(Reason.GONE, "blob " + id + " was changed or removed");
    }
    accept(row);
    return row;
  }
}
