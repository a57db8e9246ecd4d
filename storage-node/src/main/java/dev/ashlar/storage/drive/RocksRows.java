package dev.ashlar.storage.drive;

import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.ShardId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.Snapshot;

/** What was committed when it was made. */
final class RocksRows implements ShardIndex.Rows {
  private final RocksDB db;
  private final ExtentGuess guess;
  private final Snapshot moment;
  private final ReadOptions reading;

  RocksRows(RocksDB db, ExtentGuess guess) {
    this.db = db;
    this.guess = guess;
    moment = db.getSnapshot();
    reading = new ReadOptions().setSnapshot(moment);
  }

  @Override
  public Folded folded(ShardId shard) throws IOException {
    try {
      byte[] value = db.get(reading, IndexFormat.shardKey(IndexFormat.FOLDED, shard));
      return value == null ? Folded.NOTHING : IndexFormat.folded(value);
    } catch (RocksDBException e) {
      throw RocksShardIndex.failed(e);
    }
  }

  @Override
  public List<Extent> bases(ShardId shard, int firstBlock, int lastBlock) throws IOException {
    Extent guessed = guess.find(firstBlock, block -> at(IndexFormat.BASE, shard, block));
    if (guessed != null && guessed.endBlock() > lastBlock) {
      return List.of(guessed);
    }
    return bases(db, moment, shard, firstBlock, lastBlock);
  }

  /** The extent or patch that begins with this block. */
  private @Nullable Extent at(byte kind, ShardId shard, int block) throws IOException {
    try {
      byte[] value = db.get(reading, IndexFormat.extentKey(kind, shard, block));
      return value == null ? null : IndexFormat.extent(block, value);
    } catch (RocksDBException e) {
      throw RocksShardIndex.failed(e);
    }
  }

  /**
   * Base extents as of {@link ShardIndex.Rows#bases}.
   *
   * @param moment null for all that is committed
   */
  static List<Extent> bases(
      RocksDB db, @Nullable Snapshot moment, ShardId shard, int firstBlock, int lastBlock)
      throws IOException {
    byte[] all = IndexFormat.shardKey(IndexFormat.BASE, shard);
    byte[] behind = IndexFormat.extentKey(IndexFormat.BASE, shard, lastBlock + 1);
    try (RocksScan entries = new RocksScan(db, moment, all, behind)) {
      entries.seekLast(IndexFormat.extentKey(IndexFormat.BASE, shard, firstBlock));
      List<Extent> found = extents(entries);
      if (!found.isEmpty() && found.getFirst().endBlock() <= firstBlock) {
        found.removeFirst();
      }
      return found;
    }
  }

  @Override
  public List<Extent> patches(ShardId shard, int firstBlock, int lastBlock) throws IOException {
    if (firstBlock == lastBlock) {
      Extent only = at(IndexFormat.PATCH, shard, firstBlock);
      return only == null ? List.of() : List.of(only);
    }
    byte[] first = IndexFormat.extentKey(IndexFormat.PATCH, shard, firstBlock);
    byte[] behind = IndexFormat.extentKey(IndexFormat.PATCH, shard, lastBlock + 1);
    try (RocksScan entries = new RocksScan(db, moment, first, behind)) {
      entries.first();
      return extents(entries);
    }
  }

  private static List<Extent> extents(RocksScan entries) throws IOException {
    List<Extent> found = new ArrayList<>();
    for (; entries.isAtEntry(); entries.next()) {
      found.add(IndexFormat.extent(IndexFormat.block(entries.key()), entries.value()));
    }
    return found;
  }

  @Override
  public Map<AttemptId, List<Piece>> intents(
      ShardId shard, List<AttemptId> attempts, int firstBlock, int lastBlock) throws IOException {
    List<AttemptId> ordered = attempts.stream().sorted().toList();
    byte[] from = IndexFormat.intentKey(shard, ordered.getFirst());
    byte[] behind = RocksScan.behind(IndexFormat.intentKey(shard, ordered.getLast()));
    Map<AttemptId, List<Piece>> found = new HashMap<>();
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
  public Map<AttemptId, List<Piece>> intents(ShardId shard) throws IOException {
    Map<AttemptId, List<Piece>> found = new HashMap<>();
    byte[] all = IndexFormat.shardKey(IndexFormat.INTENT, shard);
    try (RocksScan entries = new RocksScan(db, moment, all, RocksScan.behind(all))) {
      for (entries.first(); entries.isAtEntry(); entries.next()) {
        AttemptId attempt = IndexFormat.attempt(entries.key());
        found.computeIfAbsent(attempt, id -> new ArrayList<>()).add(piece(entries));
      }
    }
    return found;
  }

  /** Of the attempt at whose first piece the scan stands. */
  private static List<Piece> intents(
      RocksScan entries, byte[] attempt, int firstBlock, int lastBlock) throws IOException {
    List<Piece> found = new ArrayList<>();
    if (piece(entries).extent().endBlock() <= firstBlock) {
      entries.seekLast(IndexFormat.intentKey(attempt, firstBlock));
    }
    for (; isIn(entries, attempt); entries.next()) {
      Piece piece = piece(entries);
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

  private static Piece piece(RocksScan entries) {
    return IndexFormat.piece(entries.key(), entries.value());
  }

  @Override
  public void close() {
    reading.close();
    db.releaseSnapshot(moment);
    moment.close();
  }
}
