package dev.ashlar.storage.drive.log;

import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.index.FoldState;
import dev.ashlar.storage.drive.index.ShardIndex;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.Extent.Stamp;
import dev.ashlar.storage.drive.segment.MarkRecord;
import dev.ashlar.storage.drive.segment.SegmentFiles;
import dev.ashlar.storage.drive.segment.ShardPiece;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Applies log records to the index: when they are written and in each replay. A replay may meet
 * marks later than they were written, and dead records whose marks were freed. Where that matters,
 * the newer revision wins.
 */
final class RecordApplier {
  private final IndexChange change;
  private final SegmentFiles segments;

  RecordApplier(IndexChange change, SegmentFiles segments) {
    this.change = change;
    this.segments = segments;
  }

  /**
   * Folds the pieces of an attempt.
   *
   * @param log receives the mark to write; none if it was folded before
   * @return false if the pieces are missing, or the changes they depend on are not folded
   */
  boolean fold(FoldIntent fold, Consumer<MarkRecord> log) throws IOException {
    ShardId shard = fold.shard();
    FoldState folded = change.folded(shard);
    if (fold.revision() <= folded.revision()) {
      return true;
    }
    if (folded.revision() < fold.after()) {
      return false;
    }
    List<ShardPiece> intents = change.intents(shard, fold.attempt());
    Reach reach = new Reach();
    long altered = 0;
    for (ShardPiece piece : intents) {
      ShardPiece.Intent intent = (ShardPiece.Intent) piece.role();
      if (intent.after() > folded.revision()) {
        return false;
      }
      if (intent.replaces() && !intent.alters()) {
        altered = Math.max(altered, alteredOf(shard, piece.extent()));
      }
      reach.add(piece.extent().segment());
    }
    if (intents.isEmpty()) {
      return false;
    }
    SegmentFiles.Span span = reach.withCopies();
    MarkRecord.FoldMark mark =
        new MarkRecord.FoldMark(
            shard, fold.attempt(), fold.revision(), altered, span.lowest(), span.highest());
    apply(mark, intents);
    log.accept(mark);
    return true;
  }

  private long alteredOf(ShardId shard, Extent blocks) throws IOException {
    int last = blocks.endBlock() - 1;
    long altered = 0;
    for (Extent base : change.bases(shard, blocks.firstBlock(), last)) {
      altered = Math.max(altered, base.stamp().altered());
    }
    for (Extent patch : change.patches(shard, blocks.firstBlock(), last)) {
      altered = Math.max(altered, patch.stamp().altered());
    }
    return altered;
  }

  /** Discards the pieces of an attempt for a blob, if there are any. */
  void discard(DiscardIntent discard, Consumer<MarkRecord> log) throws IOException {
    List<ShardPiece> discarded = intentsOf(discard);
    if (discarded.isEmpty()) {
      return;
    }
    Reach reach = new Reach();
    for (ShardPiece piece : discarded) {
      change.remove(piece);
      reach.add(piece.extent().segment());
    }
    SegmentFiles.Span span = reach.withCopies();
    log.accept(
        new MarkRecord.DiscardMark(
            discard.blob(), discard.attempt(), span.lowest(), span.highest()));
  }

  void delete(BlobId blob, Consumer<MarkRecord> log) throws IOException {
    Reach reach = remove(blob);
    if (!reach.isEmpty()) {
      SegmentFiles.Span span = reach.withCopies();
      log.accept(new MarkRecord.Tombstone(blob, span.lowest(), span.highest()));
    }
  }

  /** Replaces all older pieces of an extent's blocks by the extent made from them. */
  void merge(ShardPiece covering) throws IOException {
    change.putMerged(covering, cover(covering));
  }

  /**
   * Removes the older pieces of an extent's blocks except the one with the same first block, which
   * is returned.
   */
  private @Nullable Extent cover(ShardPiece covering) throws IOException {
    ShardId shard = covering.shard();
    Extent extent = covering.extent();
    long revision = extent.stamp().revision();
    FoldState folded = change.folded(shard).upTo(revision);
    Extent replaced = null;
    for (Extent base : change.bases(shard, extent.firstBlock(), extent.endBlock() - 1)) {
      if (base.firstBlock() == extent.firstBlock()) {
        replaced = base;
      } else if (base.firstBlock() > extent.firstBlock() && base.stamp().revision() <= revision) {
        change.remove(ShardPiece.base(shard, base));
        folded = folded.withTraceIn(base.segment());
      }
    }
    for (Extent patch : change.patches(shard, extent.firstBlock(), extent.endBlock() - 1)) {
      if (patch.stamp().revision() <= revision) {
        change.remove(ShardPiece.patch(shard, patch));
        folded = folded.withTraceIn(patch.segment());
      }
    }
    if (replaced != null) {
      folded = folded.withTraceIn(replaced.segment());
    }
    change.setFolded(shard, folded);
    return replaced;
  }

