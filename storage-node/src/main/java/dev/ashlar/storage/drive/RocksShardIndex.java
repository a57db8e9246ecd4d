package dev.ashlar.storage.drive;

import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.io.Private;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.CompressionType;
import org.rocksdb.FlushOptions;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * The index in RocksDB, without a log of its own. There is one column family, so tables are flushed
 * in the order of the commits and what a crash leaves is the state after some commit; the position
 * in the segment log is part of each. Laid out by {@link IndexFormat}.
 */
final class RocksShardIndex implements ShardIndex {
  /** A point look-up is cheaper than a seek, and most shards are one extent from block 0 on. */
  private static final int FIRST_EXTENT_BLOCKS = 64;

  private static final byte[] PIECES = {IndexFormat.BASE, IndexFormat.PATCH, IndexFormat.INTENT};

  private final Options options;
  private final BloomFilter bloomFilter = new BloomFilter(10);
  private final ReadOptions reading = new ReadOptions();
  private final WriteOptions writing = new WriteOptions().setDisableWAL(true);
  private final RocksDB db;
  private final RocksUpdate update = new RocksUpdate();
  private final ThreadLocal<Scratch> scratch = ThreadLocal.withInitial(Scratch::new);
  private volatile LogPosition position = LogPosition.START;

  /** Blocks of each extent of a long shard but its last, as found last: a guess. */
  private volatile int usualBlocks = FIRST_EXTENT_BLOCKS;

  /** Direct memory for one look-up at a time. */
  private static final class Scratch {
    final ByteBuffer key = ByteBuffer.allocateDirect(IndexFormat.INTENT_KEY_BYTES);
    final ByteBuffer value = ByteBuffer.allocateDirect(IndexFormat.VALUE_BYTES_MAX);
  }

  RocksShardIndex(Path folder, DriveResources resources) throws IOException {
    Private.createFolders(folder);
    resources.indexOpens();
    options = options(resources, bloomFilter);
    try {
      db = RocksDB.open(options, folder.toString());
    } catch (RocksDBException e) {
      options.close();
      throw new IOException("index " + folder + ": " + e.getMessage(), e);
    }
    try {
      byte[] stored = db.get(IndexFormat.POSITION_KEY);
      if (stored != null) {
        ByteBuffer value = ByteBuffer.wrap(stored);
        position =
            new LogPosition(value.getLong(), value.getLong(), value.getInt(), value.get() != 0);
      }
    } catch (RocksDBException e) {
      close();
      throw failed(e);
    }
  }

  private static Options options(DriveResources resources, BloomFilter bloomFilter) {
    BlockBasedTableConfig table =
        new BlockBasedTableConfig()
            .setBlockCache(resources.blockCache())
            .setCacheIndexAndFilterBlocks(true)
            .setFormatVersion(5)
            .setBlockSize(8 * 1024)
            .setFilterPolicy(bloomFilter);
    return new Options()
        .setCreateIfMissing(true)
        .setEnv(resources.env())
        .setWriteBufferManager(resources.writeBufferManager())
        .setWriteBufferSize(16 << 20)
        .setCompressionType(CompressionType.NO_COMPRESSION)
        .setTableFormatConfig(table)
        .setMaxOpenFiles(256)
        .setKeepLogFileNum(2)
        .setMaxLogFileSize(1 << 20)
        .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
        .setStatsDumpPeriodSec(0)
        .setStatsPersistPeriodSec(0);
  }

  @Override
  public LogPosition position() {
    return position;
  }

  @Override
  public Map<Long, SegmentUse> segments() {
    Map<Long, SegmentUse> found = new HashMap<>();
    try (RocksIterator entries = db.newIterator(reading)) {
      for (entries.seek(new byte[] {IndexFormat.USE}); entries.isValid(); entries.next()) {
        ByteBuffer key = ByteBuffer.wrap(entries.key());
        if (key.get() != IndexFormat.USE) {
          break;
        }
        ByteBuffer value = ByteBuffer.wrap(entries.value());
        found.put(key.getLong(), new SegmentUse(value.getLong(), value.getInt(), value.get() != 0));
      }
    }
    return found;
  }

