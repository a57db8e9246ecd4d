package dev.ashlar.storage.drive.scrub;

import dev.ashlar.protocol.client.ShardFault;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.storage.drive.compact.LiveRecordCollector;
import dev.ashlar.storage.drive.index.ReadThrottle;
import dev.ashlar.storage.drive.index.ShardIndex;
import dev.ashlar.storage.drive.log.OpenDrive;
import dev.ashlar.storage.drive.log.SegmentLog;
import dev.ashlar.storage.drive.segment.BatchScanner;
import dev.ashlar.storage.drive.segment.Checksum;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.LogPosition;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFiles;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.drive.segment.SegmentFormat.BatchHeader;
import dev.ashlar.storage.drive.segment.ShardPiece;
import dev.ashlar.storage.io.FileNotOpenedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the batches of a segment that hold live pieces, and compares each live block with its
 * checksum in the index. Pieces in a batch with a damaged directory are found by the index. Not
 * thread-safe.
 */
public final class SegmentVerifier {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentVerifier.class);
  private static final int BLOCK = SegmentFormat.BLOCK;

  private static final int READ_BYTES = 256 * 1024;

  private static final int BLOBS_PAGE = 1000;

  /** Lines about a segment, of which every block may be damaged, in each pass. */
  private static final int LINES_MAX = 8;

  /** Counts repeated before the whole index is searched for missing pieces. */
  private static final int RECOUNTS = 2;

  private final OpenDrive drive;
  private final int segmentBytes;
  private final SegmentFiles segments;
  private final SegmentLog log;
  private final ShardIndex index;
  private final ReadThrottle throttle;
  private final DamageListener listener;
  private final Checksum checksum = new Checksum();

  private long verifiedBytes;
  private long damagedBlocks;

  /** Start and end of each batch found. */
  private final TreeMap<Integer, Integer> batches = new TreeMap<>();

  /** Ends of batches that are followed by an unreadable one. */
  private final Set<Integer> gaps = new HashSet<>();

  /** Blobs with pieces in unreadable batches. */
  private final Set<BlobId> blobsInGaps = new HashSet<>();

  /** Size of the live pieces found, including their records. */
  private long seenBytes;

  /** Findings in this segment, each of which is a line of the log unless there are too many. */
  private int findings;

  /**
   * The result of verifying a segment.
   *
   * @param undirected blobs with pieces in batches with unreadable directories
   */
  public record Found(
      long verifiedBytes, long damagedBlocks, long unreadableDirectories, Set<BlobId> undirected) {
    public Found {
      undirected = Set.copyOf(undirected);
    }
  }

  public SegmentVerifier(
      OpenDrive drive, SegmentLog log, ReadThrottle throttle, DamageListener listener) {
    this.drive = drive;
    segments = drive.segments();
    segmentBytes = segments.segmentBytes();
    index = drive.index();
    this.log = log;
    this.throttle = throttle;
    this.listener = listener;
  }

  /**
   * Verifies the remaining part of a segment. Batches written meanwhile may be skipped.
   *
   * @return null if it was stopped
   */
  public @Nullable Found verify(long segment) throws IOException {
    verifiedBytes = 0;
    damagedBlocks = 0;
    batches.clear();
    gaps.clear();
    blobsInGaps.clear();
    seenBytes = 0;
    findings = 0;
    long live = liveBytes(segment); // before the end is looked up: all of it is in front of that
    LogPosition head = log.end();
    boolean isActive = log.activeSegment() == segment;
    int end = isActive && head.segment() == segment ? head.offset() : segmentBytes;
    BatchHeader last = null;
    try (BatchScanner scanner = drive.newScanner()) {
      for (int offset = 0; offset < end; ) {
        Batch batch = next(scanner, segment, offset);
        if (batch == null) {
          break;
        }
        last = batch.header();
        offset = last.offset() + last.bytes();
        batches.put(last.offset(), offset);
        if (!throttle.take(batch.header().directoryBytes()) || !verify(segment, batch)) {
          return null;
        }
      }
    }
    if (!isActive && last != null) {
      checkSeal(segment, last);
    }
    for (int i = 0; seenBytes < Math.min(live, liveBytes(segment)); i++) {
      if (i == RECOUNTS) {
        searchIndex(segment, end);
        break;
      }
      live = liveBytes(segment);
      recount(segment);
    }
    if (findings > LINES_MAX) {
      LOG.warn(
          "Drive {}: in segment {}, {} blocks are damaged and {} directories are unreadable in all.",
          drive.id(),
          segment,
          damagedBlocks,
          gaps.size());
    }
    return new Found(verifiedBytes, damagedBlocks, gaps.size(), blobsInGaps);
  }

  private void warn(String message, Object... values) {
    if (findings++ < LINES_MAX) {
      LOG.warn(message, values);
    }
  }

  /** Checks the seal: without it, an index rebuild could not tell that nothing else is lost. */
  private void checkSeal(long segment, BatchHeader last) {
    int end = last.offset() + last.bytes();
    boolean isStillThere = segments.get(segment) != null;
    if (isStillThere && last.lacksSeal() && end < segmentBytes) {
      warn(
          "Drive {}: the last batch of {}, after byte {}, is unreadable.",
          drive.id(),
          segment,
          end);
      gaps.add(end);
    }
  }

  /** Grows while the segment is written to. */
  private long liveBytes(long segment) {
    Segment left = segments.get(segment);
    return left == null ? 0 : left.use().liveBytes();
  }

  /**
   * Counts live pieces again. A piece folded between lookup and count is counted block by block,
   * and so as larger.
   */
  private void recount(long segment) throws IOException {
    seenBytes = 0;
    try (BatchScanner scanner = drive.newScanner()) {
      Batch batch = next(scanner, segment, 0);
      while (batch != null) {
        batch.live().forEach(piece -> seenBytes += piece.storedBytes());
        int behind = batch.header().offset() + batch.header().bytes();
        batch = behind < segmentBytes ? next(scanner, segment, behind) : null;
      }
    }
  }

  private record Batch(BatchHeader header, List<ShardPiece> live) {}

  /** The batch at this offset or the next one after it. */
  private @Nullable Batch next(BatchScanner scanner, long id, int offset) throws IOException {
    Segment segment = segments.acquire(id);
    if (segment == null) {
      return null;
    }
    try {
      BatchHeader header = scanner.firstFrom(segment, offset);
      if (header == null) {
        return null;
      }
      LiveRecordCollector needed = LiveRecordCollector.of(drive, segment);
      scanner.forEachRecord(header, needed);
      needed.lookUp();
      return new Batch(header, needed.take(Integer.MAX_VALUE).pieces());
    } finally {
      segments.release(segment);
    }
  }

  private boolean verify(long segment, Batch batch) throws IOException {
    return batch.live().isEmpty()
        || verify(segment, batch.header().offset(), batch.header().bytes(), batch.live());
  }

  /**
   * Verifies pieces in this part of the segment.
   *
   * @return false if it was stopped
   */
  private boolean verify(long segment, int at, int length, List<ShardPiece> pieces)
      throws IOException {
    Slab slab = drive.slabs().acquire(length);
    try {
      BitSet unreadable = new BitSet();
      for (int from = 0; from < length; from += READ_BYTES) {
        int bytes = Math.min(READ_BYTES, length - from);
        if (!throttle.take(bytes)) {
          return false;
        }
        if (!read(segment, at + from, slab.slice(from, bytes), unreadable, from / BLOCK)) {
          return true; // everything was moved or deleted
        }
      }
      for (ShardPiece piece : pieces) {
        verify(slab.buffer(), at, unreadable, piece);
      }
      return true;
    } finally {
      slab.release();
    }
  }

  /** Reads a part of the segment and notes unreadable blocks; false if the segment is gone. */
  private boolean read(long id, int at, ByteBuffer into, BitSet unreadable, int firstBlock)
      throws FileNotOpenedException {
    Segment segment = segments.acquire(id);
    if (segment == null) {
      return false;
    }
    try {
      int bytes = into.remaining();
      if (!read(segment, at, into.duplicate())) {
        for (int block = 0; block < bytes / BLOCK; block++) {
          ByteBuffer one = into.slice(block * BLOCK, BLOCK);
          unreadable.set(firstBlock + block, !read(segment, at + block * BLOCK, one));
        }
      }
      return true;
    } finally {
      segments.release(segment);
    }
  }

  private static boolean read(Segment segment, int at, ByteBuffer into)
      throws FileNotOpenedException {
    try {
      segment.file().read(into, at);
      return true;
    } catch (FileNotOpenedException e) {
      throw e; // this says nothing about the blocks
    } catch (IOException e) {
      LOG.debug("{} cannot be read at {}", segment, at, e);
      return false;
    }
  }

  private void verify(ByteBuffer memory, int batchAt, BitSet unreadable, ShardPiece piece)
      throws IOException {
    Extent extent = piece.extent();
    seenBytes += piece.storedBytes();
    for (int i = 0; i < extent.crcs().length; i++) {
      int from = i * BLOCK;
      int length = Math.min(BLOCK, extent.length() - from);
      int at =
          (from < extent.bodyLength() ? extent.position() + from : extent.tailPosition()) - batchAt;
      boolean isUnreadable =
          unreadable.get(at / BLOCK) || unreadable.get((at + length - 1) / BLOCK);
      if (isUnreadable || checksum.of(memory, at, length) != extent.crcs()[i]) {
        damaged(piece, i, length, isUnreadable ? ShardFault.IO_ERROR : ShardFault.CORRUPT);
      }
      memory.clear();
    }
    verifiedBytes += extent.length();
  }

  /** Reports damage, unless the piece was moved or deleted since it was looked up. */
  private void damaged(ShardPiece piece, int block, int length, ShardFault fault)
      throws IOException {
    Extent extent = piece.extent();
    Extent now = index.latest().at(piece.shard(), piece.role(), extent.firstBlock());
    if (now != null && now.liesWhere(extent)) {
      damagedBlocks++;
      long offset = (long) (extent.firstBlock() + block) * BLOCK;
      warn(
          "Drive {}: {} at byte {}, in segment {}, is damaged: {}",
          drive.id(),
          piece.shard(),
          offset,
          extent.segment(),
          fault);
      listener.damaged(piece.shard(), new ByteRange(offset, length), fault);
    }
  }

  /**
   * Finds what the index has in this segment and no directory that can be read names.
   *
   * @param end of what was read; what lies behind it was written meanwhile
   */
  private void searchIndex(long segment, int end) throws IOException {
    BlobId after = null;
    List<BlobId> page;
    do {
      page = index.blobsBelow(-1, after, BLOBS_PAGE);
      for (BlobId blob : page) {
        List<ShardPiece> here = new ArrayList<>();
        index.forEachRow(
            blob,
            piece -> {
              if (piece.extent().segment() == segment && piece.extent().position() < end) {
                here.add(piece);
              }
            });
        for (ShardPiece piece : here) {
          verifyAlone(segment, piece);
        }
      }
      after = page.isEmpty() ? null : page.getLast();
    } while (page.size() == BLOBS_PAGE && throttle.take(0));
  }

  /** Verifies a piece of a batch that was not found; its bytes may be intact. */
  private void verifyAlone(long segment, ShardPiece piece) throws IOException {
    Extent extent = piece.extent();
    Map.Entry<Integer, Integer> before = batches.floorEntry(extent.position());
    int gap = before == null ? 0 : before.getValue();
    if (gap > extent.position()) {
      return;
    }
    blobsInGaps.add(piece.shard().blob());
    if (gaps.add(gap)) {
      warn(
          "Drive {}: a batch after byte {} of {} has lost its directory.",
          drive.id(),
          gap,
          segment);
    }
    int tail = extent.tailPosition() == 0 ? extent.position() : extent.tailPosition();
    int tailEnd = tail + extent.length() - extent.bodyLength();
    int from = Math.min(extent.position(), tail) / BLOCK * BLOCK;
    int to = SegmentFormat.roundUp(Math.max(extent.position() + extent.bodyLength(), tailEnd));
    verify(segment, from, to - from, List.of(piece));
  }
}
