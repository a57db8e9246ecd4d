package dev.ashlar.storage.drive.compact;

import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.cache.UnfoldedShards;
import dev.ashlar.storage.drive.index.PatchPage;
import dev.ashlar.storage.drive.index.ShardIndex;
import dev.ashlar.storage.drive.log.OpenDrive;
import dev.ashlar.storage.drive.segment.BatchScanner;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.MarkRecord;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFiles;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.drive.segment.ShardPiece;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Collects the needed records of a segment. A folded piece of an intent may be needed in its new
 * role: as a base extent, or as patches of some of its blocks. Most records of a segment worth
 * compacting are dead, so many are looked up together.
 */
public final class LiveRecordCollector implements BatchScanner.RecordVisitor {
  /** About all pieces of a segment written in small pieces. */
  private static final int WAITING_MAX = 16 * 1024;

  /** Appended blocks looked up with one scan, if there are enough. */
  private static final int BASE_BLOCKS_TOGETHER = 64;

  /** Fewer pieces are looked up one by one. */
  private static final int PIECES_PER_SCAN_MIN = 4;

  /** The order of the index. */
  private static final Comparator<ShardPiece> IN_SHARDS =
      Comparator.comparing((ShardPiece piece) -> piece.shard().blob())
          .thenComparingInt(piece -> piece.shard().slot())
          .thenComparingInt(piece -> piece.extent().firstBlock());

  private final SegmentFiles segments;
  private final Segment segment;
  private final ShardIndex index;
  private final UnfoldedShards unfolded;
  private final List<ShardPiece> waiting = new ArrayList<>();
  private final List<MarkRecord> waitingMarks = new ArrayList<>();
  private final ArrayDeque<ShardPiece> pieces = new ArrayDeque<>();
  private final Set<MarkRecord> marks = new LinkedHashSet<>();
  private int bytesMax = SegmentFormat.HEADER_BYTES;
  private int marksMet;

  /**
   * The records for one batch.
   *
   * @param bytes log space of the batch
   */
  public record Load(List<ShardPiece> pieces, List<MarkRecord> marks, int bytes) {
    static final Load NONE = new Load(List.of(), List.of(), SegmentFormat.BLOCK);

    boolean isEmpty() {
      return pieces.isEmpty() && marks.isEmpty();
    }
  }

  public LiveRecordCollector(
      ShardIndex index, UnfoldedShards unfolded, SegmentFiles segments, Segment segment) {
    this.index = index;
    this.unfolded = unfolded;
    this.segments = segments;
    this.segment = segment;
  }

  public static LiveRecordCollector of(OpenDrive drive, Segment segment) {
    return new LiveRecordCollector(
        drive.index(), drive.changed().unfolded(), drive.segments(), segment);
  }

  /** Upper bound of the size of a batch with all records found so far. */
  int bytesMax() {
    return bytesMax;
  }

  boolean isEmpty() {
    return pieces.isEmpty() && marks.isEmpty();
  }

  /** Removes the records for one batch. */
  public Load take(int batchBytesMax) {
    return take(batchBytesMax, batchBytesMax);
  }

  /**
   * @param roomBytes log space that the batch must not exceed
   */
  public Load take(int batchBytesMax, int roomBytes) {
    List<ShardPiece> taken = new ArrayList<>();
    List<MarkRecord> takenMarks = new ArrayList<>();
    int bytes = SegmentFormat.HEADER_BYTES;
    int stored = bytes;
    for (MarkRecord mark : marks) {
      int next = mark.storedBytes();
      if (bytes + next <= batchBytesMax && SegmentFormat.roundUp(stored + next) <= roomBytes) {
        takenMarks.add(mark);
        bytes += next;
        stored += next;
      }
    }
    for (ShardPiece next = pieces.peek();
        next != null
            && bytes + batchBytesMax(next) <= batchBytesMax
            && SegmentFormat.roundUp(stored + next.storedBytes()) <= roomBytes;
        next = pieces.peek()) {
      taken.add(pieces.remove());
      bytes += batchBytesMax(next);
      stored += next.storedBytes();
    }
    takenMarks.forEach(marks::remove);
    bytesMax -= bytes - SegmentFormat.HEADER_BYTES;
    return new Load(taken, takenMarks, SegmentFormat.roundUp(stored));
  }

