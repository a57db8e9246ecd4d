package dev.ashlar.storage.drive.log;

import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.cache.ChangedShards;
import dev.ashlar.storage.drive.cache.UnfoldedShards;
import dev.ashlar.storage.drive.index.FoldState;
import dev.ashlar.storage.drive.index.ShardIndex;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.LogPosition;
import dev.ashlar.storage.drive.segment.MarkRecord;
import dev.ashlar.storage.drive.segment.Segment;
import dev.ashlar.storage.drive.segment.SegmentFiles;
import dev.ashlar.storage.drive.segment.SegmentUsage;
import dev.ashlar.storage.drive.segment.ShardPiece;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The effect of one batch on the index and on the usage of segments. Lookups show changes of the
 * batch before they are committed.
 */
final class IndexChange {
  private final ShardIndex index;
  private final ShardIndex.Update update;
  private final SegmentFiles segments;
  private final ChangedShards caches;
  private final Map<Long, SegmentUsage> uses = new HashMap<>();
  private final Map<ShardId, Pending> pending = new HashMap<>();
  private final Map<ShardId, Intents> intents = new HashMap<>();
  private final Set<ShardId> removedShards = new HashSet<>();

  /** New bytes of the shards themselves, other than by moves. */
  private final List<ShardPiece> foldedPieces = new ArrayList<>();

  private final List<ShardPiece> mergedPieces = new ArrayList<>();

  /**
   * Pieces that the index shows until the commit although they are removed; each must be accounted
   * for once.
   */
  private final Set<Key> removed = new HashSet<>();

  private record Key(ShardId shard, ShardPiece.Role role, int firstBlock) {
    static Key of(ShardPiece piece) {
      return new Key(piece.shard(), piece.role(), piece.extent().firstBlock());
    }
  }

  /** The changes of a shard. */
  private static final class Pending {
    final TreeMap<Integer, Extent> bases = new TreeMap<>();
    final TreeMap<Integer, Extent> patches = new TreeMap<>();
    @Nullable FoldState folded;

    NavigableMap<Integer, Extent> of(ShardPiece.Role role) {
      return role instanceof ShardPiece.Patch ? patches : bases;
    }
  }

  /** The unfolded pieces that the batch adds and removes. */
  private record Intents(List<ShardPiece> put, List<ShardPiece> removed) {
    static final Intents NONE = new Intents(List.of(), List.of());

    Intents() {
      this(new ArrayList<>(), new ArrayList<>());
    }
  }

  IndexChange(OpenDrive drive) {
    index = drive.index();
    update = index.update();
    segments = drive.segments();
    caches = drive.changed();
  }

  /** Adds a new piece, possibly replacing one with the same key. */
  void put(ShardPiece piece, @Nullable Extent replaced) throws IOException {
    put(piece, replaced, false);
    if (piece.extent().stamp().revision() > 0) {
      foldedPieces.add(piece);
    }
  }

  /** Adds a piece with the bytes of older ones, possibly replacing one with the same key. */
  void putMerged(ShardPiece piece, @Nullable Extent replaced) throws IOException {
    put(piece, replaced, false);
    if (piece.extent().stamp().revision() > 0) {
      mergedPieces.add(piece);
    }
  }

  /** Adds a piece, possibly replacing a copy that remains in its segment and may be replayed. */
  void putCopy(ShardPiece piece, @Nullable Extent from) throws IOException {
    put(piece, from, true);
  }

  private void put(ShardPiece piece, @Nullable Extent replaced, boolean leavesCopy)
      throws IOException {
    update.put(piece);
    Extent extent = piece.extent();
    use(extent.segment(), piece.storedBytes(), 0, false);
    if (replaced != null) {
      ShardPiece gone = piece.movedTo(replaced);
      if (!removed.contains(Key.of(gone))) {
        use(replaced.segment(), -gone.storedBytes(), 0, leavesCopy);
      }
    }
    if (piece.role() instanceof ShardPiece.Intent) {
      intents(piece.shard()).put().add(piece);
    } else if (piece.role() instanceof ShardPiece.Patch || extent.stamp().revision() > 0) {
      pending(piece.shard()).of(piece.role()).put(extent.firstBlock(), extent);
    }
  }

