package dev.ashlar.storage.drive;

import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.LogRequest.MovedExtent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What is gathered for the next batch of the log, and how it is laid out. For one thread. */
final class LogBatch {
  /** From here on an aligned payload goes to the drive from where it is. */
  static final int UNCOPIED_BYTES_MIN = 64 * 1024;

  private final int bytesMax;
  private final Segments segments;
  private final ShardIndex index;
  private final List<Pending> pending = new ArrayList<>();
  private final List<Tombstone> tombstones = new ArrayList<>();
  private final List<Removed> removed = new ArrayList<>();
  private final Set<BlobId> deleted = new HashSet<>();
  private long segmentToLeave;
  private int directoryBytes = SegmentFormat.HEADER_BYTES;
  private int packedBytes;
  private int bodyBytes;

  /** An extent of the batch that is being gathered; {@code from} where it is moved from. */
  private record Pending(
      ShardId shard,
      int firstBlock,
      ByteBuffer payload,
      int[] crcs,
      @Nullable Extent from,
      short flags) {
    int bodyBytes() {
      return isBody(payload) ? payload.remaining() & -SegmentFormat.BLOCK : 0;
    }
  }

  private record Removed(BlobId blob, int slot, Extent extent) {}

  LogBatch(int bytesMax, Segments segments, ShardIndex index) {
    this.bytesMax = bytesMax;
    this.segments = segments;
    this.index = index;
  }

  /** Takes all of the request in; false: there is no room for it. */
  boolean add(LogRequest request) throws IOException {
    return switch (request) {
      case LogRequest.Write write -> addWrite(write.write());
      case LogRequest.Delete delete -> addDelete(delete);
      case LogRequest.Move move -> addMove(move);
    };
  }

  /** Whether there is anything to write. */
  boolean hasContents() {
    return !pending.isEmpty() || !tombstones.isEmpty() || segmentToLeave != 0;
  }

  /** Whether it must not go into this segment. */
  boolean leaves(Segment segment) {
    return segment.id() == segmentToLeave;
  }

  int records() {
    return pending.size() + tombstones.size();
  }

  int directoryBytes() {
    return directoryBytes;
  }

  /** Where what is packed behind the directory ends. */
  int packedEnd() {
    return directoryBytes + packedBytes;
  }

  int bodyBytes() {
    return bodyBytes;
  }

  private boolean addWrite(ShardWrite write) {
    int firstBlock = (int) (write.offset() / SegmentFormat.BLOCK);
    return addPending(
        new Pending(
            write.shard(), firstBlock, write.payload(), write.blockCrcs(), null, (short) 0));
  }

  private boolean addPending(Pending extent) {
    int body = extent.bodyBytes();
    int newDirectory = directoryBytes + SegmentFormat.extentHeaderBytes(extent.crcs().length);
    int newPacked = packedBytes + extent.payload().remaining() - body;
    if (!fitsBatch(newDirectory, newPacked, bodyBytes + body)) {
      return false;
    }
    pending.add(extent);
    directoryBytes = newDirectory;
    packedBytes = newPacked;
    bodyBytes += body;
    return true;
  }

  private boolean addDelete(LogRequest.Delete delete) throws IOException {
    int bytes = delete.blobs().size() * SegmentFormat.TOMBSTONE_BYTES;
    if (!fitsBatch(directoryBytes + bytes, packedBytes, bodyBytes) || writesAnyOf(delete.blobs())) {
      return false;
    }
    for (BlobId blob : delete.blobs()) {
      addDelete(blob);
    }
    return true;
  }

  /** A blob that is not here leaves no tombstone. */
  private void addDelete(BlobId blob) throws IOException {
    if (!deleted.add(blob)) {
      return;
    }
    int before = removed.size();
    index.forEachExtent(blob, (slot, extent) -> removed.add(new Removed(blob, slot, extent)));
    if (removed.size() == before) {
      return;
    }
    long lowest = Long.MAX_VALUE;
    long highest = 0;
    for (int i = before; i < removed.size(); i++) {
      long segment = removed.get(i).extent().segment();
      lowest = Math.min(lowest, segment);
      highest = Math.max(highest, segment);
    }
    addTombstone(segments.tombstone(blob, lowest, highest));
  }

