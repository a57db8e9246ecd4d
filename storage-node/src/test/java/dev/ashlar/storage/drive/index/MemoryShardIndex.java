package dev.ashlar.storage.drive.index;

import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.LogPosition;
import dev.ashlar.storage.drive.segment.SegmentUsage;
import dev.ashlar.storage.drive.segment.ShardPiece;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An index in memory that a crash takes back to any commit since its last checkpoint. */
public final class MemoryShardIndex implements ShardIndex, SimulatedIndex {
  private static final AttemptId NO_ATTEMPT = new AttemptId(0, 0);
  private static final Comparator<ShardId> SHARDS =
      Comparator.comparing(ShardId::blob).thenComparingInt(ShardId::slot);
  private static final Comparator<Key> ORDER =
      Comparator.comparing(Key::kind)
          .thenComparing(Key::shard, SHARDS)
          .thenComparing(Key::attempt)
          .thenComparingInt(Key::block);

  private enum Kind {
    BASE,
    PATCH,
    INTENT
  }

  private record Key(Kind kind, ShardId shard, AttemptId attempt, int block) {
    static Key of(ShardPiece piece) {
      return of(piece.shard(), piece.role(), piece.extent().firstBlock());
    }

    static Key of(ShardId shard, ShardPiece.Role role, int block) {
      return switch (role) {
        case ShardPiece.Base base -> new Key(Kind.BASE, shard, NO_ATTEMPT, block);
        case ShardPiece.Patch patch -> new Key(Kind.PATCH, shard, NO_ATTEMPT, block);
        case ShardPiece.Intent intent -> new Key(Kind.INTENT, shard, intent.attempt(), block);
      };
    }
  }

  private static final class Content {
    final TreeMap<Key, ShardPiece> pieces = new TreeMap<>(ORDER);
    final TreeMap<ShardId, FoldState> folded = new TreeMap<>(SHARDS);
    final Map<Long, SegmentUsage> uses = new TreeMap<>();
    LogPosition position = LogPosition.START;

    Content copy() {
      Content copy = new Content();
      copy.pieces.putAll(pieces);
      copy.folded.putAll(folded);
      copy.uses.putAll(uses);
      copy.position = position;
      return copy;
    }
  }

  private Content durable = new Content();
  private Content current = new Content();
  private final List<Consumer<Content>> unsaved = new ArrayList<>();
  private long changedToldMost;

  /** Changed blobs that were told of between two commits. */
  private long changedTold;

  @Override
  public ShardIndex index() {
    return this;
  }

  @Override
  public void crash(Random random) {
    int kept = random.nextInt(unsaved.size() + 1);
    unsaved.subList(0, kept).forEach(commit -> commit.accept(durable));
    unsaved.clear();
    current = durable.copy();
  }

  @Override
  public void lose() {
    durable = new Content();
    current = new Content();
    unsaved.clear();
  }

  @Override
  public LogPosition position() {
    return current.position;
  }

  @Override
  public Map<Long, SegmentUsage> segments() {
    return Map.copyOf(current.uses);
  }

  @Override
  public @Nullable Extent find(ShardId shard, int block) {
    Map.Entry<Key, ShardPiece> found =
        current.pieces.floorEntry(new Key(Kind.BASE, shard, NO_ATTEMPT, block));
    return found != null
            && found.getKey().kind() == Kind.BASE
            && found.getKey().shard().equals(shard)
            && found.getValue().extent().covers(block)
        ? found.getValue().extent()
        : null;
  }

  @Override
  public Rows rows() {
    return new MemoryRows();
  }

  @Override
  public Rows latest() {
    return rows();
  }

  private final class MemoryRows implements Rows {
    @Override
    public FoldState folded(ShardId shard) {
      return current.folded.getOrDefault(shard, FoldState.NOTHING);
    }

    @Override
    public @Nullable Extent at(ShardId shard, ShardPiece.Role role, int firstBlock) {
      ShardPiece found = current.pieces.get(Key.of(shard, role, firstBlock));
      return found == null ? null : found.extent();
    }

    @Override
    public List<Extent> bases(ShardId shard, int firstBlock, int lastBlock) {
      List<Extent> found = new ArrayList<>();
      Extent first = find(shard, firstBlock);
      if (first != null && first.firstBlock() < firstBlock) {
        found.add(first);
      }
      found.addAll(extents(Kind.BASE, shard, firstBlock, lastBlock));
      return found;
    }

    @Override
    public List<Extent> patches(ShardId shard, int firstBlock, int lastBlock) {
      return extents(Kind.PATCH, shard, firstBlock, lastBlock);
    }

    private List<Extent> extents(Kind kind, ShardId shard, int firstBlock, int lastBlock) {
      return current
          .pieces
          .subMap(
              new Key(kind, shard, NO_ATTEMPT, firstBlock),
              true,
              new Key(kind, shard, NO_ATTEMPT, lastBlock),
              true)
          .values()
          .stream()
          .map(ShardPiece::extent)
          .toList();
    }

    @Override
    public Map<AttemptId, List<ShardPiece>> intents(
        ShardId shard, List<AttemptId> attempts, int firstBlock, int lastBlock) {
      Map<AttemptId, List<ShardPiece>> found = new HashMap<>();
      for (AttemptId attempt : attempts) {
        Key first = new Key(Kind.INTENT, shard, attempt, 0);
        Key last = new Key(Kind.INTENT, shard, attempt, Integer.MAX_VALUE);
        List<ShardPiece> all = List.copyOf(current.pieces.subMap(first, true, last, true).values());
        if (!all.isEmpty()) {
          found.put(
              attempt,
              all.stream()
                  .filter(piece -> piece.extent().endBlock() > firstBlock)
                  .filter(piece -> piece.extent().firstBlock() <= lastBlock)
                  .toList());
        }
      }
      return found;
    }

