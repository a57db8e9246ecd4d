package dev.ashlar.metadata.table;

import static java.util.Objects.requireNonNull;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.Checkpoint;
import org.rocksdb.CompressionType;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.ReadTier;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Slice;
import org.rocksdb.Snapshot;
import org.rocksdb.SstFileReader;
import org.rocksdb.Status;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * Rows in RocksDB: one column family without a write-ahead log, because the Raft log serves as one.
 * After a crash it holds some earlier state, which is never used: a start always begins from a
 * checkpoint.
 */
public final class RocksTable implements Store, AutoCloseable {
  private static final String NO_SUCH_FILE = "No such file or directory";
  private static final long MEMTABLE_BYTES = 8 << 20;
  private static final long BLOCK_BYTES = 8 << 10;
  private static final double BLOOM_BITS_PER_KEY = 10;

  static {
    RocksDB.loadLibrary();
  }

  private final RocksResources resources;
  private final BloomFilter bloomFilter = new BloomFilter(BLOOM_BITS_PER_KEY);
  private final Options options;
  private final WriteOptions unlogged = new WriteOptions().setDisableWAL(true);
  private final ReadOptions latest = new ReadOptions();
  private final RocksDB db;

  /** Of the thread that applies. */
  private final RecentRows recent = new RecentRows();

  /** Held shared by every call into the database, and exclusively to close it. */
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();

  private boolean closed;

  /**
   * @throws DamagedTablesException when a table file is missing or damaged
   */
  public RocksTable(Path directory, RocksResources resources) {
    this.resources = resources;
    this.options =
        new Options()
            .setCreateIfMissing(true)
            .setEnv(resources.env())
            .setWriteBufferManager(resources.writeBuffers())
            .setWriteBufferSize(MEMTABLE_BYTES)
            .setMaxWriteBufferNumber(4)
            .setMaxOpenFiles(512)
            .setAllowConcurrentMemtableWrite(false) // only apply writes
            // Each write looks for the row of its new blob, which is not there.
            .setMemtablePrefixBloomSizeRatio(0.05)
            .setMemtableWholeKeyFiltering(true)
            .setCompressionType(CompressionType.LZ4_COMPRESSION)
            .setAvoidFlushDuringShutdown(true) // nobody will read it
            .setInfoLogLevel(InfoLogLevel.WARN_LEVEL)
            .setKeepLogFileNum(1)
            .setStatsDumpPeriodSec(0)
            .setStatsPersistPeriodSec(0)
            .setTableFormatConfig(
                new BlockBasedTableConfig()
                    .setBlockCache(resources.blockCache())
                    .setBlockSize(BLOCK_BYTES)
                    .setCacheIndexAndFilterBlocks(true)
                    .setPinL0FilterAndIndexBlocksInCache(true)
                    .setFilterPolicy(bloomFilter));
    try {
      this.db = RocksDB.open(options, directory.toString());
    } catch (RocksDBException e) {
      closeOptions();
      throw translated("cannot open " + directory, e);
    }
  }

  /**
   * Answers a query from one snapshot. If all rows are in memory, the caller's thread reads them;
   * otherwise the query is repeated on a thread that may wait for the drive.
   */
  public <T> T read(Function<Table, T> query) {
    try {
      return read(query, ReadTier.BLOCK_CACHE_TIER);
    } catch (NotCachedException e) {
      return readBlocking(query);
    }
  }

  private <T> T read(Function<Table, T> query, ReadTier tier) {
    return whileOpen(
        () -> {
          try (RocksView view = new RocksView(db, tier)) {
            return query.apply(view);
          }
        });
  }

