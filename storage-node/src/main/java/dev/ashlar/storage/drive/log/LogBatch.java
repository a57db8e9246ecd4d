package dev.ashlar.storage.drive.log;

import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.cache.ChangedShards;
import dev.ashlar.storage.drive.index.ShardIndex;
import dev.ashlar.storage.drive.log.LogRequest.ChangedBlocks;
import dev.ashlar.storage.drive.log.LogRequest.MovedPiece;
import dev.ashlar.storage.drive.segment.ChangeHistory;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.Extent.Stamp;
import dev.ashlar.storage.drive.segment.LogPosition;
import dev.ashlar.storage.drive.segment.MarkRecord;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFiles;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.drive.segment.ShardPiece;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Collects the records of the next batch and lays it out. Not thread-safe. */
public final class LogBatch {
  /** Aligned payloads of at least this size are written without copying. */
  public static final int UNCOPIED_BYTES_MIN = 64 * 1024;

  private static final short UNDAMAGED = 0;

  private final int bytesMax;
  private final SegmentFiles segments;
  private final ShardIndex index;
  private final ChangedShards changedShards;
  private final List<Pending> pending = new ArrayList<>();
  private final List<MarkRecord> marks = new ArrayList<>();
  private final Set<BlobId> deleted = new HashSet<>();

  /** Blobs with folded or discarded intents. */
  private final Set<BlobId> changed = new HashSet<>();

  private final Set<AttemptId> prepared = new HashSet<>();

  /** Attempts whose blocks were made from their former content. */
  private final Set<AttemptId> madeFromOld = new HashSet<>();

  private IndexChange change;
  private RecordApplier effects;
  private boolean isMerge;
  private long segmentToLeave;
  private int directoryBytes = SegmentFormat.HEADER_BYTES;
  private int packedBytes;
  private int bodyBytes;
  private ChangeHistory.Stored history = ChangeHistory.Stored.NONE;

  /** A piece of the batch; {@code from} is its former place if it is moved. */
  private record Pending(
      ShardId shard, ShardPiece.Role role, Shape shape, ByteBuffer payload, @Nullable Extent from) {
    int bodyBytes() {
      return isBody(payload) ? payload.remaining() & -SegmentFormat.BLOCK : 0;
    }
  }

  /** The part of a piece that is known before it has a place. */
  private record Shape(int firstBlock, int[] crcs, Stamp stamp, short flags) {}

  LogBatch(int bytesMax, SegmentFiles segments, ShardIndex index, ChangedShards changedShards) {
    this.bytesMax = bytesMax;
    this.segments = segments;
    this.index = index;
    this.changedShards = changedShards;
    change = new IndexChange(index, segments, changedShards);
    effects = new RecordApplier(change, segments);
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
    Shape shape = new Shape(firstBlock, write.blockCrcs(), Stamp.ORIGINAL, UNDAMAGED);
    return addPending(
        List.of(new Pending(write.shard(), ShardPiece.Role.BASE, shape, write.payload(), null)));
  }