    @Override
    public Map<AttemptId, List<ShardPiece>> intents(ShardId shard) {
      Map<AttemptId, List<ShardPiece>> found = new HashMap<>();
      for (Map.Entry<Key, ShardPiece> entry : current.pieces.entrySet()) {
        Key key = entry.getKey();
        if (key.kind() == Kind.INTENT && key.shard().equals(shard)) {
          found.computeIfAbsent(key.attempt(), id -> new ArrayList<>()).add(entry.getValue());
        }
      }
      return found;
    }

    @Override
    public void close() {}
  }

  @Override
  public void forEachRow(BlobId blob, RowVisitor visitor) throws IOException {
    for (ShardPiece piece : List.copyOf(current.pieces.values())) {
      if (piece.shard().blob().equals(blob)) {
        visitor.piece(piece);
      }
    }
    for (Map.Entry<ShardId, FoldState> entry : List.copyOf(current.folded.entrySet())) {
      if (entry.getKey().blob().equals(blob)) {
        visitor.folded(entry.getKey(), entry.getValue());
      }
    }
  }

  @Override
  public List<ShardPiece> unfolded(BlobId blob) {
    return current.pieces.values().stream()
        .filter(
            piece -> piece.role() instanceof ShardPiece.Intent && piece.shard().blob().equals(blob))
        .toList();
  }

  @Override
  public List<BlobId> blobsBelow(long session, @Nullable BlobId after, int max) {
    return current.pieces.keySet().stream()
        .filter(key -> key.kind() == Kind.BASE)
        .map(key -> key.shard().blob())
        .distinct()
        .filter(blob -> Long.compareUnsigned(blob.session(), session) < 0)
        .filter(blob -> after == null || blob.compareTo(after) > 0)
        .limit(max)
        .toList();
  }

  @Override
  public void forEachIntent(@Nullable BlobId from, IntentVisitor visitor) throws IOException {
    for (Key key : List.copyOf(current.pieces.keySet())) {
      BlobId blob = key.shard().blob();
      boolean isAsked = key.kind() == Kind.INTENT && (from == null || blob.compareTo(from) >= 0);
      if (isAsked && !visitor.intent(blob, key.attempt())) {
        return;
      }
    }
  }

  @Override
  public List<BlobId> changedBlobs(@Nullable BlobId after, int max) {
    TreeSet<BlobId> changed = new TreeSet<>();
    current.folded.keySet().forEach(shard -> changed.add(shard.blob()));
    for (Key key : current.pieces.keySet()) {
      if (key.kind() == Kind.INTENT) {
        changed.add(key.shard().blob());
      }
    }
    List<BlobId> found =
        (after == null ? changed : changed.tailSet(after, false)).stream().limit(max).toList();
    changedTold += found.size();
    changedToldMost = Math.max(changedToldMost, changedTold);
    return found;
  }

  /** Of how many changed blobs this has told without a commit, at most. */
  public long changedToldMost() {
    return changedToldMost;
  }

  /** Shards of which there is any row, some of them several times. */
  public void forEachShard(Consumer<ShardId> visitor) {
    current.pieces.keySet().forEach(key -> visitor.accept(key.shard()));
    current.folded.keySet().forEach(visitor);
  }

  @Override
  public Update update() {
    return new MemoryUpdate();
  }

  @Override
  public void checkpoint() {
    durable = current.copy();
    unsaved.clear();
  }

  @Override
  public void close() {}

  private final class MemoryUpdate implements Update {
    private final List<Consumer<Content>> changes = new ArrayList<>();
    private final Map<Key, ShardPiece> put = new HashMap<>();
    private final Set<Key> removed = new HashSet<>();

    @Override
    public void put(ShardPiece piece) {
      put.put(Key.of(piece), piece);
      removed.remove(Key.of(piece));
      changes.add(to -> to.pieces.put(Key.of(piece), piece));
    }

    @Override
    public void remove(ShardPiece piece) {
      put.remove(Key.of(piece));
      removed.add(Key.of(piece));
      changes.add(to -> to.pieces.remove(Key.of(piece)));
    }

    @Override
    public @Nullable Extent patchAt(ShardId shard, int block) {
      Key key = Key.of(shard, ShardPiece.Role.PATCH, block);
      ShardPiece found = put.getOrDefault(key, current.pieces.get(key));
      return found == null || removed.contains(key) ? null : found.extent();
    }

    @Override
    public void putFolded(ShardId shard, FoldState folded) {
      changes.add(to -> to.folded.put(shard, folded));
    }

    @Override
    public void removeFolded(ShardId shard) {
      changes.add(to -> to.folded.remove(shard));
    }

    @Override
    public void use(long segment, SegmentUsage use) {
      changes.add(to -> to.uses.put(segment, use));
    }

    @Override
    public void forget(long segment) {
      changes.add(to -> to.uses.remove(segment));
    }

    @Override
    public void commit(LogPosition position) {
      Consumer<Content> all =
          to -> {
            changes.forEach(change -> change.accept(to));
            to.position = position;
          };
      all.accept(current);
      unsaved.add(all);
      changedTold = 0;
    }
  }
}
