package dev.ashlar.storage.drive;

import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.io.Private;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
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
 * in the segment log is part of each.
 *
 * <pre>
 * 0                                                         → sequence 8 | segment 8 | offset 4
 *                                                             | being rebuilt 1
 * 1 | segment 8                                             → live bytes 8 | tombstones 4 | was moved from 1
 * 2 | session 8 | sequence 8 | slot 1 | first block 4       → length 4 | segment 8 | position 4
 *                                                             | tail position 4 | sequence 8 | crcs
 * </pre>
 */
final class RocksShardIndex implements ShardIndex {
  private static final byte[] POSITION_KEY = {0};
  private static final byte USE = 1;
  private static final byte EXTENT = 2;
  private static final int SHARD_KEY_BYTES = 18;
  private static final int KEY_BYTES = SHARD_KEY_BYTES + 4;
  private static final int CRCS_AT = 28;
  private static final int VALUE_BYTES_MAX =
      CRCS_AT + Integer.BYTES * (SlabPool.MAX_SLAB_BYTES / SegmentFormat.BLOCK);

  /** A point look-up is cheaper than a seek, and most shards are one extent from block 0 on. */
  private static final int FIRST_EXTENT_BLOCKS = 64;

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
    final ByteBuffer key = ByteBuffer.allocateDirect(KEY_BYTES);
    final ByteBuffer value = ByteBuffer.allocateDirect(VALUE_BYTES_MAX);
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
      byte[] stored = db.get(POSITION_KEY);
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
      for (entries.seek(new byte[] {USE}); entries.isValid(); entries.next()) {
        ByteBuffer key = ByteBuffer.wrap(entries.key());
        if (key.get() != USE) {
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
    byte[] wanted = new byte[KEY_BYTES];
    key(ByteBuffer.wrap(wanted), shard.blob(), shard.slot(), block);
    try (RocksIterator entries = db.newIterator(reading)) {
      entries.seekForPrev(wanted);
      if (!entries.isValid()) {
        entries.status();
        return null;
      }
      byte[] key = entries.key();
      if (!startsWith(key, wanted, SHARD_KEY_BYTES)) {
        return null;
      }
      Extent extent = extent(ByteBuffer.wrap(key).getInt(SHARD_KEY_BYTES), entries);
      return extent.covers(block) ? extent : null;
    } catch (RocksDBException e) {
      throw failed(e);
    }
  }

  private @Nullable Extent get(ShardId shard, int firstBlock) throws IOException {
    Scratch mine = scratch.get();
    key(mine.key.clear(), shard.blob(), shard.slot(), firstBlock);
    try {
      int bytes = db.get(reading, mine.key.flip(), mine.value.clear());
      return bytes == RocksDB.NOT_FOUND ? null : extent(firstBlock, mine.value, bytes);
    } catch (RocksDBException e) {
      throw failed(e);
    }
  }

  @Override
  public void forEachExtent(BlobId blob, ExtentVisitor visitor) throws IOException {
    byte[] wanted = new byte[KEY_BYTES];
    key(ByteBuffer.wrap(wanted), blob, 0, 0);
    try (RocksIterator entries = db.newIterator(reading)) {
      for (entries.seek(wanted); entries.isValid(); entries.next()) {
        byte[] key = entries.key();
        if (!startsWith(key, wanted, SHARD_KEY_BYTES - 1)) {
          break;
        }
        int firstBlock = ByteBuffer.wrap(key).getInt(SHARD_KEY_BYTES);
        visitor.extent(key[SHARD_KEY_BYTES - 1] & 0xff, extent(firstBlock, entries));
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
      for (entries.seek(new byte[] {EXTENT}); entries.isValid(); entries.next()) {
        ByteBuffer key = ByteBuffer.wrap(entries.key());
        BlobId blob = new BlobId(key.getLong(1), key.getLong(1 + Long.BYTES));
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

  private static void key(ByteBuffer key, BlobId blob, int slot, int firstBlock) {
    key.put(EXTENT).putLong(blob.session()).putLong(blob.sequence());
    key.put((byte) slot).putInt(firstBlock);
  }

  private static Extent extent(int firstBlock, RocksIterator entries) {
    byte[] value = entries.value();
    return extent(firstBlock, ByteBuffer.wrap(value), value.length);
  }

  private static Extent extent(int firstBlock, ByteBuffer value, int bytes) {
    int[] crcs = new int[(bytes - CRCS_AT) / Integer.BYTES];
    for (int i = 0; i < crcs.length; i++) {
      crcs[i] = value.getInt(CRCS_AT + Integer.BYTES * i);
    }
    return new Extent(
        firstBlock,
        value.getInt(0),
        value.getLong(4),
        value.getInt(12),
        value.getInt(16),
        value.getLong(20),
        crcs);
  }

  private static boolean startsWith(byte[] key, byte[] prefix, int bytes) {
    return key.length >= bytes && Arrays.equals(key, 0, bytes, prefix, 0, bytes);
  }

  private static IOException failed(RocksDBException e) {
    return new IOException("index: " + e.getMessage(), e);
  }

  /** One write batch, used again and again by the log's writer. */
  private final class RocksUpdate implements Update {
    final WriteBatch batch = new WriteBatch();
    private final ByteBuffer key = ByteBuffer.allocateDirect(KEY_BYTES);
    private final ByteBuffer value = ByteBuffer.allocateDirect(VALUE_BYTES_MAX);

    @Override
    public void put(ShardId shard, Extent extent) throws IOException {
      key(key.clear(), shard.blob(), shard.slot(), extent.firstBlock());
      value.clear().putInt(extent.length()).putLong(extent.segment()).putInt(extent.position());
      value.putInt(extent.tailPosition()).putLong(extent.sequence());
      for (int crc : extent.crcs()) {
        value.putInt(crc);
      }
      put();
    }

    @Override
    public void remove(BlobId blob, int slot, int firstBlock) throws IOException {
      key(key.clear(), blob, slot, firstBlock);
      remove();
    }

    @Override
    public void use(long segment, SegmentUse use) throws IOException {
      key.clear().put(USE).putLong(segment);
      value.clear().putLong(use.liveBytes()).putInt(use.tombstones());
      value.put((byte) (use.wasMovedFrom() ? 1 : 0));
      put();
    }

    @Override
    public void forget(long segment) throws IOException {
      key.clear().put(USE).putLong(segment);
      remove();
    }

    @Override
    public void commit(LogPosition reached) throws IOException {
      key.clear().put(POSITION_KEY);
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
