package dev.ashlar.storage.drive.compact;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.storage.drive.cache.UnfoldedShards;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.index.ShardIndex;
import dev.ashlar.storage.drive.log.LogRequest;
import dev.ashlar.storage.drive.log.LogRequest.MovedPiece;
import dev.ashlar.storage.drive.log.SegmentLog;
import dev.ashlar.storage.drive.metrics.DriveMetrics;
import dev.ashlar.storage.drive.segment.BatchScanner;
import dev.ashlar.storage.drive.segment.Checksum;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.LogMarker;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFiles;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.drive.segment.SegmentFormat.BatchHeader;
import dev.ashlar.storage.drive.segment.SegmentUsage;
import dev.ashlar.storage.drive.segment.ShardPiece;
import dev.ashlar.storage.io.FileNotOpenedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries what is still needed out of mostly-dead segments and frees them. A segment is freed only
 * after a checkpoint of the index that no longer names it. For one thread.
 */
public final class Compactor {
  private static final Logger LOG = LoggerFactory.getLogger(Compactor.class);

  /**
   * While less than this share of the drive's capacity is in use, in percent, what is dead may take
   * as much as what is live. Segments that wait become deader: of those that are overwritten at
   * random about a fifth is live when they are moved then, and not half. On a fuller drive there
   * has to be room for what comes faster than it can be freed.
   */
  private static final int ROOMY_PERCENT_MAX = 50;

  /** An eighth of the segment that is written to has to be dead, or the log would go in circles. */
  private static final int ACTIVE_DEAD_SHARE = 8;

  /** What is folded between its look-up and its move has become something else, and stays. */
  private static final int PASSES_MAX = 4;

  private final UUID drive;
  private final DriveConfig.Limits limits;
  private final SegmentFiles segments;
  private final SegmentLog log;
  private final ShardIndex index;
  private final UnfoldedShards unfolded;
  private final UnreadableDirectories lost;
  private final SlabPool slabs;
  private final DriveMetrics meters;
  private final Mover mover;
  private final Checksum checksum = new Checksum();
  private final CompactionGain gain;
  private final List<Segment> emptied = new ArrayList<>();

  /**
   * Segments with batches whose directories are damaged and that cannot be freed: of a piece in
   * them the scrub has not told yet, or they have lost marks. Where a replay would lack a mark, it
   * must meet the damage, which has it trust no shard that was changed.
   */
  private final Set<Long> stuck = new HashSet<>();

  /** Segments that could not be opened: others come first. */
  private final Set<Long> unopened = new HashSet<>();

  /** Has the log's writer do something, and waits for it. */
  public interface Mover {
    /**
     * @param bytes that are moved by it
     */
    void commit(Function<Completion<DriveId>, LogRequest> request, long bytes)
        throws IOException, ShardException;
  }

  public Compactor(
      UUID drive,
      DriveConfig.Limits limits,
      SegmentFiles segments,
      SegmentLog log,
      SegmentLog.Parts parts,
      UnfoldedShards unfolded,
      UnreadableDirectories lost,
      Mover mover) {
    this.limits = limits;
    this.segments = segments;
    this.log = log;
    this.index = parts.index();
    this.unfolded = unfolded;
    this.lost = lost;
    this.slabs = parts.slabs();
    this.meters = parts.meters();
    this.mover = mover;
    this.drive = drive;
    gain = new CompactionGain(limits.segmentBytes());
  }

  /**
   * Empties a segment that has lost a directory or, if that pays, the one with the least live
   * bytes; false if there is none.
   */
  public boolean emptyOne() throws IOException, ShardException {
    // The reserve is for what frees segments for sure.
    boolean hasRoom = segments.mayAllocate(SegmentFiles.Need.NEW_DATA);
    UnreadableDirectories.Lost found = hasRoom ? lost.poll() : null;
    if (found != null && mend(found)) {
      return true;
    }
    Segment victim = victim();
    if (victim == null) {
      unopened.clear();
      return false;
    }
    long needed = neededBytes(victim);
    gain.begin();
    try {
      empty(victim, Set.of());
    } catch (FileNotOpenedException e) {
      unopened.add(victim.id());
      throw e;
    }
    if (!gain.end(needed)) {
      LOG.info(
          "emptying segment {} took as much room as it freed: segments that are as full are left"
              + " as they are until more is deleted",
          victim.id());
    }
    return true;
  }