  void replay(MarkRecord mark) throws IOException {
    switch (mark) {
      case MarkRecord.Tombstone tombstone -> remove(tombstone.blob());
      case MarkRecord.FoldMark folding ->
          apply(folding, change.intents(folding.shard(), folding.attempt()));
      case MarkRecord.DiscardMark discard -> {
        for (ShardPiece piece : intentsOf(new DiscardIntent(discard.blob(), discard.attempt()))) {
          change.remove(piece);
        }
      }
    }
  }

  /** Replays a piece at the place where it was written or moved to. */
  void replay(ShardPiece piece) throws IOException {
    ShardId shard = piece.shard();
    Extent extent = piece.extent();
    int block = extent.firstBlock();
    switch (piece.role()) {
      case ShardPiece.Base base -> {
        if (extent.stamp().revision() > 0) {
          change.putCopy(piece, cover(piece));
        } else {
          change.putCopy(piece, change.baseAt(shard, block));
        }
      }
      case ShardPiece.Patch patch -> {
        FoldState folded = change.folded(shard).upTo(extent.stamp().revision());
        Extent before = change.patchAt(shard, block);
        change.putCopy(piece, before);
        change.setFolded(shard, before == null ? folded : folded.withTraceIn(before.segment()));
      }
      case ShardPiece.Intent intent -> change.putCopy(piece, change.find(piece));
    }
  }

  /** Records that this segment holds marks; a blob's tombstone has to outlive its fold marks. */
  void place(List<MarkRecord> marks, long segment) throws IOException {
    change.addMarks(segment, marks.size());
    for (MarkRecord mark : marks) {
      if (mark instanceof MarkRecord.FoldMark folding) {
        ShardId shard = folding.shard();
        change.setFolded(shard, change.folded(shard).withTraceIn(segment));
      }
    }
  }

  private void apply(MarkRecord.FoldMark mark, List<ShardPiece> intents) throws IOException {
    ShardId shard = mark.shard();
    FoldState before = change.folded(shard);
    boolean isLate = mark.revision() <= before.revision();
    FoldState after = before.upTo(mark.revision());
    for (ShardPiece piece : intents) {
      ShardPiece.Intent intent = (ShardPiece.Intent) piece.role();
      Extent extent = piece.extent();
      change.remove(piece);
      after = after.withTraceIn(extent.segment());
      Stamp stamp = new Stamp(mark.revision(), intent.alters() ? mark.revision() : mark.altered());
      if (!intent.replaces()) {
        foldBase(shard, extent.stamped(stamp), isLate);
        continue;
      }
      for (int block = extent.firstBlock(); block < extent.endBlock(); block++) {
        Extent replaced = foldPatch(shard, extent.block(block, stamp), isLate);
        after = replaced == null ? after : after.withTraceIn(replaced.segment());
      }
    }
    change.setFolded(shard, after);
  }

  /** Adds blocks that the shard did not have. */
  private void foldBase(ShardId shard, Extent fresh, boolean isLate) throws IOException {
    if (isLate) {
      for (Extent present : change.bases(shard, fresh.firstBlock(), fresh.firstBlock())) {
        if (present.isAsNewAs(fresh)) {
          return;
        }
      }
    }
    change.put(ShardPiece.base(shard, fresh), change.baseAt(shard, fresh.firstBlock()));
  }

  /** Replaces a block that the shard had; returns its former patch. */
  private @Nullable Extent foldPatch(ShardId shard, Extent fresh, boolean isLate)
      throws IOException {
    int block = fresh.firstBlock();
    if (isLate) {
      for (Extent base : change.bases(shard, block, block)) {
        if (base.stamp().revision() >= fresh.stamp().revision()) {
          return null;
        }
      }
    }
    Extent before = change.patchAt(shard, block);
    if (isLate && before != null && before.isAsNewAs(fresh)) {
      return null;
    }
    change.put(ShardPiece.patch(shard, fresh), before);
    return before;
  }

  private List<ShardPiece> intentsOf(DiscardIntent discard) throws IOException {
    List<ShardPiece> found = new ArrayList<>(change.unfolded(discard.blob()));
    found.removeIf(piece -> !piece.attempt().equals(discard.attempt()));
    return found;
  }

  private Reach remove(BlobId blob) throws IOException {
    Reach reach = new Reach();
    change.forEachRow(
        blob,
        new ShardIndex.RowVisitor() {
          @Override
          public void piece(ShardPiece piece) throws IOException {
            change.remove(piece);
            reach.add(piece.extent().segment());
          }

          @Override
          public void folded(ShardId shard, FoldState folded) throws IOException {
            change.removeFolded(shard);
            reach.add(folded.lowestSegment());
            reach.add(folded.highestSegment());
          }
        });
    return reach;
  }

  /** The range of segments that hold dead records. */
  private final class Reach {
    private long lowest = Long.MAX_VALUE;
    private long highest;

    void add(long segment) {
      lowest = Math.min(lowest, segment);
      highest = Math.max(highest, segment);
    }

    boolean isEmpty() {
      return highest == 0;
    }

    SegmentFiles.Span withCopies() {
      return segments.withCopies(lowest, highest);
    }
  }
}