  void remove(ShardPiece piece) throws IOException {
    Pending changed = pending.get(piece.shard());
    boolean isOfThisBatch =
        changed != null
            && !(piece.role() instanceof ShardPiece.Intent)
            && changed.of(piece.role()).remove(piece.extent().firstBlock()) != null;
    if (removed.add(Key.of(piece)) || isOfThisBatch) {
      update.remove(piece);
      use(piece.extent().segment(), -piece.storedBytes(), 0, false);
      if (piece.role() instanceof ShardPiece.Intent) {
        intents(piece.shard()).removed().add(piece);
      }
    }
  }

  FoldState folded(ShardId shard) throws IOException {
    Pending changed = pending.get(shard);
    return changed != null && changed.folded != null
        ? changed.folded
        : index.latest().folded(shard);
  }

  void setFolded(ShardId shard, FoldState folded) {
    pending(shard).folded = folded;
  }

  void removeFolded(ShardId shard) throws IOException {
    pending.remove(shard);
    removedShards.add(shard);
    update.removeFolded(shard);
  }

  /** The base extents with any block from the first to the last, in order. */
  List<Extent> bases(ShardId shard, int firstBlock, int lastBlock) throws IOException {
    List<Extent> known = index.latest().bases(shard, firstBlock, lastBlock);
    return changed(shard, ShardPiece.Role.BASE, known, firstBlock, lastBlock);
  }

  List<Extent> patches(ShardId shard, int firstBlock, int lastBlock) throws IOException {
    List<Extent> known = index.latest().patches(shard, firstBlock, lastBlock);
    return changed(shard, ShardPiece.Role.PATCH, known, firstBlock, lastBlock);
  }

  @Nullable Extent baseAt(ShardId shard, int firstBlock) throws IOException {
    Pending changed = pending.get(shard);
    Extent fresh = changed == null ? null : changed.bases.get(firstBlock);
    return fresh != null || removed.contains(new Key(shard, ShardPiece.Role.BASE, firstBlock))
        ? fresh
        : index.latest().at(shard, ShardPiece.Role.BASE, firstBlock);
  }

  @Nullable Extent patchAt(ShardId shard, int block) throws IOException {
    return update.patchAt(shard, block);
  }

  List<ShardPiece> intents(ShardId shard, AttemptId attempt) throws IOException {
    UnfoldedShards.Known known = caches.unfolded().find(shard);
    Map<AttemptId, List<ShardPiece>> all =
        known != null
            ? known.attempts()
            : index.latest().intents(shard, List.of(attempt), 0, Integer.MAX_VALUE);
    List<ShardPiece> found = new ArrayList<>(all.getOrDefault(attempt, List.of()));
    found.removeIf(piece -> removed.contains(Key.of(piece)));
    return found;
  }

  /** The extent with the key of this piece. */
  @Nullable Extent find(ShardPiece piece) throws IOException {
    ShardId shard = piece.shard();
    int block = piece.extent().firstBlock();
    return switch (piece.role()) {
      case ShardPiece.Base base -> index.latest().at(shard, base, block);
      case ShardPiece.Patch patch -> patchAt(shard, block);
      case ShardPiece.Intent intent -> {
        for (ShardPiece found : intents(shard, intent.attempt())) {
          if (found.extent().firstBlock() == block) {
            yield found.extent();
          }
        }
        yield null;
      }
    };
  }

  /** Whether a mark still has an effect: that of a fold does while the shard exists. */
  boolean isOfUse(MarkRecord mark) throws IOException {
    return !(mark instanceof MarkRecord.FoldMark folding) || folded(folding.shard()).revision() > 0;
  }

