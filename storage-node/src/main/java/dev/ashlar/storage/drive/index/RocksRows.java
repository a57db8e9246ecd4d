package dev.ashlar.storage.drive.index;

import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.ShardPiece;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.ReadTier;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.Snapshot;
import org.rocksdb.Status;

/** The rows of a snapshot, or of the latest commit at each call. Thread-safe. */
final class RocksRows implements ShardIndex.Rows {
  /** Fewer pages are looked up one by one. */
  private static final int PAGES_PER_SCAN_MIN = 4;

  /** One for each lookup that runs; virtual threads, which are many, make lookups too. */
  private static final Queue<Scratch> SCRATCHES = new ConcurrentLinkedQueue<>();

  private final IndexDatabase db;
  private final ExtentPredictor guess;
  private final @Nullable Snapshot moment;
  private final ReadOptions reading;

  /** Direct buffers for one lookup at a time. */
  private static final class Scratch {
    final ByteBuffer key = ByteBuffer.allocateDirect(IndexFormat.INTENT_KEY_BYTES);
    final ByteBuffer value = ByteBuffer.allocateDirect(IndexFormat.VALUE_BYTES_MAX);
  }

  /** Puts a key. */
  private interface KeyWriter {
    void put(ByteBuffer key);
  }

  /** Decodes a value. */
  private interface ValueReader<T> {
    T read(ByteBuffer value);
  }

  private RocksRows(
      IndexDatabase db, ExtentPredictor guess, @Nullable Snapshot moment, ReadTier tier) {
    this.db = db;
    this.guess = guess;
    this.moment = moment;
    reading = new ReadOptions().setReadTier(tier);
    if (moment != null) {
      reading.setSnapshot(moment);
    }
  }

  /** A snapshot of the latest commit. */
  static RocksRows ofNow(IndexDatabase db, ExtentPredictor guess) {
    return new RocksRows(db, guess, db.db().getSnapshot(), ReadTier.READ_ALL_TIER);
  }

  /** A view of the latest commit at each call. */
  static RocksRows latest(IndexDatabase db, ExtentPredictor guess) {
    return new RocksRows(db, guess, null, ReadTier.READ_ALL_TIER);
  }

  /** The same of what is in memory: point lookups return null for rows that are not. */
  static RocksRows cached(IndexDatabase db, ExtentPredictor guess) {
    return new RocksRows(db, guess, null, ReadTier.BLOCK_CACHE_TIER);
  }

  /** The decoded value, or null if there is none. */
  private <T> @Nullable T get(KeyWriter writer, ValueReader<T> reader) throws IOException {
    Scratch pooled = SCRATCHES.poll();
    Scratch mine = pooled == null ? new Scratch() : pooled;
    writer.put(mine.key.clear());
    try {
      int bytes = db.db().get(reading, mine.key.flip(), mine.value.clear());
      return bytes == RocksDB.NOT_FOUND ? null : reader.read(mine.value.position(0).limit(bytes));
    } catch (RocksDBException e) {
      if (isUncached(e)) {
        return null;
      }
      throw db.failed(e);
    } catch (RuntimeException e) { // longer than any value, or not to be decoded
      throw db.malformed(e);
    } finally {
      SCRATCHES.add(mine);
    }
  }

  private static boolean isUncached(RocksDBException e) {
    return e.getStatus() != null && e.getStatus().getCode() == Status.Code.Incomplete;
  }

  @Override
  public FoldState folded(ShardId shard) throws IOException {
    FoldState state =
        get(key -> IndexFormat.putShard(key, IndexFormat.FOLDED, shard), IndexFormat::folded);
    return state == null ? FoldState.NOTHING : state;
  }

  @Override
  public @Nullable Extent at(ShardId shard, ShardPiece.Role role, int firstBlock)
      throws IOException {
    if (role instanceof ShardPiece.Patch) {
      List<Extent> found = patches(shard, firstBlock, firstBlock);
      return found.isEmpty() ? null : found.getFirst();
    }
    return get(
        key -> IndexFormat.putKey(key, shard, role, firstBlock),
        value -> IndexFormat.extent(role, firstBlock, value));
  }

  private void addPatches(
      List<Extent> found, ShardId shard, int number, int firstBlock, int lastBlock)
      throws IOException {
    get(
        key -> IndexFormat.putPageKey(key, shard, number),
        value -> {
          PatchPage.addTo(found, number, value, firstBlock, lastBlock);
          return found;
        });
  }

