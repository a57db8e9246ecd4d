package dev.ashlar.storage.drive.index;

import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.SegmentUsage;
import dev.ashlar.storage.drive.segment.ShardPiece;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.Snapshot;

/**
 * An iterator over the entries between two keys. RocksDB is given both bounds, so that it does not
 * walk over removed entries beyond them.
 */
final class RocksScan implements AutoCloseable {
  private final IndexDatabase db;
  private final Slice lower;
  private final Slice upper;
  private final ReadOptions reading;
  private final RocksIterator entries;

  /**
   * Creates an iterator without a position.
   *
   * @param moment the snapshot to read; null: the latest commit
   * @param from inclusive lower bound
   * @param to exclusive upper bound
   */
  RocksScan(IndexDatabase db, @Nullable Snapshot moment, byte[] from, byte[] to) {
    this.db = db;
    lower = new Slice(from);
    upper = new Slice(to);
    reading = new ReadOptions().setIterateLowerBound(lower).setIterateUpperBound(upper);
    if (moment != null) {
      reading.setSnapshot(moment);
    }
    entries = db.db().newIterator(reading);
  }

  static RocksScan of(IndexDatabase db, byte... prefix) {
    return new RocksScan(db, null, prefix, behind(prefix));
  }

  /** The first key after all keys with this prefix. */
  static byte[] behind(byte[] prefix) {
    int last = prefix.length - 1;
    while (prefix[last] == (byte) 0xff) {
      last--; // the first byte is a small number and never 0xff
    }
    byte[] behind = Arrays.copyOf(prefix, last + 1);
    behind[last]++;
    return behind;
  }

  void first() {
    entries.seekToFirst();
  }

  /**
   * Advances to the first entry at or after this key. If that is likely to be the next entry, this
   * is much cheaper than a seek.
   */
  void goOnTo(byte[] key) {
    if (isBefore(key)) {
      entries.next();
      if (isBefore(key)) {
        entries.seek(key);
      }
    }
  }

  private boolean isBefore(byte[] key) {
    return entries.isValid() && Arrays.compareUnsigned(entries.key(), key) < 0;
  }

  /** Seeks the last entry at or before this key, or the first entry if there is none. */
  void seekLast(byte[] key) throws IOException {
    entries.seekForPrev(key);
    if (!isAtEntry()) {
      first();
    }
  }

  /** False after the last entry. */
  boolean isAtEntry() throws IOException {
    if (entries.isValid()) {
      return true;
    }
    try {
      entries.status();
      return false;
    } catch (RocksDBException e) {
      throw db.failed(e);
    }
  }

  void next() {
    entries.next();
  }

  byte[] key() {
    return entries.key();
  }

  byte[] value() {
    return entries.value();
  }

  BlobId blob() throws IOException {
    return read(IndexFormat::blob);
  }

  ShardId shard() throws IOException {
    return read(IndexFormat::shard);
  }

  AttemptId attempt() throws IOException {
    return read(IndexFormat::attempt);
  }

  Extent base() throws IOException {
    return read(key -> IndexFormat.base(key, value()));
  }

  ShardPiece intent() throws IOException {
    return read(key -> IndexFormat.intent(key, value()));
  }

  SegmentUsage use() throws IOException {
    return read(key -> IndexFormat.use(ByteBuffer.wrap(value())));
  }

  FoldState folded() throws IOException {
    return read(key -> IndexFormat.folded(ByteBuffer.wrap(value())));
  }

  /** Adds the patches of these blocks from the current page. */
  void addPatches(List<Extent> found, int firstBlock, int lastBlock) throws IOException {
    read(
        key -> {
          IndexFormat.addPatches(found, key, value(), firstBlock, lastBlock);
          return found;
        });
  }

  /** Decodes the current entry from its key. */
  <T> T read(Function<byte[], T> reader) throws IOException {
    try {
      return reader.apply(key());
    } catch (RuntimeException e) {
      throw db.malformed(e);
    }
  }

  @Override
  public void close() {
    entries.close();
    reading.close();
    lower.close();
    upper.close();
  }
}
