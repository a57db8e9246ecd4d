package dev.ashlar.metadata.table;

import static java.util.Objects.requireNonNull;

import java.nio.file.Path;
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
      throw RocksView.translated("cannot open " + directory, e);
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
    try {
      return db.get(latest, key);
    } catch (RocksDBException e) {
      throw RocksView.translated(e);
    }
  }

  @Override
  public Cursor cursor(byte[] from, byte[] to) {
    return new RocksView.RocksCursor(db, latest, from, to);
  }

  @Override
  public void write(Changes changes) {
    try (WriteBatch batch = new WriteBatch(changes.batch())) {
      db.write(unlogged, batch);
    } catch (RocksDBException e) {
      throw failedWrite(e);
    }
  }

  /** Writes all present rows to a new directory, as hard links where possible. */
  public void checkpoint(Path directory) {
    try (Checkpoint checkpoint = Checkpoint.create(db)) {
      checkpoint.createCheckpoint(directory.toString());
    } catch (RocksDBException e) {
      throw failedWrite(e);
    }
  }

  /**
   * Translates a failed write: a background error caused by damage refuses writes, while a full
   * drive damages nothing.
   */
  private static RuntimeException failedWrite(RocksDBException e) {
    Status status = e.getStatus();
    return status != null && status.getCode() == Status.Code.IOError
        ? new TableFailureException("metadata tables: " + e.getMessage(), e)
        : RocksView.translated(e);
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
      throw RocksView.translated(tableFile.toString(), e);
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
      throw RocksView.translated("cannot open " + directory, e);
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
}