  private void addTombstone(Tombstone tombstone) {
    tombstones.add(tombstone);
    directoryBytes += SegmentFormat.TOMBSTONE_BYTES;
  }

  private boolean writesAnyOf(List<BlobId> blobs) {
    for (Pending extent : pending) {
      if (blobs.contains(extent.shard().blob())) {
        return true;
      }
    }
    return false;
  }

  /** All of it or nothing; what has been deleted or moved meanwhile is dropped. */
  private boolean addMove(LogRequest.Move move) throws IOException {
    segmentToLeave = move.segment();
    for (MovedExtent moved : move.extents()) {
      Extent from = moved.from();
      Extent now = index.find(moved.shard(), from.firstBlock());
      if (now != null && now.liesWhere(from)) {
        short flags = moved.isDamaged() ? SegmentFormat.DAMAGED : 0;
        Pending extent =
            new Pending(
                moved.shard(), from.firstBlock(), moved.payload(), from.crcs(), from, flags);
        if (!addPending(extent)) {
          throw new IllegalArgumentException("a move of more than one batch");
        }
      }
    }
    for (Tombstone tombstone : move.tombstones()) {
      addTombstone(tombstone);
    }
    return true;
  }

  private boolean fitsBatch(int directory, int packed, int body) {
    return SegmentFormat.roundUp(directory + packed) + body <= bytesMax;
  }

  int bytes() {
    return SegmentFormat.roundUp(directoryBytes + packedBytes) + bodyBytes;
  }

  /**
   * Writes records and small payloads to the batch's memory and collects bodies behind it.
   *
   * @param at where the batch will begin, with its own sequence
   */
  void layOut(ByteBuffer batch, LogPosition at, List<ByteBuffer> buffers, List<Extent> extents) {
    buffers.add(batch);
    batch.position(SegmentFormat.HEADER_BYTES);
    for (Tombstone tombstone : tombstones) {
      SegmentFormat.putTombstone(batch, tombstone);
    }
    int packedAt = directoryBytes;
    int bodyAt = SegmentFormat.roundUp(directoryBytes + packedBytes);
    for (Pending next : pending) {
      ByteBuffer payload = next.payload();
      int length = payload.remaining();
      int body = next.bodyBytes();
      int packed = length - body;
      int position = at.offset() + (body > 0 ? bodyAt : packedAt);
      int tailPosition = body > 0 && packed > 0 ? at.offset() + packedAt : 0;
      Extent extent =
          new Extent(
              next.firstBlock(),
              length,
              at.segment(),
              position,
              tailPosition,
              at.sequence(),
              next.crcs());
      extents.add(extent);
      SegmentFormat.putExtent(batch, next.shard(), extent, next.flags());
      if (body > 0) {
        buffers.add(payload.slice(payload.position(), body));
      }
      batch.put(packedAt, payload, payload.position() + body, packed);
      packedAt += packed;
      bodyAt += body;
    }
  }

  /** Makes visible what was laid out. */
  void commitToIndex(List<Extent> extents, LogPosition reached) throws IOException {
    IndexChange change = new IndexChange(index.update(), segments);
    for (Removed gone : removed) {
      change.remove(gone.blob(), gone.slot(), gone.extent());
    }
    for (int i = 0; i < extents.size(); i++) {
      Pending written = pending.get(i);
      change.put(written.shard(), extents.get(i), written.from());
    }
    change.addTombstones(reached.segment(), tombstones.size());
    change.commit(reached);
  }

  void clear() {
    pending.clear();
    tombstones.clear();
    removed.clear();
    deleted.clear();
    segmentToLeave = 0;
    directoryBytes = SegmentFormat.HEADER_BYTES;
    packedBytes = 0;
    bodyBytes = 0;
  }

  private static boolean isBody(ByteBuffer payload) {
    return payload.remaining() >= UNCOPIED_BYTES_MIN
        && payload.alignmentOffset(payload.position(), SegmentFormat.BLOCK) == 0;
  }
}
