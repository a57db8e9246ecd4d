package dev.ashlar.storage.drive.segment;

import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.storage.drive.segment.SegmentFormat.BatchHeader;
import dev.ashlar.storage.io.FileNotOpenedException;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads batches from segments into a buffer that the next read overwrites. */
public final class BatchScanner implements AutoCloseable {
  private static final int BLOCK = SegmentFormat.BLOCK;
  private static final int STRIDE_BYTES = 64 * 1024;

  /** More than bad sectors cause. Limits memory for a drive that is entirely unreadable. */
  private static final int UNREAD_MAX = 16 * 1024;

  /** Advice when a start is refused rather than data declared lost. */
  public static final String REMEDY =
      ". Nothing was deleted. Check the cables and the controller of the drive, then start"
          + " again. If the error persists, replace the drive";

  private final UUID drive;
  private final int segmentBytes;
  private final SlabPool slabs;
  private Slab slab;
  private ByteBuffer memory;
  private final Checksum checksum = new Checksum();

  /** What could not be read, kept for another attempt. */
  private final Set<Place> unread = new LinkedHashSet<>();

  private boolean hasMoreUnread;
  private boolean sawIoError;

  private record Place(Segment segment, int offset, int bytes) {}

  /** The directory in the buffer; null: other content. */
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

  /** Called for each record of a batch in order. */
  public interface RecordVisitor {
    default void piece(ShardPiece piece) throws IOException {}

    void mark(MarkRecord mark) throws IOException;
  }

  /** Whether a read has failed since the last call. */
  public boolean takeIoError() {
    boolean saw = sawIoError;
    sawIoError = false;
    return saw;
  }

  /**
   * Repeats all failed reads and throws unless they fail again. Bad sectors are permanent. A
   * transient error comes from cables or the controller and says nothing about the content. Nor do
   * bad sectors make a whole segment unreadable.
   */
  public void confirmUnread() throws IOException {
    for (Place place : List.copyOf(unread)) {
      if (load(place.segment(), place.offset(), place.bytes())) {
        throw new IOException(
            place.segment()
                + " is readable only intermittently at offset "
                + place.offset()
                + REMEDY);
      }
    }
    for (Segment segment : unread.stream().map(Place::segment).distinct().toList()) {
      if (!canReadAny(segment)) {
        throw new IOException("no part of " + segment + " is readable" + REMEDY);
      }
    }
    if (hasMoreUnread) {
      throw new IOException("more than " + UNREAD_MAX + " blocks are unreadable" + REMEDY);
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

  /** Loads the directory of the batch at this offset; null if there is no intact one. */
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

  /** Whether a batch begins at this offset or, if the block is unreadable, may begin there. */
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

  /** Loads the whole batch and verifies the checksums of all payloads. */
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

  /** Visits the records of the loaded directory. */
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

  /** Loads the directory of the batch that ends at this offset; null if none is found. */
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

  /** The first intact directory of a later batch at or after this offset. */
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

  /** The first intact directory at or after this offset. One that begins there costs one block. */
  public @Nullable BatchHeader firstFrom(Segment segment, int offset) throws IOException {
    BatchHeader here = directoryAt(segment, offset);
    return here != null ? here : firstAbove(segment, offset, 0);
  }

  /**
   * Durably erases what may be the beginning of a batch. This is also done where none is visible:
   * the zeros of an earlier attempt may have been read from the page cache only.
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
   * Makes the batch loaded by {@link #payloadsMatch} durable by writing it again: after a failed
   * sync the kernel may consider its pages clean, and another sync would do nothing.
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
      throw e; // this says nothing about the content
    } catch (EOFException e) {
      return false;
    } catch (IOException e) {
      sawIoError = true;
      Place place = new Place(segment, offset, bytes);
      hasMoreUnread |= unread.size() == UNREAD_MAX && !unread.contains(place);
      if (unread.size() < UNREAD_MAX) {
        unread.add(place);
      }
      return false;
    } finally {
      memory.clear();
    }
  }
}
