package dev.ashlar.storage.drive;

import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.LogRequest.MovedExtent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The head of the log. Requests are added to a batch until it is full or nobody waits; committing
 * it is one write, one sync and one change of the index. For one thread.
 */
final class SegmentLog {
  /** From here on an aligned payload goes to the drive from where it is. */
  static final int UNCOPIED_BYTES_MIN = 64 * 1024;

  private final UUID drive;
  private final DriveConfig.Limits limits;
  private final Segments segments;
  private final ShardIndex index;
  private final SlabPool slabs;
  private final DriveMeters meters;
  private final Checksum checksum = new Checksum();
  private final List<ByteBuffer> buffers = new ArrayList<>();

  private volatile @Nullable Segment active;
  private volatile LogPosition end;
  private final AtomicLong writtenBytes = new AtomicLong();

  private final List<LogRequest> accepted = new ArrayList<>();
  private final List<LogRequest> rejected = new ArrayList<>();
  private final List<Pending> pending = new ArrayList<>();
  private final List<Tombstone> tombstones = new ArrayList<>();
  private final List<Removed> removed = new ArrayList<>();
  private final Set<BlobId> deleted = new HashSet<>();
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

  SegmentLog(
      UUID drive, DriveConfig.Limits limits, Parts parts, LogPosition end, Segments segments) {
    this.drive = drive;
    this.limits = limits;
    this.segments = segments;
    this.index = parts.index();
    this.slabs = parts.slabs();
    this.meters = parts.meters();
    this.end = end;
    this.active = segments.get(end.segment());
  }

  /** What the log works with. */
  record Parts(ShardIndex index, SlabPool slabs, DriveMeters meters) {}

  LogPosition end() {
    return end;
  }

  /** The segment that is written to now; 0 before the first. */
  long activeSegment() {
    Segment segment = active;
    return segment == null ? 0 : segment.id();
  }

  /** Bytes of all batches since the drive was opened. */
  long writtenBytes() {
    return writtenBytes.get();
  }

  /** Takes the request into the batch; false: commit first, there is no room for it. */
  boolean add(LogRequest request) throws IOException {
    if (!accepted.isEmpty() && accepted.getLast() instanceof LogRequest.Move) {
      return false; // a move goes alone: on a full drive it may have room where others have none
    }
    boolean taken =
        switch (request) {
          case LogRequest.Write write -> addWrite(write.write());
          case LogRequest.Delete delete -> addDelete(delete);
          case LogRequest.Move move -> addMove(move);
        };
    if (taken) {
      accepted.add(request);
    }
    return taken;
  }

  /** What is in the batch; after {@link #commit}, what it made durable. */
  List<LogRequest> accepted() {
    return accepted;
  }

  /** What {@link #commit} had to leave out because the drive is full. */
  List<LogRequest> rejected() {
    return rejected;
  }

  /** Forgets the batch, for the next. */
  void clear() {
    accepted.clear();
    rejected.clear();
    clearContents();
  }

  /**
   * Makes the batch durable and visible. After a failure the log must not be used again: what of
   * the batch reached the drive is not known.
   */
  void commit() throws IOException {
    if (!hasContents()) {
      return;
    }
    if (!makeRoom()) {
      rejectWrites();
      if (!hasContents()) {
        return;
      }
      if (!makeRoom()) {
        rejected.addAll(accepted);
        accepted.clear();
        return;
      }
    }
    writeBatch(requireActive());
  }

  private boolean hasContents() {
    return !pending.isEmpty() || !tombstones.isEmpty();
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
    if (!accepted.isEmpty()) {
      return false;
    }
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
    return SegmentFormat.roundUp(directory + packed) + body <= limits.batchBytesMax();
  }

  private int batchBytes() {
    return SegmentFormat.roundUp(directoryBytes + packedBytes) + bodyBytes;
  }

