package dev.ashlar.storage.drive.log;

import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.storage.drive.segment.ChangeHistory;
import dev.ashlar.storage.drive.segment.Checksum;
import dev.ashlar.storage.drive.segment.LogPosition;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFiles;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.drive.segment.ShardPiece;
import dev.ashlar.storage.io.FileNotOpenedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Writes the log. Requests are added to a batch until it is full or none is waiting. A commit is
 * one write, one sync and one update of the index. Not thread-safe.
 */
public final class SegmentLog {
  /** Applying a request to the index takes about as long as reading this many bytes. */
  private static final long REPLAYED_REQUEST_BYTES = 16 << 10;

  private final OpenDrive drive;
  private final SegmentFiles segments;
  private final Checksum checksum = new Checksum();
  private final List<ByteBuffer> buffers = new ArrayList<>();

  private final ZeroFilling zeroFilling = new ZeroFilling();
  private volatile @Nullable Segment active;
  private volatile LogPosition end;
  private final ChangeHistory history;
  private volatile boolean isConfirmed;

  /** Whether the last batch ends its segment. */
  private volatile boolean isSealed;

  private final AtomicLong replayBytes = new AtomicLong();

  private final List<LogRequest> accepted = new ArrayList<>();
  private final List<LogRequest> rejected = new ArrayList<>();

  /** An empty batch, which seals segments. */
  private final LogBatch nothing;

  private LogBatch batch;

  public SegmentLog(OpenDrive drive, LogRecovery.Recovered recovered) {
    this.drive = drive;
    this.segments = drive.segments();
    this.end = recovered.end();
    this.history = recovered.history();
    this.isConfirmed = recovered.isConfirmed();
    this.isSealed = recovered.isSealed();
    this.active = segments.get(end.segment());
    nothing = new LogBatch(drive); // before the next one: the index has one update at a time
    batch = new LogBatch(drive);
  }

  public LogPosition end() {
    return end;
  }

  /** The active segment; 0 before the first. */
  public long activeSegment() {
    Segment segment = active;
    return segment == null ? 0 : segment.id();
  }

  /** Free bytes in the active segment. */
  public int activeRoomBytes() {
    return activeSegment() == 0 || isSealed ? 0 : segments.segmentBytes() - end.offset();
  }

  /**
   * What a replay of all batches written since the drive was opened would cost: their bytes, and
   * {@link #REPLAYED_REQUEST_BYTES} for each request, because it is applied to the index.
   */
  public long replayBytes() {
    return replayBytes.get();
  }

  /**
   * Adds a request to the batch; false if there is no space and the batch has to be committed
   * first.
   */
  public boolean add(LogRequest request) throws IOException {
    // A move needs its own batch: on a full drive it may have space where others have none.
    if (!accepted.isEmpty() && (request.goesAlone() || accepted.getLast().goesAlone())) {
      return false;
    }
    boolean taken = batch.add(request);
    if (taken) {
      accepted.add(request);
    }
    return taken;
  }

  /** The requests in the batch; after {@link #commit}, those that are durable. */
  public List<LogRequest> accepted() {
    return accepted;
  }

  /** The requests that {@link #commit} rejected because the drive is full. */
  public List<LogRequest> rejected() {
    return rejected;
  }

  public void clear() {
    accepted.clear();
    rejected.clear();
    batch = new LogBatch(drive);
  }

  /**
   * Makes the batch durable and visible. The log must not be used after a failure: it is unknown
   * how much of the batch reached the drive.
   */
  public void commit() throws IOException {
    if (!batch.hasContents()) {
      if (!accepted.isEmpty() && accepted.getLast() instanceof LogRequest.Confirm) {
        writeConfirmation();
      }
      return;
    }
    batch.store(history);
    if (!makeRoom()) {
      rejectWhatNeedsRoom();
      if (!batch.hasContents()) {
        return;
      }
      batch.store(history);
      if (!makeRoom()) {
        rejected.addAll(accepted);
        accepted.clear();
        return;
      }
    }
    writeBatch(requireActive(), batch, false);
  }

  /** Continues in another segment if the batch does not fit. */
  private boolean makeRoom() throws IOException {
    SegmentFiles.Need need = need();
    Segment present = active;
    boolean fits =
        present != null
            && !batch.leaves(present)
            && end.offset() + batch.bytes() <= segments.segmentBytes()
            && segments.mayFill(need);
    if (fits && !isSealed) {
      return true;
    }
    Segment next = segments.allocate(need, () -> seal(present));
    if (next == null) {
      return fits; // after a seal whose next segment could not be allocated
    }
    active = next;
    isSealed = false;
    end = new LogPosition(end.sequence(), next.id(), 0);
    batch.store(history); // includes the seal
    return true;
  }

