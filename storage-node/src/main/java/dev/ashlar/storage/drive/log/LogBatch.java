package dev.ashlar.storage.drive.log;

import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.log.LogRequest.ChangedBlocks;
import dev.ashlar.storage.drive.log.LogRequest.MovedPiece;
import dev.ashlar.storage.drive.segment.ChangeHistory;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.Extent.Stamp;
import dev.ashlar.storage.drive.segment.LogPosition;
import dev.ashlar.storage.drive.segment.MarkRecord;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.drive.segment.ShardPiece;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Collects the records of a batch and lays it out. Not thread-safe. */
public final class LogBatch {
  /** Aligned payloads of at least this size are written without copying. */
  public static final int UNCOPIED_BYTES_MIN = 64 * 1024;

  private static final short UNDAMAGED = 0;

  private final OpenDrive drive;
  private final List<Pending> pending = new ArrayList<>();
  private final List<MarkRecord> marks = new ArrayList<>();
  private final Set<BlobId> deleted = new HashSet<>();

  /** Blobs with folded or discarded intents. */
  private final Set<BlobId> changed = new HashSet<>();

  private final Set<AttemptId> prepared = new HashSet<>();

  /** Attempts whose blocks were made from their former content. */
  private final Set<AttemptId> madeFromOld = new HashSet<>();

  private final IndexChange change;
  private final RecordApplier effects;
  private boolean isMerge;
  private long segmentToLeave;
  private int directoryBytes = SegmentFormat.HEADER_BYTES;
  private int packedBytes;
  private int bodyBytes;
  private ChangeHistory.Stored history = ChangeHistory.Stored.NONE;

  /**
   * A piece of the batch.
   *
   * @param piece without a place or, if it is moved, at its former place
   * @param flags of its record
   */
  private record Pending(ShardPiece piece, ByteBuffer payload, short flags, boolean isMoved) {
    /** A new piece. */
    Pending(ShardId shard, ShardPiece.Role role, Extent extent, ByteBuffer payload) {
      this(new ShardPiece(shard, role, extent), payload, UNDAMAGED, false);
    }

    int bodyBytes() {
      return isBody(payload) ? payload.remaining() & -SegmentFormat.BLOCK : 0;
    }
  }

  LogBatch(OpenDrive drive) {
    this.drive = drive;
    change = new IndexChange(drive);
    effects = new RecordApplier(change, drive.segments());
  }

  /** Adds a whole request; false if there is no space or it has to wait for the next batch. */
  boolean add(LogRequest request) throws IOException {
    return switch (request) {
      case LogRequest.Write write -> addWrite(write.write());
      case LogRequest.Prepare prepare -> addPrepare(prepare);
      case LogRequest.FoldAll fold -> addFolds(fold);
      case LogRequest.DiscardAll discard -> addDiscards(discard);
      case LogRequest.Delete delete -> addDelete(delete);
      case LogRequest.Move move -> addMove(move);
      case LogRequest.Merge merge -> addMerge(merge);
      case LogRequest.Confirm confirm -> true;
    };
  }

  boolean hasContents() {
    return !pending.isEmpty() || !marks.isEmpty() || segmentToLeave != 0;
  }

  /** Whether the batch must not be written to this segment. */
  boolean leaves(Segment segment) {
    return segment.id() == segmentToLeave;
  }

  int records() {
    return pending.size() + marks.size() + (history.batches() > 0 ? 1 : 0);
  }

  int directoryBytes() {
    return directoryBytes + history.storedBytes();
  }

  /** The end of the payloads packed after the directory. */
  int packedEnd() {
    return directoryBytes() + packedBytes;
  }

  /**
   * Adds the history of earlier batches, after all other records: always that of the latest batch
   * if it fits, and more if it fits into padding.
   */
  void store(ChangeHistory before) {
    int used = directoryBytes + packedBytes;
    int least = before.bytesMin();
    boolean fits = fitsBatch(directoryBytes + least, packedBytes, bodyBytes);
    int room = SegmentFormat.roundUp(used + least) - used;
    history = fits ? before.fitting(room) : ChangeHistory.Stored.NONE;
  }

  ChangeHistory.Changes changes(List<ShardPiece> pieces) {
    ChangeHistory.Changes changes = new ChangeHistory.Changes();
    pieces.forEach(changes::piece);
    marks.forEach(changes::mark);
    return changes;
  }

  int bodyBytes() {
    return bodyBytes;
  }