  /** Visits the committed rows of a blob, without the changes of this batch. */
  void forEachRow(BlobId blob, ShardIndex.RowVisitor visitor) throws IOException {
    index.forEachRow(blob, visitor);
  }

  /** The committed unfolded pieces of a blob, without those added by this batch. */
  List<ShardPiece> unfolded(BlobId blob) throws IOException {
    return index.unfolded(blob);
  }

  /** Known extents of these blocks with the changes of the batch. */
  private List<Extent> changed(
      ShardId shard, ShardPiece.Role role, List<Extent> known, int firstBlock, int lastBlock) {
    List<Extent> left = without(shard, role, known);
    Pending changed = pending.get(shard);
    if (changed == null) {
      return left;
    }
    TreeMap<Integer, Extent> all = new TreeMap<>();
    left.forEach(extent -> all.put(extent.firstBlock(), extent));
    for (Extent extent : changed.of(role).headMap(lastBlock, true).values()) {
      if (extent.endBlock() > firstBlock) {
        all.put(extent.firstBlock(), extent);
      }
    }
    return List.copyOf(all.values());
  }

  private List<Extent> without(ShardId shard, ShardPiece.Role role, List<Extent> known) {
    if (removed.isEmpty()) {
      return known;
    }
    List<Extent> left = new ArrayList<>(known);
    left.removeIf(extent -> removed.contains(new Key(shard, role, extent.firstBlock())));
    return left;
  }

  void addMarks(long segment, int count) {
    if (count > 0) {
      use(segment, 0, count, false);
    }
  }

  void commit(LogPosition reached) throws IOException {
    for (Map.Entry<ShardId, Pending> shard : pending.entrySet()) {
      FoldState folded = shard.getValue().folded;
      if (folded != null) {
        update.putFolded(shard.getKey(), folded);
      }
    }
    Map<Segment, SegmentUsage> changed = new HashMap<>();
    for (Map.Entry<Long, SegmentUsage> entry : uses.entrySet()) {
      Segment segment = segments.get(entry.getKey());
      if (segment != null) {
        SegmentUsage use = segment.use().with(entry.getValue());
        changed.put(segment, use);
        update.use(segment.id(), use);
      }
    }
    update.commit(reached);
    changed.forEach(this::publish);
    remember();
  }

  private void remember() throws IOException {
    UnfoldedShards unfolded = caches.unfolded();
    removedShards.forEach(unfolded::removed);
    removedShards.forEach(caches.recent()::removed);
    // Before the fold state is published: otherwise another fold would count as the newest.
    foldedPieces.forEach(caches.recent()::folded);
    Set<ShardId> changed = new HashSet<>(intents.keySet());
    changed.addAll(pending.keySet());
    changed.removeAll(removedShards);
    for (ShardId shard : changed) {
      Intents own = intents.getOrDefault(shard, Intents.NONE);
      Pending folds = pending.get(shard);
      unfolded.changed(shard, own.put(), own.removed(), folds == null ? null : folds.folded);
    }
    foldedPieces.forEach(caches.toMerge()::put);
    mergedPieces.forEach(caches.toMerge()::put);
  }

  /** Publishes the usage after the commit: a segment without live bytes may be freed at once. */
  private void publish(Segment segment, SegmentUsage use) {
    if (use.wasMovedFrom()) {
      segments.markMovedFrom(segment.id());
    }
    segment.setUse(use);
  }

  private Pending pending(ShardId shard) {
    return pending.computeIfAbsent(shard, id -> new Pending());
  }

  private Intents intents(ShardId shard) {
    return intents.computeIfAbsent(shard, id -> new Intents());
  }

  private void use(long id, long liveBytes, int marks, boolean movedFrom) {
    SegmentUsage before = uses.getOrDefault(id, SegmentUsage.NONE);
    uses.put(id, before.with(new SegmentUsage(liveBytes, marks, movedFrom)));
  }
}
