package dev.ashlar.storage.drive;

import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.ShardId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/** One iterator, which sees what was committed when it was made. */
final class RocksRows implements ShardIndex.Rows {
  private final RocksIterator entries;

  RocksRows(RocksDB db, ReadOptions reading) {
    entries = db.newIterator(reading);
  }

  @Override
  public Folded folded(ShardId shard) throws IOException {
    byte[] wanted = IndexFormat.shardKey(IndexFormat.FOLDED, shard);
    entries.seek(wanted);
    return isAt(wanted) ? IndexFormat.folded(entries.value()) : Folded.NOTHING;
  }

  @Override
  public List<Extent> bases(ShardId shard, int firstBlock, int lastBlock) throws IOException {
    byte[] wanted = IndexFormat.extentKey(IndexFormat.BASE, shard, firstBlock);
    entries.seekForPrev(wanted);
    List<Extent> found = new ArrayList<>();
    if (isIn(wanted)) {
      Extent first = extent();
      if (first.covers(firstBlock)) {
        found.add(first);
      }
      entries.next();
    } else {
      entries.seek(wanted);
    }
    addUpTo(lastBlock, wanted, found);
    return found;
  }

  @Override
  public List<Extent> patches(ShardId shard, int firstBlock, int lastBlock) throws IOException {
    byte[] wanted = IndexFormat.extentKey(IndexFormat.PATCH, shard, firstBlock);
    entries.seek(wanted);
    List<Extent> found = new ArrayList<>();
    addUpTo(lastBlock, wanted, found);
    return found;
  }

  private void addUpTo(int lastBlock, byte[] shard, List<Extent> found) throws IOException {
    for (; isIn(shard) && IndexFormat.block(entries.key()) <= lastBlock; entries.next()) {
      found.add(extent());
    }
  }

  @Override
  public List<Piece> intents(ShardId shard, AttemptId attempt) throws IOException {
    byte[] wanted = IndexFormat.intentKey(shard, attempt);
    List<Piece> found = new ArrayList<>();
    for (entries.seek(wanted); isAt(wanted); entries.next()) {
      found.add(IndexFormat.piece(entries.key(), entries.value()));
    }
    return found;
  }

  @Override
  public void close() {
    entries.close();
  }

  private Extent extent() {
    return IndexFormat.extent(IndexFormat.block(entries.key()), entries.value());
  }

  /** Whether the entry is of the wanted kind and shard. */
  private boolean isIn(byte[] wanted) throws IOException {
    return isAt(wanted, IndexFormat.SHARD_KEY_BYTES);
  }

  private boolean isAt(byte[] wanted) throws IOException {
    return isAt(wanted, wanted.length);
  }

  private boolean isAt(byte[] wanted, int bytes) throws IOException {
    if (!entries.isValid()) {
      try {
        entries.status();
      } catch (RocksDBException e) {
        throw RocksShardIndex.failed(e);
      }
      return false;
    }
    return IndexFormat.startsWith(entries.key(), wanted, bytes);
  }
}