  private boolean addWrite(ShardWrite write) {
    int firstBlock = (int) (write.offset() / SegmentFormat.BLOCK);
    ByteBuffer payload = write.payload();
    Extent extent =
        Extent.unplaced(firstBlock, payload.remaining(), write.blockCrcs(), Stamp.ORIGINAL);
    return addPending(List.of(new Pending(write.shard(), ShardPiece.Role.BASE, extent, payload)));
  }

  private boolean addPrepare(LogRequest.Prepare prepare) {
    List<Pending> pieces = new ArrayList<>(prepare.pieces().size());
    for (ChangedBlocks piece : prepare.pieces()) {
      ShardPiece.Intent intent =
          new ShardPiece.Intent(
              prepare.attempt(), prepare.after(), piece.replaces(), piece.alters());
      ByteBuffer payload = piece.payload();
      Extent extent =
          Extent.unplaced(piece.firstBlock(), payload.remaining(), piece.crcs(), Stamp.ORIGINAL);
      pieces.add(new Pending(prepare.shard(), intent, extent, payload));
    }
    boolean isAdded = addPending(pieces);
    if (isAdded) {
      prepared.add(prepare.attempt());
      if (prepare.isMadeFromOld()) {
        madeFromOld.add(prepare.attempt());
      }
    }
    return isAdded;
  }

  /** Adds all pieces or none. */
  private boolean addPending(List<Pending> pieces) {
    int directory = directoryBytes;
    int packed = packedBytes;
    int body = bodyBytes;
    for (Pending piece : pieces) {
      directory += piece.piece().headerBytes();
      packed += piece.payload().remaining() - piece.bodyBytes();
      body += piece.bodyBytes();
    }
    if (!fitsBatch(directory, packed, body)) {
      return false;
    }
    pending.addAll(pieces);
    directoryBytes = directory;
    packedBytes = packed;
    bodyBytes = body;
    return true;
  }

  private boolean addFolds(LogRequest.FoldAll request) throws IOException {
    if (!fitsMarks(request.queuedBytes())) {
      return false;
    }
    for (FoldIntent fold : request.folds()) {
      BlobId blob = fold.shard().blob();
      if (prepared.contains(fold.attempt()) || deleted.contains(blob)) {
        return false;
      }
    }
    request.missing().clear();
    for (FoldIntent fold : request.folds()) {
      changed.add(fold.shard().blob());
      if (!effects.fold(fold, this::addMark)) {
        request.missing().add(fold);
      }
    }
    return true;
  }

  private boolean addDiscards(LogRequest.DiscardAll request) throws IOException {
    if (!fitsMarks(request.queuedBytes())) {
      return false;
    }
    for (DiscardIntent discard : request.discards()) {
      if (prepared.contains(discard.attempt())
          || changed.contains(discard.blob())
          || deleted.contains(discard.blob())) {
        return false;
      }
    }
    for (DiscardIntent discard : request.discards()) {
      changed.add(discard.blob());
      effects.discard(discard, this::addMark);
    }
    return true;
  }

  private boolean addDelete(LogRequest.Delete request) throws IOException {
    if (!fitsMarks(request.queuedBytes()) || writesAnyOf(request.blobs())) {
      return false;
    }
    for (BlobId blob : request.blobs()) {
      if (deleted.add(blob)) {
        effects.delete(blob, this::addMark);
      }
    }
    return true;
  }

  private boolean writesAnyOf(List<BlobId> blobs) {
    return pending.stream().anyMatch(each -> blobs.contains(each.piece().shard().blob()))
        || !Collections.disjoint(changed, blobs);
  }

  private void addMark(MarkRecord mark) {
    marks.add(mark);
    directoryBytes += mark.storedBytes();
  }

  /** Adds a whole move; pieces that were deleted or moved meanwhile are skipped. */
  private boolean addMove(LogRequest.Move move) throws IOException {
    segmentToLeave = move.segment();
    for (MovedPiece moved : move.pieces()) {
      ShardPiece from = moved.from();
      Extent extent = from.extent();
      Extent now = change.find(from);
      if (now != null && now.liesWhere(extent)) {
        short flags = moved.isDamaged() ? SegmentFormat.DAMAGED : UNDAMAGED;
        if (!addPending(List.of(new Pending(from, moved.payload(), flags, true)))) {
          throw new IllegalArgumentException("a move of more than one batch");
        }
      }
    }
    for (MarkRecord mark : move.marks()) {
      if (change.isOfUse(mark)) {
        addMark(mark);
      }
    }
    return true;
  }