  private boolean addPrepare(LogRequest.Prepare prepare) {
    List<Pending> pieces = new ArrayList<>(prepare.pieces().size());
    for (ChangedBlocks piece : prepare.pieces()) {
      ShardPiece.Intent intent =
          new ShardPiece.Intent(
              prepare.attempt(), prepare.after(), piece.replaces(), piece.alters());
      Shape shape = new Shape(piece.firstBlock(), piece.crcs(), Stamp.ORIGINAL, UNDAMAGED);
      pieces.add(new Pending(prepare.shard(), intent, shape, piece.payload(), null));
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
      Shape shape = piece.shape();
      directory += SegmentFormat.pieceHeaderBytes(piece.role(), shape.stamp(), shape.crcs().length);
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
    int before = marks.size();
    for (FoldIntent fold : request.folds()) {
      changed.add(fold.shard().blob());
      if (!effects.fold(fold, marks)) {
        request.missing().add(fold);
      }
    }
    countMarks(before);
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
    int before = marks.size();
    for (DiscardIntent discard : request.discards()) {
      changed.add(discard.blob());
      effects.discard(discard, marks);
    }
    countMarks(before);
    return true;
  }

  private boolean addDelete(LogRequest.Delete request) throws IOException {
    if (!fitsMarks(request.queuedBytes()) || writesAnyOf(request.blobs())) {
      return false;
    }
    int before = marks.size();
    for (BlobId blob : request.blobs()) {
      if (deleted.add(blob)) {
        effects.delete(blob, marks);
      }
    }
    countMarks(before);
    return true;
  }

  private boolean writesAnyOf(List<BlobId> blobs) {
    for (Pending piece : pending) {
      if (blobs.contains(piece.shard().blob())) {
        return true;
      }
    }
    for (BlobId blob : changed) {
      if (blobs.contains(blob)) {
        return true;
      }
    }
    return false;
  }

  private void countMarks(int from) {
    for (MarkRecord mark : marks.subList(from, marks.size())) {
      directoryBytes += mark.storedBytes();
    }
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
        Shape shape = new Shape(extent.firstBlock(), extent.crcs(), extent.stamp(), flags);
        Pending piece = new Pending(from.shard(), from.role(), shape, moved.payload(), extent);
        if (!addPending(List.of(piece))) {
          throw new IllegalArgumentException("a move of more than one batch");
        }
      }
    }
    for (MarkRecord mark : move.marks()) {
      if (change.isOfUse(mark)) {
        marks.add(mark);
        directoryBytes += mark.storedBytes();
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
    Shape shape = new Shape(first, merge.crcs(), stamp, UNDAMAGED);
    isMerge = true;
    if (!addPending(
        List.of(new Pending(shard, ShardPiece.Role.BASE, shape, merge.payload(), null)))) {
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
    return SegmentFormat.roundUp(directory + packed) + body <= bytesMax;
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
      Shape shape = next.shape();
      Extent extent =
          new Extent(
              shape.firstBlock(),
              length,
              at.segment(),
              position,
              tailPosition,
              at.sequence(),
              shape.crcs(),
              shape.stamp());
      ShardPiece piece = new ShardPiece(next.shard(), next.role(), extent);
      pieces.add(piece);
      SegmentFormat.putPiece(batch, piece, shape.flags());
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
    effects.leaveTraces(marks, reached.segment());
    for (int i = 0; i < pieces.size(); i++) {
      Extent from = pending.get(i).from();
      if (isMerge) {
        effects.merge(pieces.get(i));
      } else if (from != null) {
        change.putCopy(pieces.get(i), from);
      } else {
        change.put(pieces.get(i), null);
      }
    }
    change.addMarks(reached.segment(), marks.size());
    change.commit(reached);
    remember(pieces);
  }

  private void remember(List<ShardPiece> pieces) {
    for (int i = 0; i < pieces.size(); i++) {
      Pending written = pending.get(i);
      if (!isMerge && written.from() == null) {
        boolean isMadeFromOld =
            written.role() instanceof ShardPiece.Intent intent
                && madeFromOld.contains(intent.attempt());
        changedShards.recent().written(pieces.get(i), written.payload(), isMadeFromOld);
      }
    }
  }

  void clear() {
    pending.clear();
    marks.clear();
    deleted.clear();
    changed.clear();
    prepared.clear();
    madeFromOld.clear();
    change = new IndexChange(index, segments, changedShards);
    effects = new RecordApplier(change, segments);
    isMerge = false;
    segmentToLeave = 0;
    directoryBytes = SegmentFormat.HEADER_BYTES;
    packedBytes = 0;
    bodyBytes = 0;
    history = ChangeHistory.Stored.NONE;
  }

  private static boolean isBody(ByteBuffer payload) {
    return payload.remaining() >= UNCOPIED_BYTES_MIN
        && payload.alignmentOffset(payload.position(), SegmentFormat.BLOCK) == 0;
  }
}
