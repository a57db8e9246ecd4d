package dev.ashlar.storage.drive.compact;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ShardException;
import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.storage.drive.index.IndexFloor;
import dev.ashlar.storage.drive.log.LogRequest;
import dev.ashlar.storage.drive.log.LogRequest.MovedPiece;
import dev.ashlar.storage.drive.log.OpenDrive;
import dev.ashlar.storage.drive.log.SegmentLog;
import dev.ashlar.storage.drive.segment.BatchScanner;
import dev.ashlar.storage.drive.segment.Checksum;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.MarkRecord;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFiles;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.drive.segment.SegmentFormat.BatchHeader;
import dev.ashlar.storage.drive.segment.ShardPiece;
import dev.ashlar.storage.io.FileNotOpenedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves live records out of mostly dead segments and frees the segments. A segment is freed only
 * after a checkpoint of an index that no longer refers to it. Not thread-safe.
 */
public final class Compactor {
  private static final Logger LOG = LoggerFactory.getLogger(Compactor.class);

  /** A piece that is folded between lookup and move has changed and stays for another pass. */
  private static final int PASSES_MAX = 4;

  private final OpenDrive drive;
  private final SegmentFiles segments;
  private final SegmentLog log;
  private final UnreadableDirectories lost;
  private final Mover mover;
  private final Checksum checksum = new Checksum();
  private final SegmentChoice choice;

  /** Has the log writer execute a request and waits for it. */
  public interface Mover {
    /**
     * @param bytes bytes moved by the request
     */
    void commit(Function<Completion<DriveId>, LogRequest> request, long bytes)
        throws IOException, ShardException;
  }

  public Compactor(OpenDrive drive, SegmentLog log, UnreadableDirectories lost, Mover mover) {
    this.drive = drive;
    segments = drive.segments();
    this.log = log;
    this.lost = lost;
    this.mover = mover;
    choice = new SegmentChoice(drive, log);
  }

  /**
   * Empties a segment with an unreadable directory or, if that pays, the one with the least live
   * bytes; false if there is none.
   */
  public boolean emptyOne() throws IOException, ShardException {
    // The reserve is for moves that certainly free segments.
    boolean hasRoom = segments.mayAllocate(SegmentFiles.Need.NEW_DATA);
    Map.Entry<Long, Set<BlobId>> found = hasRoom ? lost.poll() : null;
    if (found != null && mend(found)) {
      return true;
    }
    Segment victim = choice.next();
    if (victim == null) {
      return false;
    }
    if (!choice.empty(victim, () -> empty(victim, Set.of()))) {
      LOG.info(
          "Drive {}: emptying segment {} took as much space as it freed: equally full segments"
              + " are left alone until more is deleted",
          drive.id(),
          victim.id());
    }
    return true;
  }

  /**
   * Moves everything out of a segment, including pieces in batches with unreadable directories, so
   * that a replay can read their new directories.
   */
  private boolean mend(Map.Entry<Long, Set<BlobId>> found) throws IOException, ShardException {
    Segment segment = segments.get(found.getKey());
    if (segment == null || choice.emptied().contains(segment)) {
      return false;
    }
    choice.retry(segment);
    empty(segment, found.getValue());
    return true;
  }