  /** Adds a merge, unless its pieces were changed, moved or deleted meanwhile. */
  private boolean addMerge(LogRequest.Merge merge) throws IOException {
    ShardId shard = merge.shard();
    int first = merge.bases().getFirst().firstBlock();
    int last = merge.bases().getLast().endBlock() - 1;
    List<Extent> patches = change.patches(shard, first, last);
    if (!areSame(change.bases(shard, first, last), merge.bases())
        || !areSame(patches, merge.patches())) {
      return true;
    }
    long altered = 0;
    for (List<Extent> merged : List.of(merge.bases(), patches)) {
      for (Extent extent : merged) {
        altered = Math.max(altered, extent.stamp().altered());
      }
    }
    Stamp stamp = new Stamp(change.folded(shard).revision(), altered);
    ByteBuffer payload = merge.payload();
    Extent extent = Extent.unplaced(first, payload.remaining(), merge.crcs(), stamp);
    isMerge = true;
    if (!addPending(List.of(new Pending(shard, ShardPiece.Role.BASE, extent, payload)))) {
      throw new IllegalArgumentException("a merge of more than one batch");
    }
    return true;
  }

  private static boolean areSame(List<Extent> now, List<Extent> then) {
    if (now.size() != then.size()) {
      return false;
    }
    for (int i = 0; i < now.size(); i++) {
      if (!now.get(i).liesWhere(then.get(i))) {
        return false;
      }
    }
    return true;
  }

  private boolean fitsMarks(int bytes) {
    return fitsBatch(directoryBytes + bytes, packedBytes, bodyBytes);
  }

  private boolean fitsBatch(int directory, int packed, int body) {
    return SegmentFormat.roundUp(directory + packed) + body <= drive.limits().batchBytesMax();
  }

  int bytes() {
    return SegmentFormat.roundUp(packedEnd()) + bodyBytes;
  }

  /**
   * Writes records and small payloads to the batch buffer and collects large payloads after it.
   *
   * @param at position of the batch, with its own sequence
   */
  void layOut(ByteBuffer batch, LogPosition at, List<ByteBuffer> buffers, List<ShardPiece> pieces) {
    buffers.add(batch);
    batch.position(SegmentFormat.HEADER_BYTES);
    for (MarkRecord mark : marks) {
      SegmentFormat.putMark(batch, mark);
    }
    int packedAt = directoryBytes();
    int bodyAt = SegmentFormat.roundUp(packedEnd());
    for (Pending next : pending) {
      ByteBuffer payload = next.payload();
      int length = payload.remaining();
      int body = next.bodyBytes();
      int packed = length - body;
      int position = at.offset() + (body > 0 ? bodyAt : packedAt);
      int tailPosition = body > 0 && packed > 0 ? at.offset() + packedAt : 0;
      Extent extent =
          next.piece().extent().placed(at.segment(), position, tailPosition, at.sequence());
      ShardPiece piece = next.piece().movedTo(extent);
      pieces.add(piece);
      SegmentFormat.putPiece(batch, piece, next.flags());
      if (body > 0) {
        buffers.add(payload.slice(payload.position(), body));
      }
      batch.put(packedAt, payload, payload.position() + body, packed);
      packedAt += packed;
      bodyAt += body;
    }
    if (history.batches() > 0) {
      SegmentFormat.putHistory(batch, history);
    }
  }

  void commitToIndex(List<ShardPiece> pieces, LogPosition reached) throws IOException {
    effects.place(marks, reached.segment());
    for (int i = 0; i < pieces.size(); i++) {
      Pending written = pending.get(i);
      if (isMerge) {
        effects.merge(pieces.get(i));
      } else if (written.isMoved()) {
        change.putCopy(pieces.get(i), written.piece().extent());
      } else {
        change.put(pieces.get(i), null);
      }
    }
    change.commit(reached);
    remember(pieces);
  }

  private void remember(List<ShardPiece> pieces) {
    for (int i = 0; i < pieces.size(); i++) {
      Pending written = pending.get(i);
      if (!isMerge && !written.isMoved()) {
        boolean isMadeFromOld =
            written.piece().role() instanceof ShardPiece.Intent intent
                && madeFromOld.contains(intent.attempt());
        drive.changed().recent().written(pieces.get(i), written.payload(), isMadeFromOld);
      }
    }
  }

  private static boolean isBody(ByteBuffer payload) {
    return payload.remaining() >= UNCOPIED_BYTES_MIN
        && payload.alignmentOffset(payload.position(), SegmentFormat.BLOCK) == 0;
  }
}
