package dev.ashlar.storage.drive.segment;

import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.storage.drive.segment.SegmentFormat.BatchHeader;
import dev.ashlar.storage.io.FileNotOpenedException;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads batches out of segments, into memory that the next read overwrites. */
public final class BatchScanner implements AutoCloseable {
  private static final int BLOCK = SegmentFormat.BLOCK;
  private static final int STRIDE_BYTES = 64 * 1024;

  /** Of a start that is refused rather than that something is taken for lost. */
  public static final String REMEDY =
      ". Nothing was deleted. Check the cables and the controller of the drive, then start again;"
          + " if it stays so, replace the drive";

  private final UUID drive;
  private final int segmentBytes;
  private final SlabPool slabs;
  private Slab slab;
  private ByteBuffer memory;
  private final Checksum checksum = new Checksum();
  private final UnreadableRanges unread = new UnreadableRanges();
  private boolean sawIoError;

  /** The directory that the memory holds; null: something else. */
  private @Nullable BatchHeader loaded;

  public BatchScanner(UUID drive, int segmentBytes, SlabPool slabs) {
    this.drive = drive;
    this.segmentBytes = segmentBytes;
    this.slabs = slabs;
    slab = slabs.acquire(STRIDE_BYTES);
    memory = slab.buffer();
  }

  @Override
  public void close() {
    slab.release();
  }

  /** Told of each record of a batch, in its order. */
  public interface RecordVisitor {
    void piece(ShardPiece piece) throws IOException;

    void mark(LogMarker mark) throws IOException;
  }

  /** Whether anything that was looked at since the last call could not be read. */
  public boolean takeIoError() {
    boolean saw = sawIoError;
    sawIoError = false;
    return saw;
  }

  /**
   * Reads again what could not be read, and fails unless it is the same again. Bad sectors stay
   * what they are; an error that passes is of the cables or the controller, and says nothing of
   * what is on the drive. Bad sectors do not take whole segments either.
   */
  public void confirmUnread() throws IOException {
    for (UnreadableRanges.Place place : unread.all()) {
      if (load(place.segment(), place.offset(), place.bytes())) {
        throw new IOException(
            place.segment() + " can be read only now and then at " + place.offset() + REMEDY);
      }
    }
    for (Segment segment : unread.segments()) {
      if (!canReadAny(segment)) {
        throw new IOException("nothing of " + segment + " can be read" + REMEDY);
      }
    }
    if (unread.isOverfull()) {
      throw new IOException(
          "more than " + UnreadableRanges.MAX + " blocks cannot be read" + REMEDY);
    }
    unread.clear();
  }

  private boolean canReadAny(Segment segment) throws FileNotOpenedException {
    for (int at = 0; at < segmentBytes; at += STRIDE_BYTES) {
      if (load(segment, at, BLOCK)) {
        return true;
      }
    }
    return false;
  }

  /** Loads the directory of the batch that begins here; null if there is none that is whole. */
  public @Nullable BatchHeader directoryAt(Segment segment, int offset) throws IOException {
    BatchHeader present = loaded;
    if (present != null && present.segment() == segment.id() && present.offset() == offset) {
      return present;
    }
    if (offset > segmentBytes - BLOCK || !load(segment, offset, BLOCK)) {
      return null;
    }
    if (memory.getInt(0) != SegmentFormat.MAGIC) {
      return null;
    }
    BatchHeader header = SegmentFormat.header(memory, 0);
    if (header.segment() != segment.id()
        || header.offset() != offset
        || !header.drive().equals(drive)
        || header.bytes() < BLOCK
        || header.bytes() > Math.min(SlabPool.MAX_SLAB_BYTES, segmentBytes - offset)
        || header.directoryBytes() < SegmentFormat.HEADER_BYTES
        || header.directoryBytes() > header.bytes()) {
      return null;
    }
    if (header.directoryBytes() > BLOCK
        && !load(segment, offset, SegmentFormat.roundUp(header.directoryBytes()))) {
      return null;
    }
    int crc = SegmentFormat.directoryCrc(memory, 0, header.directoryBytes(), checksum);
    if (crc != memory.getInt(SegmentFormat.CRC_AT)) {
      return null;
    }
    if (header.version() < SegmentFormat.VERSION_MIN || header.version() > SegmentFormat.VERSION) {
      throw new IOException(
          "a batch has format version "
              + header.version()
              + "; this program reads up to "
              + SegmentFormat.VERSION);
    }
    loaded = header;
    return header;
  }

  /** Whether a batch of this segment begins here, or may: the block cannot be read. */
  public boolean mayBeginAt(Segment segment, int offset) throws FileNotOpenedException {
    if (offset > segmentBytes - BLOCK) {
      return false;
    }
    if (!load(segment, offset, BLOCK)) {
      return true;
    }
    BatchHeader header = SegmentFormat.header(memory, 0);
    return memory.getInt(0) == SegmentFormat.MAGIC
        && header.segment() == segment.id()
        && header.offset() == offset;
  }

  /** Loads the whole batch and compares every payload with its checksums. */
  public boolean payloadsMatch(Segment segment, BatchHeader header) throws IOException {
    if (!load(segment, header.offset(), header.bytes())) {
      return false;
    }
    int at = SegmentFormat.HEADER_BYTES;
    for (int i = 0; i < header.records(); i++) {
      if (SegmentFormat.isPiece(memory, at)
          && !SegmentFormat.isDamaged(memory, at)
          && !matches(SegmentFormat.piece(memory, at, header).extent(), header)) {
        return false;
      }
      at += SegmentFormat.recordBytes(memory, at);
    }
    return true;
  }

