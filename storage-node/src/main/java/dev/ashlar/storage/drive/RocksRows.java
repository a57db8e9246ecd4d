package dev.ashlar.storage.drive;

import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.ShardId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.Snapshot;

/** What was committed when it was made. */
final class RocksRows implements ShardIndex.Rows {
  private final RocksDB db;
  private final Snapshot moment;
  private final ReadOptions reading;

  RocksRows(RocksDB db) {
    this.db = db;
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
  public List<Piece> intents(ShardId shard, AttemptId first, AttemptId last) throws IOException {
    byte[] from = IndexFormat.intentKey(shard, first);
    byte[] behind = RocksScan.behind(IndexFormat.intentKey(shard, last));
    List<Piece> found = new ArrayList<>();
    try (RocksScan entries = new RocksScan(db, moment, from, behind)) {
      for (entries.first(); entries.isAtEntry(); entries.next()) {
        found.add(IndexFormat.piece(entries.key(), entries.value()));
      }
    }
    return found;
  }

  @Override
  public void close() {
    reading.close();
    db.releaseSnapshot(moment);
    moment.close();
  }
}