  private static long neededBytes(Segment segment) {
    SegmentUsage use = segment.use();
    return use.liveBytes() + (long) use.marks() * SegmentFormat.FOLDING_BYTES;
  }

  /**
   * Moves all that a segment holds, also what lies in batches whose directories cannot be read: a
   * replay can read those of the batches where it lies then.
   */
  private boolean mend(UnreadableDirectories.Lost found) throws IOException, ShardException {
    Segment segment = segments.get(found.segment());
    if (segment == null || emptied.contains(segment)) {
      return false;
    }
    stuck.remove(segment.id());
    empty(segment, found.blobs());
    return true;
  }

  /**
   * @param undirected blobs of which pieces lie in batches without a directory
   */
  private void empty(Segment victim, Set<BlobId> undirected) throws IOException, ShardException {
    if (victim.id() == log.activeSegment()) {
      write(victim, List.of(), LiveRecordCollector.Load.NONE, 0);
    }
    if (!segments.mayAllocate(SegmentFiles.Need.NEW_DATA)
        && victim.use().marks() > readableMarks(victim)) {
      LOG.warn("segment {} could not be freed: it is left as it is on a full drive", victim.id());
      stuck.add(victim.id());
      return;
    }
    int marksMet = 0;
    if (victim.use().liveBytes() > 0 || victim.use().marks() > 0) {
      marksMet = moveNeeded(victim);
    }
    for (int pass = 1; pass < PASSES_MAX && victim.use().liveBytes() > 0; pass++) {
      moveAllOf(victim, undirected);
      moveNeeded(victim);
    }
    if (victim.use().liveBytes() > 0) {
      LOG.error(
          "segment {} keeps {} live bytes: batches in it cannot be read",
          victim.id(),
          victim.use().liveBytes());
      stuck.add(victim.id());
    } else if (marksMet < victim.use().marks()) {
      LOG.error(
          "segment {} is empty but stays: {} marks in it cannot be read",
          victim.id(),
          victim.use().marks() - marksMet);
      stuck.add(victim.id());
      segments.leaveBehind(victim);
    } else {
      confirm();
      emptied.add(victim);
    }
  }

  /**
   * The last batch may be all that has what lay in a segment: without another one behind it a
   * rebuild that does not find it would take it for a write that was cut off, and nobody would know
   * what is missing. Where there is no room that nobody lacks, it is left out.
   */
  private void confirm() throws IOException, ShardException {
    if (log.needsConfirmation()) {
      write(LogRequest.Confirm::new, SegmentFormat.BLOCK, 0);
    }
  }

  public boolean hasEmptied() {
    return !emptied.isEmpty();
  }

  /** Checkpoints the index and frees what was emptied before. */
  public void free() throws IOException {
    List<Segment> covered = List.copyOf(emptied);
    index.checkpoint();
    covered.forEach(segments::retire);
    emptied.removeAll(covered);
  }

  /** The one that takes the least room to empty: on a full drive that may be all there is. */
  private @Nullable Segment victim() {
    long active = log.activeSegment();
    Segment best = null;
    long bestBytes = gain.neededBytesBelow(segments.isFull());
    long neededBytes = 0;
    long deadBytes = 0;
    for (Segment segment : segments.all()) {
      long bytes = neededBytes(segment);
      if ((segment.id() < active || (segment.id() == active && isWorthLeaving(bytes)))
          && !stuck.contains(segment.id())
          && !unopened.contains(segment.id())
          && !emptied.contains(segment)) {
        neededBytes += bytes;
        deadBytes += limits.segmentBytes() - bytes;
        if (bytes < bestBytes) {
          best = segment;
          bestBytes = bytes;
        }
      }
    }
    boolean mayWait = bestBytes > 0 && deadBytes <= neededBytes && isRoomy();
    return mayWait ? null : best;
  }