  /** Visits the records of the directory that was loaded last. */
  public void forEachRecord(BatchHeader header, RecordVisitor visitor) throws IOException {
    int at = SegmentFormat.HEADER_BYTES;
    for (int i = 0; i < header.records(); i++) {
      int next = at + SegmentFormat.recordBytes(memory, at);
      if (SegmentFormat.isPiece(memory, at)) {
        visitor.piece(SegmentFormat.piece(memory, at, header));
      } else if (!SegmentFormat.isHistory(memory, at)) {
        visitor.mark(SegmentFormat.mark(memory, at));
      }
      at = next;
    }
  }

  /** What the batch of the directory that was loaded last stores about the batches before it. */
  public ChangeHistory.Stored history(BatchHeader header) throws IOException {
    int at = SegmentFormat.HEADER_BYTES;
    for (int i = 0; i < header.records(); i++) {
      if (SegmentFormat.isHistory(memory, at)) {
        return SegmentFormat.history(memory, at);
      }
      at += SegmentFormat.recordBytes(memory, at);
    }
    return ChangeHistory.Stored.NONE;
  }

  /** Loads the directory of the batch that ends here; null if it cannot be found. */
  public @Nullable BatchHeader directoryBefore(Segment segment, int end) throws IOException {
    int lowest = Math.max(0, end - SlabPool.MAX_SLAB_BYTES);
    for (int top = end; top > lowest; ) {
      int at = Math.max(lowest, top - STRIDE_BYTES);
      long candidates = load(segment, at, top - at) ? magicBlocks(top - at) : 0;
      for (int block = (top - at) / BLOCK - 1; block >= 0; block--) {
        if ((candidates >>> block & 1) != 0) {
          BatchHeader found = directoryAt(segment, at + block * BLOCK);
          if (found != null && found.offset() + found.bytes() == end) {
            return found;
          }
        }
      }
      top = at;
    }
    return null;
  }

  /** The first whole directory of a later batch, from this offset of the segment on. */
  public @Nullable BatchHeader firstAbove(Segment segment, int offset, long sequence)
      throws IOException {
    for (int at = offset; at < segmentBytes; ) {
      int stride = Math.min(STRIDE_BYTES, segmentBytes - at);
      long candidates =
          load(segment, at, stride) ? magicBlocks(stride) : -1L >>> (64 - stride / BLOCK);
      for (int block = 0; candidates >>> block != 0 && block < stride / BLOCK; block++) {
        if ((candidates >>> block & 1) != 0) {
          BatchHeader found = directoryAt(segment, at + block * BLOCK);
          if (found != null && found.sequence() > sequence) {
            return found;
          }
        }
      }
      at += stride;
    }
    return null;
  }

  /**
   * Durably overwrites what may be the beginning of a batch of this segment. Also where none is
   * seen: the zeros of an earlier try may have been read from memory that was never written.
   */
  public void eraseHeader(Segment segment, int offset) throws IOException {
    if (offset > segmentBytes - BLOCK || !load(segment, offset, BLOCK)) {
      return;
    }
    for (int at = 0; at < BLOCK; at += Long.BYTES) {
      memory.putLong(at, 0);
    }
    writeBack(segment, offset, BLOCK);
  }

  /**
   * Makes the batch durable that {@link #payloadsMatch} has loaded, by writing it again: after a
   * failed sync the kernel may keep pages that it takes for written, and syncing does nothing.
   */
  public void rewrite(Segment segment, BatchHeader header) throws IOException {
    writeBack(segment, header.offset(), header.bytes());
  }

  private void writeBack(Segment segment, int offset, int bytes) throws IOException {
    segment.file().write(List.of(memory.slice(0, bytes)), offset);
    segment.file().sync();
  }

  private long magicBlocks(int bytes) {
    long found = 0;
    for (int block = 0; block < bytes / BLOCK; block++) {
      if (memory.getInt(block * BLOCK) == SegmentFormat.MAGIC) {
        found |= 1L << block;
      }
    }
    return found;
  }

  private boolean matches(Extent extent, BatchHeader header) {
    int body = extent.bodyLength();
    int from = extent.position() - header.offset();
    boolean bodyMatches = checksum.firstMismatch(memory, from, body, extent.crcs(), 0) < 0;
    if (bodyMatches && body < extent.length()) {
      int tail = extent.tailPosition() - header.offset();
      int tailBytes = extent.length() - body;
      bodyMatches =
          checksum.firstMismatch(memory, tail, tailBytes, extent.crcs(), body / BLOCK) < 0;
    }
    memory.clear();
    return bodyMatches;
  }

  private boolean load(Segment segment, int offset, int bytes) throws FileNotOpenedException {
    loaded = null;
    if (bytes > memory.capacity()) {
      Slab larger = slabs.acquire(bytes);
      slab.release();
      slab = larger;
      memory = larger.buffer();
    }
    try {
      segment.file().read(memory.clear().limit(bytes), offset);
      return true;
    } catch (FileNotOpenedException e) {
      throw e; // that says nothing of what is in it
    } catch (EOFException e) {
      return false;
    } catch (IOException e) {
      sawIoError = true;
      unread.add(segment, offset, bytes);
      return false;
    } finally {
      memory.clear();
    }
  }
}