  /**
   * @param undirected blobs with pieces in batches without a directory
   */
  private void empty(Segment victim, Set<BlobId> undirected) throws IOException, ShardException {
    if (victim.id() == log.activeSegment()) {
      write(victim, List.of(), LiveRecordCollector.Load.NONE, 0);
    }
    if (!segments.mayAllocate(SegmentFiles.Need.NEW_DATA)
        && victim.use().marks() > readableMarks(victim)) {
      LOG.warn(
          "Drive {}: segment {} could not be freed and is left alone because the drive is full",
          drive.id(),
          victim.id());
      choice.leave(victim);
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
          "Drive {}: segment {} keeps {} live bytes: batches in it are unreadable",
          drive.id(),
          victim.id(),
          victim.use().liveBytes());
      choice.leave(victim);
    } else if (marksMet < victim.use().marks()) {
      LOG.error(
          "Drive {}: segment {} is empty but is kept: {} marks in it are unreadable",
          drive.id(),
          victim.id(),
          victim.use().marks() - marksMet);
      choice.leave(victim);
      segments.leaveBehind(victim);
    } else {
      confirm();
      choice.emptied(victim);
    }
  }

  /**
   * Confirms the last batch, which may be the only copy of what the segment held. Without a later
   * batch, a rebuild that does not find it would take it for an interrupted write, and the loss
   * would go unnoticed. Skipped when space is short.
   */
  private void confirm() throws IOException, ShardException {
    if (log.needsConfirmation()) {
      write(LogRequest.Confirm::new, SegmentFormat.BLOCK, 0);
    }
  }

  public boolean hasEmptied() {
    return !choice.emptied().isEmpty();
  }

  /** Checkpoints the index and frees the segments emptied before. */
  public void free() throws IOException {
    List<Segment> covered = List.copyOf(choice.emptied());
    long reached = drive.index().position().sequence();
    drive.index().checkpoint();
    new IndexFloor(drive.files(), drive.id()).raise(reached);
    for (Segment segment : covered) {
      segments.retire(segment);
      choice.freed(segment);
    }
  }

  private void moveAllOf(Segment victim, Set<BlobId> blobs) throws IOException, ShardException {
    LiveRecordCollector needed = LiveRecordCollector.of(drive, victim);
    for (BlobId blob : blobs) {
      needed.addAllOf(blob);
      moveBatches(victim, needed);
    }
    moveRest(victim, needed);
  }

  /**
   * Moves live records, packing those of many batches into few; otherwise batches of one small
   * record would remain.
   *
   * @return the number of readable marks
   */
  private int moveNeeded(Segment victim) throws IOException, ShardException {
    LiveRecordCollector needed = LiveRecordCollector.of(drive, victim);
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
    List<MarkRecord> found = new ArrayList<>();
    forEachBatch(segment, (scanner, header) -> scanner.forEachRecord(header, found::add));
    return found.size();
  }

  /** Called for each batch with a readable directory. */
  private interface BatchVisitor {
    void batch(BatchScanner scanner, BatchHeader header) throws IOException, ShardException;
  }

  private void forEachBatch(Segment segment, BatchVisitor visitor)
      throws IOException, ShardException {
    try (BatchScanner scanner = drive.newScanner()) {
      BatchHeader header = scanner.firstFrom(segment, 0);
      while (header != null) {
        visitor.batch(scanner, header);
        header = scanner.firstFrom(segment, header.offset() + header.bytes());
      }
    }
  }

  /** Moves full batches; the last one may still grow. */
  private void moveBatches(Segment victim, LiveRecordCollector needed)
      throws IOException, ShardException {
    while (needed.bytesMax() > drive.limits().batchBytesMax()) {
      moveSome(victim, needed);
    }
  }

  private void moveRest(Segment victim, LiveRecordCollector needed)
      throws IOException, ShardException {
    while (!needed.isEmpty()) {
      moveSome(victim, needed);
    }
  }

  /** Moves one batch, or less if that fills the active segment. */
  private void moveSome(Segment victim, LiveRecordCollector needed)
      throws IOException, ShardException {
    LiveRecordCollector.Load load =
        needed.take(drive.limits().batchBytesMax(), log.activeRoomBytes());
    if (load.isEmpty()) {
      load = needed.take(drive.limits().batchBytesMax(), drive.limits().segmentBytes());
    }
    if (load.isEmpty()) {
      throw new IllegalStateException("no batch can hold a record of segment " + victim.id());
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
        Slab slab = drive.slabs().acquire(length);
        held.add(slab);
        load(victim, together, slab.slice(0, length), moved);
        bytes += length;
      }
      write(victim, moved, load, bytes);
      drive.meters().moved(bytes);
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
    boolean isLeft = log.activeSegment() != active; // nothing more is written there
    choice.took(batchBytes + (isLeft ? room : 0));
  }

  /** Whether the pieces are adjacent, so that one read gets both. */
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

  /** False if any of the bytes are unreadable. */
  private static boolean read(Segment victim, ShardPiece first, ByteBuffer memory) {
    try {
      victim.file().read(memory, first.extent().position());
      return true;
    } catch (IOException e) {
      LOG.debug("{} in segment {} is read piece by piece", first.shard(), victim.id(), e);
      return false;
    }
  }

  /** Loads a piece. A payload that fails its checksums is moved as it is and keeps failing them. */
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
      throw e; // this says nothing about the block
    } catch (IOException e) {
      // A bad block is a lost block, not a lost drive: unreadable bytes become zeros.
      LOG.warn(
          "Drive {}: {} in segment {} is unreadable: {}",
          drive.id(),
          piece.shard(),
          victim.id(),
          e.toString());
      drive.meters().ioError();
      memory.clear();
      while (memory.hasRemaining()) {
        memory.put((byte) 0);
      }
    }
    boolean isDamaged = checksum.firstMismatch(memory, 0, extent.length(), extent.crcs(), 0) >= 0;
    if (isDamaged) {
      drive.meters().corruptBlock();
      LOG.warn(
          "Drive {}: {} in segment {} is damaged at block {}",
          drive.id(),
          piece.shard(),
          victim.id(),
          extent.firstBlock());
    }
    return new MovedPiece(piece, memory.clear(), isDamaged);
  }
}