  /** Long shards are read from the start of an extent to its end, or within one of them. */
  @Override
  public @Nullable Extent find(ShardId shard, int block) throws IOException {
    if (block < FIRST_EXTENT_BLOCKS) {
      Extent first = get(shard, 0);
      if (first != null && first.covers(block)) {
        return first;
      }
      if (block == 0) {
        return null;
      }
    }
    int usual = usualBlocks;
    Extent guessed = block < usual ? null : get(shard, block - block % usual);
    Extent found = guessed != null && guessed.covers(block) ? guessed : seek(shard, block);
    // A second extent as long as the first, and so not a last one that ends early.
    if (found != null && found.firstBlock() == found.crcs().length && usual != found.firstBlock()) {
      usualBlocks = found.firstBlock();
    }
    return found;
  }

  private @Nullable Extent seek(ShardId shard, int block) throws IOException {
    byte[] wanted = IndexFormat.extentKey(IndexFormat.BASE, shard, block);
    try (RocksIterator entries = db.newIterator(reading)) {
      entries.seekForPrev(wanted);
      if (!entries.isValid()) {
        entries.status();
        return null;
      }
      byte[] key = entries.key();
      if (!IndexFormat.startsWith(key, wanted, IndexFormat.SHARD_KEY_BYTES)) {
        return null;
      }
      Extent extent = IndexFormat.extent(IndexFormat.block(key), entries.value());
      return extent.covers(block) ? extent : null;
    } catch (RocksDBException e) {
      throw failed(e);
    }
  }

  private @Nullable Extent get(ShardId shard, int firstBlock) throws IOException {
    Scratch mine = scratch.get();
    IndexFormat.putShard(mine.key.clear(), IndexFormat.BASE, shard);
    mine.key.putInt(firstBlock);
    try {
      int bytes = db.get(reading, mine.key.flip(), mine.value.clear());
      return bytes == RocksDB.NOT_FOUND ? null : IndexFormat.extent(firstBlock, mine.value, bytes);
    } catch (RocksDBException e) {
      throw failed(e);
    }
  }

  @Override
  public Rows rows() {
    return new RocksRows(db, reading);
  }

  @Override
  public void forEachRow(BlobId blob, RowVisitor visitor) throws IOException {
    try (RocksIterator entries = db.newIterator(reading)) {
      for (byte kind : PIECES) {
        byte[] wanted = IndexFormat.blobKey(kind, blob);
        for (entries.seek(wanted); isAt(entries, wanted); entries.next()) {
          visitor.piece(IndexFormat.piece(entries.key(), entries.value()));
        }
      }
      byte[] wanted = IndexFormat.blobKey(IndexFormat.FOLDED, blob);
      for (entries.seek(wanted); isAt(entries, wanted); entries.next()) {
        visitor.folded(IndexFormat.shard(entries.key()), IndexFormat.folded(entries.value()));
      }
      entries.status();
    } catch (RocksDBException e) {
      throw failed(e);
    }
  }

  private static boolean isAt(RocksIterator entries, byte[] wanted) {
    return entries.isValid() && IndexFormat.startsWith(entries.key(), wanted, wanted.length);
  }

  @Override
  public void forEachIntent(IntentVisitor visitor) throws IOException {
    byte[] wanted = {IndexFormat.INTENT};
    try (RocksIterator entries = db.newIterator(reading)) {
      for (entries.seek(wanted); isAt(entries, wanted); entries.next()) {
        byte[] key = entries.key();
        visitor.intent(IndexFormat.blob(key), IndexFormat.attempt(key));
      }
      entries.status();
    } catch (RocksDBException e) {
      throw failed(e);
    }
  }

  @Override
  public void forEachFoldedBlob(Consumer<BlobId> visitor) throws IOException {
    byte[] wanted = {IndexFormat.FOLDED};
    try (RocksIterator entries = db.newIterator(reading)) {
      for (entries.seek(wanted); isAt(entries, wanted); entries.next()) {
        visitor.accept(IndexFormat.blob(entries.key()));
      }
      entries.status();
    } catch (RocksDBException e) {
      throw failed(e);
    }
  }

