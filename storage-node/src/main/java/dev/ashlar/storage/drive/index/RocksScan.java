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
 * The entries between two keys, in order. RocksDB is told of both, so that it does not look beyond
 * them: there may be any number of removed entries until the next one that is left.
 */
final class RocksScan implements AutoCloseable {
  private final IndexDatabase db;
  private final Slice lower;
  private final Slice upper;
  private final ReadOptions reading;
  private final RocksIterator entries;

  /**
   * Stands nowhere yet.
   *
   * @param moment what it sees; null for all that is committed
   * @param from the first key, or where it would be
   * @param to just behind the last key
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

  /** Of all entries whose keys begin so. */
  static RocksScan of(IndexDatabase db, byte[] prefix) {
    return new RocksScan(db, null, prefix, behind(prefix));
  }

  /** The key behind all that begin so. */
  static byte[] behind(byte[] prefix) {
    int last = prefix.length - 1;
    while (prefix[last] == (byte) 0xff) {
      last--; // kinds are small numbers: the first byte never is
    }
    byte[] behind = Arrays.copyOf(prefix, last + 1);
    behind[last]++;
    return behind;
  }

  void first() {
    entries.seekToFirst();
  }

  /**
   * Goes forward to the first entry that is not before this key, if it stands before it. Where that
   * is likely to be the next one, this is much cheaper than to seek it.
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

  /** Goes to the last entry that is not behind this key; to the first if there is none. */
  void seekLast(byte[] key) throws IOException {
    entries.seekForPrev(key);
    if (!isAtEntry()) {
      first();
    }
  }

  /** False behind the last entry. */
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

  /** Adds what the page at which it stands has of these blocks. */
  void addPatches(List<Extent> found, int firstBlock, int lastBlock) throws IOException {
    read(
        key -> {
          IndexFormat.addPatches(found, key, value(), firstBlock, lastBlock);
          return found;
        });
  }

  /** Of the entry at which it stands, what is made from its key. */
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