  @Override
  public List<Extent> bases(ShardId shard, int firstBlock, int lastBlock) throws IOException {
    Extent guessed = guess.find(firstBlock, block -> at(shard, ShardPiece.Role.BASE, block));
    if (guessed != null && guessed.endBlock() > lastBlock) {
      return List.of(guessed);
    }
    List<Extent> found = soughtBases(shard, firstBlock, lastBlock);
    found.forEach(guess::learn);
    return found;
  }

  /** Base extents without predicting where they begin. */
  List<Extent> soughtBases(ShardId shard, int firstBlock, int lastBlock) throws IOException {
    byte[] all = IndexFormat.shardKey(IndexFormat.BASE, shard);
    byte[] behind = IndexFormat.baseKey(shard, lastBlock + 1);
    try (RocksScan entries = new RocksScan(db, moment, all, behind)) {
      entries.seekLast(IndexFormat.baseKey(shard, firstBlock));
      List<Extent> found = new ArrayList<>();
      for (; entries.isAtEntry(); entries.next()) {
        found.add(entries.base());
      }
      if (!found.isEmpty() && found.getFirst().endBlock() <= firstBlock) {
        found.removeFirst();
      }
      return found;
    }
  }

  @Override
  public List<Extent> patches(ShardId shard, int firstBlock, int lastBlock) throws IOException {
    int first = PatchPage.numberOf(firstBlock);
    int last = PatchPage.numberOf(lastBlock);
    List<Extent> found = new ArrayList<>();
    if (last - first < PAGES_PER_SCAN_MIN) {
      for (int number = first; number <= last; number++) {
        addPatches(found, shard, number, firstBlock, lastBlock);
      }
      return found;
    }
    byte[] from = IndexFormat.pageKey(shard, first);
    byte[] behind = IndexFormat.pageKey(shard, last + 1);
    try (RocksScan entries = new RocksScan(db, moment, from, behind)) {
      for (entries.first(); entries.isAtEntry(); entries.next()) {
        entries.addPatches(found, firstBlock, lastBlock);
      }
    }
    return found;
  }

  @Override
  public Map<AttemptId, List<ShardPiece>> intents(
      ShardId shard, List<AttemptId> attempts, int firstBlock, int lastBlock) throws IOException {
    List<AttemptId> ordered = attempts.stream().sorted().toList();
    byte[] from = IndexFormat.intentKey(shard, ordered.getFirst());
    byte[] behind = RocksScan.behind(IndexFormat.intentKey(shard, ordered.getLast()));
    Map<AttemptId, List<ShardPiece>> found = new HashMap<>();
    try (RocksScan entries = new RocksScan(db, moment, from, behind)) {
      entries.first();
      for (AttemptId attempt : ordered) {
        byte[] all = IndexFormat.intentKey(shard, attempt);
        entries.goOnTo(all);
        if (isIn(entries, all)) {
          found.put(attempt, intents(entries, all, firstBlock, lastBlock));
        }
      }
    }
    return found;
  }

  @Override
  public Map<AttemptId, List<ShardPiece>> intents(ShardId shard) throws IOException {
    Map<AttemptId, List<ShardPiece>> found = new HashMap<>();
    byte[] all = IndexFormat.shardKey(IndexFormat.INTENT, shard);
    try (RocksScan entries = new RocksScan(db, moment, all, RocksScan.behind(all))) {
      for (entries.first(); entries.isAtEntry(); entries.next()) {
        AttemptId attempt = entries.attempt();
        found.computeIfAbsent(attempt, id -> new ArrayList<>()).add(entries.intent());
      }
    }
    return found;
  }

  /** The pieces of the attempt at which the scan is positioned. */
  private static List<ShardPiece> intents(
      RocksScan entries, byte[] attempt, int firstBlock, int lastBlock) throws IOException {
    List<ShardPiece> found = new ArrayList<>();
    if (entries.intent().extent().endBlock() <= firstBlock) {
      entries.seekLast(IndexFormat.intentKey(attempt, firstBlock));
    }
    for (; isIn(entries, attempt); entries.next()) {
      ShardPiece piece = entries.intent();
      if (piece.extent().firstBlock() > lastBlock) {
        break;
      }
      if (piece.extent().endBlock() > firstBlock) {
        found.add(piece);
      }
    }
    return found;
  }

  private static boolean isIn(RocksScan entries, byte[] attempt) throws IOException {
    return entries.isAtEntry() && IndexFormat.startsWith(entries.key(), attempt, attempt.length);
  }

  @Override
  public void close() {
    reading.close();
    if (moment != null) {
      db.db().releaseSnapshot(moment);
      moment.close();
    }
  }
}