  @Override
  public void forEachBlobBelow(long session, Consumer<BlobId> visitor) throws IOException {
    @Nullable BlobId last = null;
    try (RocksIterator entries = db.newIterator(reading)) {
      byte[] wanted = {IndexFormat.BASE};
      for (entries.seek(wanted); isAt(entries, wanted); entries.next()) {
        BlobId blob = IndexFormat.blob(entries.key());
        if (Long.compareUnsigned(blob.session(), session) >= 0) {
          break;
        }
        if (!blob.equals(last)) {
          visitor.accept(blob);
          last = blob;
        }
      }
      entries.status();
    } catch (RocksDBException e) {
      throw failed(e);
    }
  }

  @Override
  public Update update() {
    update.batch.clear();
    return update;
  }

  @Override
  public void checkpoint() throws IOException {
    try (FlushOptions flush = new FlushOptions().setWaitForFlush(true).setAllowWriteStall(true)) {
      db.flush(flush);
      if (!"0".equals(db.getProperty("rocksdb.background-errors"))) {
        throw new IOException("the index had background errors");
      }
    } catch (RocksDBException e) {
      throw failed(e);
    }
  }

  @Override
  public void close() {
    update.batch.close();
    db.close();
    options.close();
    bloomFilter.close();
    reading.close();
    writing.close();
  }

  static IOException failed(RocksDBException e) {
    return new IOException("index: " + e.getMessage(), e);
  }

  /** One write batch, used again and again by the log's writer. */
  private final class RocksUpdate implements Update {
    final WriteBatch batch = new WriteBatch();
    private final ByteBuffer key = ByteBuffer.allocateDirect(IndexFormat.INTENT_KEY_BYTES);
    private final ByteBuffer value = ByteBuffer.allocateDirect(IndexFormat.VALUE_BYTES_MAX);

    @Override
    public void put(Piece piece) throws IOException {
      IndexFormat.putKey(key.clear(), piece);
      IndexFormat.putValue(value.clear(), piece);
      put();
    }

    @Override
    public void remove(Piece piece) throws IOException {
      IndexFormat.putKey(key.clear(), piece);
      remove();
    }

    @Override
    public void putFolded(ShardId shard, Folded folded) throws IOException {
      IndexFormat.putShard(key.clear(), IndexFormat.FOLDED, shard);
      value.clear().putLong(folded.revision());
      value.putLong(folded.lowestSegment()).putLong(folded.highestSegment());
      put();
    }

    @Override
    public void removeFolded(ShardId shard) throws IOException {
      IndexFormat.putShard(key.clear(), IndexFormat.FOLDED, shard);
      remove();
    }

    @Override
    public void use(long segment, SegmentUse use) throws IOException {
      key.clear().put(IndexFormat.USE).putLong(segment);
      value.clear().putLong(use.liveBytes()).putInt(use.marks());
      value.put((byte) (use.wasMovedFrom() ? 1 : 0));
      put();
    }

    @Override
    public void forget(long segment) throws IOException {
      key.clear().put(IndexFormat.USE).putLong(segment);
      remove();
    }

    @Override
    public void commit(LogPosition reached) throws IOException {
      key.clear().put(IndexFormat.POSITION_KEY);
      value.clear().putLong(reached.sequence()).putLong(reached.segment());
      value.putInt(reached.offset()).put((byte) (reached.isRebuild() ? 1 : 0));
      put();
      try {
        db.write(writing, batch);
      } catch (RocksDBException e) {
        throw failed(e);
      }
      position = reached;
    }

    private void put() throws IOException {
      try {
        batch.put(key.flip(), value.flip());
      } catch (RocksDBException e) {
        throw failed(e);
      }
    }

    private void remove() throws IOException {
      try {
        batch.delete(key.flip());
      } catch (RocksDBException e) {
        throw failed(e);
      }
    }
  }
}