  private <T> T readBlocking(Function<Table, T> query) {
    try {
      return resources.blockingReads().submit(() -> read(query, ReadTier.READ_ALL_TIER)).get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while reading metadata", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof DamagedTablesException damaged) {
        throw damaged;
      }
      if (e.getCause() instanceof TablesClosedException closed) {
        throw closed;
      }
      throw new IllegalStateException("reading metadata: " + e.getMessage(), e.getCause());
    }
  }

  private <T> T whileOpen(Supplier<T> action) {
    lock.readLock().lock();
    try {
      if (closed) {
        throw new TablesClosedException();
      }
      return action.get();
    } finally {
      lock.readLock().unlock();
    }
  }

  @Override
  public byte @Nullable [] get(byte[] key) {
    RecentRows.Row row = recent.find(key);
    if (row != null) {
      return row.value();
    }
    try {
      return db.get(latest, key);
    } catch (RocksDBException e) {
      throw translated(e);
    }
  }

  @Override
  public Cursor cursor(byte[] from, byte[] to) {
    return new RocksCursor(db, latest, from, to);
  }

  @Override
  public void write(Changes changes) {
    try (WriteBatch batch = new WriteBatch(changes.batch())) {
      db.write(unlogged, batch);
    } catch (RocksDBException e) {
      throw failedWrite(e);
    }
    changes.rows().forEach((key, value) -> recent.add(key, value.orElse(null)));
  }

  /** Writes all present rows to a new directory, as hard links where possible. */
  public void checkpoint(Path directory) {
    try (Checkpoint checkpoint = Checkpoint.create(db)) {
      checkpoint.createCheckpoint(directory.toString());
    } catch (RocksDBException e) {
      throw failedWrite(e);
    }
  }

  /** Likewise, by a thread other than the one that applies. */
  public void export(Path directory) {
    whileOpen(
        () -> {
          checkpoint(directory);
          return true;
        });
  }

  /**
   * Translates a failed write: a background error caused by damage refuses writes, while a full
   * drive damages nothing.
   */
  private static RuntimeException failedWrite(RocksDBException e) {
    Status status = e.getStatus();
    return status != null && status.getCode() == Status.Code.IOError
        ? new TableFailureException("metadata tables: " + e.getMessage(), e)
        : translated(e);
  }

  /** The names of the table files in use; any of them may be deleted by a compaction. */
  public List<String> tableFiles() {
    return whileOpen(
        () ->
            db.getLiveFilesMetaData().stream()
                .map(file -> file.fileName().substring(file.fileName().lastIndexOf('/') + 1))
                .toList());
  }

  /**
   * Reads one table file and verifies the checksum of each of its blocks.
   *
   * @throws DamagedTablesException when a block does not match or cannot be read
   */
  public static void verify(Path tableFile) {
    try (Options options = new Options();
        SstFileReader reader = new SstFileReader(options)) {
      reader.open(tableFile.toString());
      reader.verifyChecksum();
    } catch (RocksDBException e) {
      throw translated(tableFile.toString(), e);
    }
  }

  /**
   * Checks that the tables can be opened.
   *
   * @throws DamagedTablesException when they cannot be opened
   */
  public static void verifyOpens(Path directory) {
    try (Options options = new Options();
        RocksDB opened = RocksDB.openReadOnly(options, directory.toString())) {
      requireNonNull(opened);
    } catch (RocksDBException e) {
      throw translated("cannot open " + directory, e);
    }
  }

  @Override
  public void close() {
    lock.writeLock().lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      db.close();
      closeOptions();
    } finally {
      lock.writeLock().unlock();
    }
  }

  private void closeOptions() {
    latest.close();
    unlogged.close();
    options.close();
    bloomFilter.close();
  }

  private static RuntimeException translated(RocksDBException e) {
    return translated("metadata tables", e);
  }

  /** Translates a failed read: a block that the drive cannot read is lost, too. */
  static RuntimeException translated(String what, RocksDBException e) {
    Status status = e.getStatus();
    String message = what + ": " + e.getMessage();
    return switch (status == null ? Status.Code.Undefined : status.getCode()) {
      case Incomplete -> new NotCachedException();
      case Corruption -> new DamagedTablesException(message, e, true);
      case IOError -> new DamagedTablesException(message, e, message.contains(NO_SUCH_FILE));
      default -> new TableFailureException(message, e);
    };
  }

  /** The tables were closed before or during a read. */
  public static final class TablesClosedException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    private TablesClosedException() {
      super("the metadata tables are closed");
    }
  }

  /** The row is not in memory; repeat the read on a thread that may wait for the drive. */
  private static final class NotCachedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    NotCachedException() {
      super("not in the block cache", null, false, false);
    }
  }

  /** Reads of one snapshot of a RocksDB instance; must be closed before the instance is. */
  private static final class RocksView implements Table, AutoCloseable {
    private final RocksDB db;
    private final Snapshot snapshot;
    private final ReadOptions options;

    /**
     * @param tier with the block cache's tier, a read beyond it throws {@link NotCachedException}
     */
    RocksView(RocksDB db, ReadTier tier) {
      this.db = db;
      this.snapshot = db.getSnapshot();
      this.options = new ReadOptions().setSnapshot(snapshot).setReadTier(tier);
    }

    @Override
    public byte @Nullable [] get(byte[] key) {
      try {
        return db.get(options, key);
      } catch (RocksDBException e) {
        throw translated(e);
      }
    }

    @Override
    public Cursor cursor(byte[] from, byte[] to) {
      return new RocksCursor(db, options, from, to);
    }

    @Override
    public void close() {
      options.close();
      db.releaseSnapshot(snapshot);
      snapshot.close();
    }
  }

  private static final class RocksCursor implements Cursor {
    private final byte[] to;
    private final Slice upperBound;
    private final ReadOptions options;
    private final RocksIterator iterator;
    private byte @Nullable [] key;

    RocksCursor(RocksDB db, ReadOptions base, byte[] from, byte[] to) {
      this.to = to;
      this.upperBound = new Slice(to);
      this.options = new ReadOptions(base).setIterateUpperBound(upperBound);
      this.iterator = db.newIterator(options);
      try {
        seek(from);
      } catch (RuntimeException e) {
        close();
        throw e;
      }
    }

    private void settle() {
      if (iterator.isValid()) {
        key = iterator.key();
        return;
      }
      key = null;
      try {
        iterator.status();
      } catch (RocksDBException e) {
        throw translated(e);
      }
    }

    @Override
    public boolean isValid() {
      return key != null;
    }

    @Override
    public byte[] key() {
      if (key == null) {
        throw new IllegalStateException("the cursor is beyond the last row");
      }
      return key;
    }

    @Override
    public byte[] value() {
      return iterator.value();
    }

    @Override
    public void next() {
      iterator.next();
      settle();
    }

    @Override
    public void seek(byte[] target) {
      if (Arrays.compareUnsigned(target, to) >= 0) {
        key = null; // RocksDB leaves a seek beyond the bound undefined
        return;
      }
      iterator.seek(target);
      settle();
    }

    @Override
    public void close() {
      iterator.close();
      options.close();
      upperBound.close();
    }
  }
}