  /**
   * Ends a segment with an empty batch, durably before the next segment begins. Later segments may
   * be freed, and then only a missing seal shows that the last batches of this one are lost. The
   * index gets the position with the next batch.
   */
  private void seal(@Nullable Segment segment) throws IOException {
    if (segment == null || isSealed || end.offset() == segments.segmentBytes()) {
      return;
    }
    nothing.store(history);
    writeBatch(segment, nothing, true);
  }

  private SegmentFiles.Need need() {
    SegmentFiles.Need need = SegmentFiles.Need.DELETE;
    for (LogRequest request : accepted) {
      if (request.needsRoom()) {
        return SegmentFiles.Need.NEW_DATA;
      } else if (request instanceof LogRequest.Move) {
        need = SegmentFiles.Need.MOVE;
      }
    }
    return need;
  }

  private void rejectWhatNeedsRoom() throws IOException {
    List<LogRequest> others = new ArrayList<>();
    for (LogRequest request : accepted) {
      (request.needsRoom() ? rejected : others).add(request);
    }
    accepted.clear();
    batch = new LogBatch(drive);
    for (LogRequest request : others) {
      if (!add(request)) {
        throw new IllegalStateException("fitted before");
      }
    }
  }

  /**
   * Whether nothing follows the last batch, so that damage to it would be taken for an interrupted
   * write.
   */
  public boolean needsConfirmation() {
    return !isConfirmed;
  }

  /** Writes an empty batch after the last one if that is necessary and space is plentiful. */
  public void confirm() throws IOException {
    if (accepted.isEmpty()) {
      writeConfirmation();
    }
  }

  private void writeConfirmation() throws IOException {
    if (isConfirmed) {
      return;
    }
    batch.store(history);
    try {
      Segment present = active;
      boolean fits =
          present != null
              && end.offset() + batch.bytes() <= segments.segmentBytes()
              && segments.mayFill(SegmentFiles.Need.DELETE);
      if (fits || (segments.mayAllocate(SegmentFiles.Need.NEW_DATA) && makeRoom())) {
        writeBatch(requireActive(), batch, false);
      }
      isConfirmed = true; // skipped without space
    } finally {
      batch = new LogBatch(drive);
    }
  }

  private void writeBatch(Segment segment, LogBatch records, boolean isSeal) throws IOException {
    int packedEnd = records.packedEnd();
    int bodiesAt = SegmentFormat.roundUp(packedEnd);
    int total = bodiesAt + records.bodyBytes();
    LogPosition at = new LogPosition(end.sequence() + 1, segment.id(), end.offset());
    List<ShardPiece> pieces = new ArrayList<>(records.records());
    Slab slab = drive.slabs().acquire(bodiesAt);
    try {
      ByteBuffer memory = slab.buffer();
      records.layOut(memory, at, buffers, pieces);
      for (int i = packedEnd; i < bodiesAt; i++) {
        memory.put(i, (byte) 0);
      }
      SegmentFormat.sealDirectory(
          memory,
          new SegmentFormat.BatchHeader(
              drive.id(),
              at.segment(),
              at.offset(),
              total,
              at.sequence(),
              records.records(),
              records.directoryBytes(),
              SegmentFormat.VERSION,
              isSeal),
          checksum);
      buffers.set(0, memory.clear().limit(bodiesAt));
      int end = at.offset() + total;
      int zeros = isSeal ? 0 : zeroFilling.behind(segment, end, total, segments.segmentBytes());
      ZeroFilling.add(zeros, buffers);
      write(segment, buffers, at.offset());
      segment.setWritten(end + zeros);
      drive.meters().filledWithZeros(zeros);
    } finally {
      buffers.clear();
      slab.release();
    }
    if (records.hasContents()) {
      drive.meters().wrote(total);
    } else {
      drive.meters().confirmed();
    }
    history.add(records.changes(pieces));
    isConfirmed = !records.hasContents();
    isSealed = isSeal;
    // Before a seal, the accepted requests are those of the batch that follows it.
    long applied = records.hasContents() ? accepted.size() : 0;
    replayBytes.lazySet(replayBytes.get() + total + applied * REPLAYED_REQUEST_BYTES);
    LogPosition reached = new LogPosition(at.sequence(), at.segment(), at.offset() + total);
    if (!isSeal) {
      countPayloads();
      records.commitToIndex(pieces, reached);
    }
    end = reached;
  }

  private void countPayloads() {
    for (LogRequest request : accepted) {
      if (request.payloadBytes() > 0) {
        drive.meters().payloadWrote(request.payloadBytes());
      }
    }
  }

  private static void write(Segment segment, List<ByteBuffer> buffers, int offset)
      throws IOException {
    try {
      segment.file().write(buffers, offset);
      segment.file().sync();
    } catch (FileNotOpenedException e) {
      throw e; // nothing was written
    } catch (IOException e) {
      throw new LogWriteException(segment, e);
    }
  }

  private Segment requireActive() {
    Segment segment = active;
    if (segment == null) {
      throw new IllegalStateException("no segment");
    }
    return segment;
  }
}