  /** Collects a piece, whose current state is looked up by {@link #lookUp}. */
  @Override
  public void piece(ShardPiece piece) throws IOException {
    if (segment.use().liveBytes() == 0) {
      return; // nothing in a segment becomes live again
    }
    waiting.add(piece);
    lookUpMany();
  }

  /** Collects a mark. */
  @Override
  public void mark(MarkRecord mark) throws IOException {
    marksMet++;
    waitingMarks.add(mark);
    lookUpMany();
  }

  int marksMet() {
    return marksMet;
  }

  /** Adds the pieces of a blob in this segment, with or without a readable directory. */
  void addAllOf(BlobId blob) throws IOException {
    index.forEachRow(
        blob,
        piece -> {
          if (piece.extent().segment() == segment.id()) {
            add(piece);
          }
        });
  }

  private void lookUpMany() throws IOException {
    if (waiting.size() + waitingMarks.size() >= WAITING_MAX) {
      lookUp();
    }
  }

  /** Looks up which visited records are needed and in which role. */
  public void lookUp() throws IOException {
    lookUpMarks();
    List<ShardPiece> needed = new ArrayList<>();
    List<ShardPiece> asBases = new ArrayList<>();
    List<ShardPiece> asPatches = new ArrayList<>();
    for (List<ShardPiece> ofShard : neighbours(waiting, Integer.MAX_VALUE)) {
      lookUpIntents(ofShard, needed, asBases, asPatches);
    }
    waiting.clear();
    for (List<ShardPiece> near : neighbours(asBases, BASE_BLOCKS_TOGETHER)) {
      addBases(near, needed);
    }
    for (List<ShardPiece> near : neighbours(asPatches, PatchPage.BLOCKS)) {
      addPatches(near, needed);
    }
    needed.sort(Comparator.comparingInt(piece -> piece.extent().position()));
    needed.forEach(this::add);
  }

  /** Intents that no longer exist have to be looked up in the roles that folds give them. */
  private void lookUpIntents(
      List<ShardPiece> ofShard,
      List<ShardPiece> needed,
      List<ShardPiece> asBases,
      List<ShardPiece> asPatches)
      throws IOException {
    ShardId shard = ofShard.getFirst().shard();
    UnfoldedShards.Known known = unfolded.find(shard);
    boolean isOneScan = known == null && ofShard.size() >= PIECES_PER_SCAN_MIN;
    Map<AttemptId, List<ShardPiece>> all =
        known != null ? known.attempts() : isOneScan ? index.latest().intents(shard) : null;
    for (ShardPiece piece : ofShard) {
      switch (piece.role()) {
        case ShardPiece.Base base -> asBases.add(piece);
        case ShardPiece.Patch patch -> asPatches.add(piece);
        case ShardPiece.Intent intent -> {
          Extent now = all == null ? where(piece, intent) : where(piece, intent, all);
          if (now != null) {
            needed.add(piece.movedTo(now));
          } else {
            (intent.replaces() ? asPatches : asBases).add(piece);
          }
        }
      }
    }
  }

  private static @Nullable Extent where(
      ShardPiece piece, ShardPiece.Intent intent, Map<AttemptId, List<ShardPiece>> all) {
    for (ShardPiece now : all.getOrDefault(intent.attempt(), List.of())) {
      if (now.extent().firstBlock() == piece.extent().firstBlock()
          && now.extent().liesWhere(piece.extent())) {
        return now.extent();
      }
    }
    return null;
  }