  private boolean isRoomy() {
    return !segments.isFull()
        && segments.usedBytes() / ROOMY_PERCENT_MAX < segments.capacityBytes() / 100;
  }

  /** Also the segment that is written to can have what a full drive lacks. */
  private boolean isWorthLeaving(long neededBytes) {
    long written = (long) limits.segmentBytes() - log.activeRoomBytes();
    return segments.isFull() && written - neededBytes >= limits.segmentBytes() / ACTIVE_DEAD_SHARE;
  }

  private void moveAllOf(Segment victim, Set<BlobId> blobs) throws IOException, ShardException {
    LiveRecordCollector needed = new LiveRecordCollector(index, unfolded, segments, victim);
    for (BlobId blob : blobs) {
      needed.addAllOf(blob);
      moveBatches(victim, needed);
    }
    moveRest(victim, needed);
  }

  /**
   * Packs what lay in many batches into few: else batches of one small record would stay so.
   *
   * @return how many marks could be read
   */
  private int moveNeeded(Segment victim) throws IOException, ShardException {
    LiveRecordCollector needed = new LiveRecordCollector(index, unfolded, segments, victim);
    forEachBatch(
        victim,
        (scanner, header) -> {
          scanner.forEachRecord(header, needed);
          moveBatches(victim, needed);
        });
    needed.lookUp();
    moveRest(victim, needed);
    return needed.marksMet();
  }

  private int readableMarks(Segment segment) throws IOException, ShardException {
    List<LogMarker> found = new ArrayList<>();
    BatchScanner.RecordVisitor visitor =
        new BatchScanner.RecordVisitor() {
          @Override
          public void piece(ShardPiece piece) {}

          @Override
          public void mark(LogMarker mark) {
            found.add(mark);
          }
        };
    forEachBatch(segment, (scanner, header) -> scanner.forEachRecord(header, visitor));
    return found.size();
  }

  /** What is done with a batch of which the directory was loaded. */
  private interface BatchVisitor {
    void batch(BatchScanner scanner, BatchHeader header) throws IOException, ShardException;
  }

  private void forEachBatch(Segment segment, BatchVisitor visitor)
      throws IOException, ShardException {
    try (BatchScanner scanner = new BatchScanner(drive, limits.segmentBytes(), slabs)) {
      for (int offset = 0; offset < limits.segmentBytes(); ) {
        BatchHeader header = scanner.directoryAt(segment, offset);
        if (header == null) {
          header = scanner.firstAbove(segment, offset, 0);
        }
        if (header == null) {
          break;
        }
        offset = header.offset() + header.bytes();
        visitor.batch(scanner, header);
      }
    }
  }

  /** All but the last, which may get more. */
  private void moveBatches(Segment victim, LiveRecordCollector needed)
      throws IOException, ShardException {
    while (needed.bytesMax() > limits.batchBytesMax()) {
      moveSome(victim, needed);
    }
  }

  private void moveRest(Segment victim, LiveRecordCollector needed)
      throws IOException, ShardException {
    while (!needed.isEmpty()) {
      moveSome(victim, needed);
    }
  }

  /** As much as one batch carries, or less where that fills the segment that is written to. */
  private void moveSome(Segment victim, LiveRecordCollector needed)
      throws IOException, ShardException {
    LiveRecordCollector.Load load = needed.take(limits.batchBytesMax(), log.activeRoomBytes());
    if (load.isEmpty()) {
      load = needed.take(limits.batchBytesMax(), limits.segmentBytes());
    }
    if (load.isEmpty()) {
      throw new IllegalStateException("no batch can carry a record of segment " + victim.id());
    }
    move(victim, load);
  }