  /** Goes on to the next segment where the batch does not fit this one. */
  private boolean makeRoom() throws IOException {
    Segments.Need need = need();
    if (active != null
        && end.offset() + batchBytes() <= segments.segmentBytes()
        && segments.mayFill(need)) {
      return true;
    }
    Segment next = segments.allocate(need);
    if (next == null) {
      return false;
    }
    active = next;
    end = new LogPosition(end.sequence(), next.id(), 0);
    return true;
  }

  private Segments.Need need() {
    Segments.Need need = Segments.Need.DELETE;
    for (LogRequest request : accepted) {
      if (request instanceof LogRequest.Write) {
        return Segments.Need.NEW_DATA;
      } else if (request instanceof LogRequest.Move) {
        need = Segments.Need.MOVE;
      }
    }
    return need;
  }

  private void rejectWrites() throws IOException {
    List<LogRequest> others = new ArrayList<>();
    for (LogRequest request : accepted) {
      (request instanceof LogRequest.Write ? rejected : others).add(request);
    }
    accepted.clear();
    clearContents();
    for (LogRequest request : others) {
      if (!add(request)) {
        throw new IllegalStateException("fitted before");
      }
    }
  }

  private void writeBatch(Segment segment) throws IOException {
    int packedEnd = directoryBytes + packedBytes;
    int bodiesAt = SegmentFormat.roundUp(packedEnd);
    int total = bodiesAt + bodyBytes;
    long sequence = end.sequence() + 1;
    List<Extent> extents = new ArrayList<>(pending.size());
    Slab slab = slabs.acquire(bodiesAt);
    try {
      ByteBuffer batch = slab.buffer();
      layOut(batch, segment, sequence, extents);
      for (int at = packedEnd; at < bodiesAt; at++) {
        batch.put(at, (byte) 0);
      }
      SegmentFormat.sealDirectory(
          batch,
          new SegmentFormat.BatchHeader(
              drive,
              segment.id(),
              end.offset(),
              total,
              sequence,
              pending.size() + tombstones.size(),
              directoryBytes),
          checksum);
      buffers.set(0, batch.clear().limit(bodiesAt));
      segment.file().write(buffers, end.offset());
      segment.file().sync();
    } finally {
      buffers.clear();
      slab.release();
    }
    meters.wrote(total);
    writtenBytes.lazySet(writtenBytes.get() + total);
    LogPosition reached = new LogPosition(sequence, segment.id(), end.offset() + total);
    commitToIndex(segment, extents, reached);
    end = reached;
  }

  /** Writes records and small payloads to the batch's memory and collects bodies behind it. */
  private void layOut(ByteBuffer batch, Segment segment, long sequence, List<Extent> extents) {
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
      int position = end.offset() + (body > 0 ? bodyAt : packedAt);
      int tailPosition = body > 0 && packed > 0 ? end.offset() + packedAt : 0;
      Extent extent =
          new Extent(
              next.firstBlock(),
              length,
              segment.id(),
              position,
              tailPosition,
              sequence,
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

  private void commitToIndex(Segment segment, List<Extent> extents, LogPosition reached)
      throws IOException {
    IndexChange change = new IndexChange(index.update(), segments);
    for (Removed gone : removed) {
      change.remove(gone.blob(), gone.slot(), gone.extent());
    }
    for (int i = 0; i < extents.size(); i++) {
      Pending written = pending.get(i);
      change.put(written.shard(), extents.get(i), written.from());
    }
    change.addTombstones(segment.id(), tombstones.size());
    change.commit(reached);
  }

  private Segment requireActive() {
    Segment segment = active;
    if (segment == null) {
      throw new IllegalStateException("no segment");
    }
    return segment;
  }

  private void clearContents() {
    pending.clear();
    tombstones.clear();
    removed.clear();
    deleted.clear();
    directoryBytes = SegmentFormat.HEADER_BYTES;
    packedBytes = 0;
    bodyBytes = 0;
  }

  private static boolean isBody(ByteBuffer payload) {
    return payload.remaining() >= UNCOPIED_BYTES_MIN
        && payload.alignmentOffset(payload.position(), SegmentFormat.BLOCK) == 0;
  }
}
