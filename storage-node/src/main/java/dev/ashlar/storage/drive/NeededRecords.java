package dev.ashlar.storage.drive;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Gathers what of a segment's records is still needed. An intent's piece that was folded may be
 * needed as what it has become: a base extent, or patches of some of its blocks.
 */
final class NeededRecords implements BatchScanner.RecordVisitor {
  private final Segments segments;
  private final Segment segment;
  private final ShardIndex index;
  private final UnfoldedShards unfolded;
  private final ArrayDeque<Piece> pieces = new ArrayDeque<>();
  private final Set<Mark> marks = new LinkedHashSet<>();
  private int bytesMax = SegmentFormat.HEADER_BYTES;

  /** What one batch can carry. */
  record Load(List<Piece> pieces, List<Mark> marks) {}

  NeededRecords(ShardIndex index, UnfoldedShards unfolded, Segments segments, Segment segment) {
    this.index = index;
    this.unfolded = unfolded;
    this.segments = segments;
    this.segment = segment;
  }

  /** At least what a batch of all this takes. */
  int bytesMax() {
    return bytesMax;
  }

  /** Takes out what fits a batch. */
  Load take(int batchBytesMax) {
    List<Piece> taken = new ArrayList<>();
    List<Mark> takenMarks = new ArrayList<>();
    int bytes = SegmentFormat.HEADER_BYTES;
    for (Mark mark : marks) {
      if (bytes + mark.storedBytes() <= batchBytesMax) {
        takenMarks.add(mark);
        bytes += mark.storedBytes();
      }
    }
    for (Piece next = pieces.peek();
        next != null && bytes + batchBytesMax(next) <= batchBytesMax;
        next = pieces.peek()) {
      taken.add(pieces.remove());
      bytes += batchBytesMax(next);
    }
    takenMarks.forEach(marks::remove);
    bytesMax -= bytes - SegmentFormat.HEADER_BYTES;
    return new Load(taken, takenMarks);
  }

  @Override
  public void piece(Piece piece) throws IOException {
    switch (piece.role()) {
      case Piece.Base base -> addIfHere(piece);
      case Piece.Patch patch -> addIfHere(piece);
      case Piece.Intent intent -> addIntent(piece, intent);
    }
  }

  /** It may have been folded: to patches of its blocks, or to a base extent. */
  private void addIntent(Piece piece, Piece.Intent intent) throws IOException {
    Extent extent = piece.extent();
    UnfoldedShards.Known known = unfolded.find(piece.shard());
    boolean mayBeHere = known == null || known.attempts().containsKey(intent.attempt());
    if (mayBeHere && addIfHere(piece)) {
      return;
    }
    if (!intent.replaces()) {
      addIfHere(Piece.base(piece.shard(), extent));
      return;
    }
    for (Extent now :
        index.latest().patches(piece.shard(), extent.firstBlock(), extent.endBlock() - 1)) {
      if (now.liesWhere(extent.block(now.firstBlock(), extent.stamp()))) {
        add(Piece.patch(piece.shard(), now));
      }
    }
  }

  private boolean addIfHere(Piece piece) throws IOException {
    Extent extent = piece.extent();
    Extent now = index.latest().at(piece.shard(), piece.role(), extent.firstBlock());
    if (now == null || !now.liesWhere(extent)) {
      return false;
    }
    add(piece.movedTo(now));
    return true;
  }

  private void add(Piece needed) {
    pieces.add(needed);
    bytesMax += batchBytesMax(needed);
  }

  /** The last fold's mark says how far the shard is; the others only what became of intents. */
  @Override
  public void mark(Mark mark) throws IOException {
    boolean isNeeded = segments.needs(mark, segment.id());
    if (mark instanceof Mark.Folding folding) {
      long folded = index.latest().folded(folding.shard()).revision();
      isNeeded = folded == folding.revision() || (folded > 0 && isNeeded);
    }
    if (isNeeded && marks.add(mark)) {
      bytesMax += mark.storedBytes();
    }
  }

  private static int batchBytesMax(Piece piece) {
    int length = piece.extent().length();
    return piece.storedBytes() - length + SegmentFormat.roundUp(length);
  }
}