  private void move(Segment victim, LiveRecordCollector.Load load)
      throws IOException, ShardException {
    List<Slab> held = new ArrayList<>();
    List<MovedPiece> moved = new ArrayList<>();
    long bytes = 0;
    try {
      for (int next = 0; next < load.pieces().size(); ) {
        int first = next++;
        while (next < load.pieces().size()
            && areNeighbours(load.pieces().get(next - 1), load.pieces().get(next))) {
          next++;
        }
        List<ShardPiece> together = load.pieces().subList(first, next);
        int length = together.stream().mapToInt(piece -> piece.extent().length()).sum();
        Slab slab = slabs.acquire(length);
        held.add(slab);
        load(victim, together, slab.slice(0, length), moved);
        bytes += length;
      }
      write(victim, moved, load, bytes);
      meters.moved(bytes);
    } finally {
      held.forEach(Slab::release);
    }
  }

  private void write(
      Segment victim, List<MovedPiece> moved, LiveRecordCollector.Load load, long movedBytes)
      throws IOException, ShardException {
    write(
        end -> new LogRequest.Move(victim.id(), moved, load.marks(), end),
        load.bytes(),
        movedBytes);
  }

  private void write(
      Function<Completion<DriveId>, LogRequest> request, long batchBytes, long movedBytes)
      throws IOException, ShardException {
    long active = log.activeSegment();
    int room = log.activeRoomBytes();
    mover.commit(request, movedBytes);
    boolean isLeft = log.activeSegment() != active; // nothing is written there any more
    gain.took(batchBytes + (isLeft ? room : 0));
  }

  /** Whether one read gets both, and in memory both lie as in the segment. */
  private static boolean areNeighbours(ShardPiece piece, ShardPiece next) {
    Extent extent = piece.extent();
    return extent.tailPosition() == 0
        && next.extent().tailPosition() == 0
        && extent.length() % SegmentFormat.BLOCK == 0
        && extent.position() + extent.length() == next.extent().position();
  }

  private void load(
      Segment victim, List<ShardPiece> together, ByteBuffer memory, List<MovedPiece> moved)
      throws FileNotOpenedException {
    boolean isRead = together.size() > 1 && read(victim, together.getFirst(), memory.duplicate());
    int at = 0;
    for (ShardPiece piece : together) {
      int length = piece.extent().length();
      moved.add(load(victim, piece, memory.slice(at, length), isRead));
      at += length;
    }
  }

  /** False if any of it cannot be read. */
  private static boolean read(Segment victim, ShardPiece first, ByteBuffer memory) {
    try {
      victim.file().read(memory, first.extent().position());
      return true;
    } catch (IOException e) {
      LOG.debug("{} in segment {} is read piece by piece", first.shard(), victim.id(), e);
      return false;
    }
  }

  /** A payload that fails its checksums moves as it is, and goes on failing them. */
  private MovedPiece load(Segment victim, ShardPiece piece, ByteBuffer memory, boolean isRead)
      throws FileNotOpenedException {
    Extent extent = piece.extent();
    int body = extent.bodyLength();
    try {
      if (!isRead) {
        victim.file().read(memory.limit(body), extent.position());
        if (body < extent.length()) {
          victim.file().read(memory.limit(extent.length()), extent.tailPosition());
        }
      }
    } catch (FileNotOpenedException e) {
      throw e; // that says nothing of the block
    } catch (IOException e) {
      // A bad block is a lost block, not a lost drive: what cannot be read goes on as zeros.
      LOG.warn("{} in segment {} cannot be read: {}", piece.shard(), victim.id(), e.toString());
      meters.ioError();
      memory.clear();
      while (memory.hasRemaining()) {
        memory.put((byte) 0);
      }
    }
    boolean isDamaged = checksum.firstMismatch(memory, 0, extent.length(), extent.crcs(), 0) >= 0;
    if (isDamaged) {
      meters.corruptBlock();
      LOG.warn(
          "{} in segment {} is damaged at block {}",
          piece.shard(),
          victim.id(),
          extent.firstBlock());
    }
    return new MovedPiece(piece, memory.clear(), isDamaged);
  }
}