  private @Nullable Extent where(ShardPiece piece, ShardPiece.Role role) throws IOException {
    Extent extent = piece.extent();
    Extent now = index.latest().at(piece.shard(), role, extent.firstBlock());
    return now != null && now.liesWhere(extent) ? now : null;
  }

  /** Groups pieces of one shard that begin in the same range of this many blocks. */
  private static List<List<ShardPiece>> neighbours(List<ShardPiece> pieces, int blocks) {
    pieces.sort(IN_SHARDS);
    List<List<ShardPiece>> all = new ArrayList<>();
    for (int from = 0; from < pieces.size(); ) {
      ShardPiece first = pieces.get(from);
      int to = from + 1;
      while (to < pieces.size()
          && pieces.get(to).shard().equals(first.shard())
          && pieces.get(to).extent().firstBlock() / blocks
              == first.extent().firstBlock() / blocks) {
        to++;
      }
      all.add(pieces.subList(from, to));
      from = to;
    }
    return all;
  }

  private void addBases(List<ShardPiece> near, List<ShardPiece> needed) throws IOException {
    ShardId shard = near.getFirst().shard();
    if (near.size() < PIECES_PER_SCAN_MIN) {
      for (ShardPiece piece : near) {
        Extent now = where(piece, ShardPiece.Role.BASE);
        if (now != null) {
          needed.add(ShardPiece.base(shard, now));
        }
      }
      return;
    }
    int firstBlock = near.getFirst().extent().firstBlock();
    int lastBlock = near.getLast().extent().firstBlock();
    Map<Integer, Extent> bases = new HashMap<>();
    for (Extent now : index.latest().bases(shard, firstBlock, lastBlock)) {
      bases.put(now.firstBlock(), now);
    }
    for (ShardPiece piece : near) {
      Extent now = bases.get(piece.extent().firstBlock());
      if (now != null && now.liesWhere(piece.extent())) {
        needed.add(ShardPiece.base(shard, now));
      }
    }
  }

  private void addPatches(List<ShardPiece> near, List<ShardPiece> needed) throws IOException {
    ShardId shard = near.getFirst().shard();
    int firstBlock = near.getFirst().extent().firstBlock();
    int endBlock = near.stream().mapToInt(piece -> piece.extent().endBlock()).max().orElseThrow();
    for (Extent now : index.latest().patches(shard, firstBlock, endBlock - 1)) {
      if (now.segment() != segment.id()) {
        continue;
      }
      int block = now.firstBlock();
      for (ShardPiece piece : near) {
        Extent extent = piece.extent();
        if (extent.covers(block) && now.liesWhere(extent.block(block, now.stamp()))) {
          needed.add(ShardPiece.patch(shard, now));
        }
      }
    }
  }

  private void add(ShardPiece needed) {
    pieces.add(needed);
    bytesMax += batchBytesMax(needed);
  }

  /**
   * The last fold mark records how far the shard is folded; others only record what became of
   * intents.
   */
  private void lookUpMarks() throws IOException {
    Map<ShardId, Long> revisions = new HashMap<>();
    for (MarkRecord mark : waitingMarks) {
      boolean isNeeded = segments.needs(mark, segment.id());
      if (mark instanceof MarkRecord.FoldMark folding) {
        Long folded = revisions.get(folding.shard());
        if (folded == null) {
          folded = folded(folding.shard());
          revisions.put(folding.shard(), folded);
        }
        isNeeded = folded == folding.revision() || (folded > 0 && isNeeded);
      }
      if (isNeeded && marks.add(mark)) {
        bytesMax += mark.storedBytes();
      }
    }
    waitingMarks.clear();
  }

  /** At least the revision of any mark in a segment that is no longer written. */
  private long folded(ShardId shard) throws IOException {
    UnfoldedShards.Known known = unfolded.find(shard);
    return known != null ? known.folded() : index.latest().folded(shard).revision();
  }

  private static int batchBytesMax(ShardPiece piece) {
    return piece.headerBytes() + SegmentFormat.roundUp(piece.extent().length());
  }
}
