package dev.ashlar.storage.drive;

import dev.ashlar.codec.ErasureCode;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.storage.drive.cache.RecentBlockMemory;
import dev.ashlar.storage.drive.index.IndexResources;
import dev.ashlar.storage.drive.read.ReadThreads;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.rocksdb.Cache;
import org.rocksdb.Env;
import org.rocksdb.LRUCache;
import org.rocksdb.Priority;
import org.rocksdb.RocksDB;
import org.rocksdb.WriteBufferManager;

/**
 * What all drives of a process share, and what other RocksDB instances of the process may share
 * with them. Close it after the last drive.
 */
public final class DriveResources implements AutoCloseable {
  static {
    RocksDB.loadLibrary();
  }

  /** The most RocksDB instances beside the drives' that may share the environment: metadata. */
  private static final int OTHER_DATABASES_MAX = 5;

  private static final int SHARD_BITS_BY_SIZE = -1;

  private static final Duration READER_IDLE = Duration.ofMinutes(1);

  /** Of the cache, kept for filters and indexes: else scans would push them out. */
  private static final double FILTERS_SHARE = 0.25;

  private final SlabPool slabs;
  private final MeterRegistry meters;
  private final Clock clock;
  private final Function<Profile, ErasureCode> codes;
  private final Cache blockCache;
  private final WriteBufferManager writeBufferManager;
  private final ReadThreads readThreads;
  private final Budget budget;
  private final RecentBlockMemory recent;
  private final DrivesPerFileSystem fileSystems = new DrivesPerFileSystem();
  private final ScheduledExecutorService watch;
  private final AtomicInteger indexes = new AtomicInteger(OTHER_DATABASES_MAX);

  /**
   * @param blockCacheBytes of tables, filters and memtables together
   * @param writeBufferBytes of that, at most so much for memtables before the oldest is flushed
   * @param readsAtOnce how many reads of one drive may run at a time
   * @param recentBytes of direct memory, for blocks that changes have written lately; each drive
   *     has at least 2 MiB, of heap where there is no more
   * @param openSegments of one drive, beside those that are being read; two descriptors each
   * @param openTables of one drive's index
   */
  public record Budget(
      long blockCacheBytes,
      long writeBufferBytes,
      int readsAtOnce,
      long recentBytes,
      int openSegments,
      int openTables) {
    public static final Budget DEFAULT = new Budget(64L << 20, 32L << 20, 8, 32L << 20, 512, 256);

    public Budget withRecentBytes(long bytes) {
      return new Budget(
          blockCacheBytes, writeBufferBytes, readsAtOnce, bytes, openSegments, openTables);
    }

    public Budget withOpenFiles(int segments, int tables) {
      return new Budget(
          blockCacheBytes, writeBufferBytes, readsAtOnce, recentBytes, segments, tables);
    }
  }

  /**
   * @param codes by which drives of parity shards apply changes of data; they stay the caller's
   */
  public DriveResources(
      SlabPool slabs,
      MeterRegistry meters,
      Clock clock,
      Function<Profile, ErasureCode> codes,
      Budget budget) {
    this.codes = codes;
    this.slabs = slabs;
    this.meters = meters;
    this.clock = clock;
    blockCache = new LRUCache(budget.blockCacheBytes(), SHARD_BITS_BY_SIZE, false, FILTERS_SHARE);
    writeBufferManager = new WriteBufferManager(budget.writeBufferBytes(), blockCache);
    this.budget = budget;
    recent = new RecentBlockMemory(budget.recentBytes());
    readThreads =
        new ReadThreads(Thread.ofPlatform().name("drive-read-", 0).daemon().factory(), READER_IDLE);
    watch =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("drive-watch").daemon().factory());
  }

  public SlabPool slabs() {
    return slabs;
  }

  public Cache blockCache() {
    return blockCache;
  }

  public WriteBufferManager writeBufferManager() {
    return writeBufferManager;
  }

  public Env env() {
    return Env.getDefault();
  }

  MeterRegistry meters() {
    return meters;
  }

  Clock clock() {
    return clock;
  }

  ErasureCode code(Profile profile) {
    return codes.apply(profile);
  }

  ReadThreads readThreads() {
    return readThreads;
  }

  RecentBlockMemory recent() {
    return recent;
  }

  DrivesPerFileSystem fileSystems() {
    return fileSystems;
  }

  /** Of one drive. */
  int readsAtOnce() {
    return budget.readsAtOnce();
  }

  /** Of one drive. */
  int openSegments() {
    return budget.openSegments();
  }

  IndexResources index() {
    return new IndexResources(blockCache, writeBufferManager, env(), budget.openTables());
  }

  /**
   * An index is about to be opened. RocksDB has one pool of flush threads, by default of one
   * thread: a flush that hangs on one drive must not hold up the others'.
   */
  void indexOpens() {
    int databases = indexes.incrementAndGet();
    env().incBackgroundThreadsIfNeeded(databases, Priority.HIGH);
    env().incBackgroundThreadsIfNeeded(databases, Priority.LOW);
  }

  /** Runs it again and again; it must never block. */
  ScheduledFuture<?> watch(Runnable look, Duration period) {
    return watch.scheduleWithFixedDelay(
        look, period.toNanos(), period.toNanos(), TimeUnit.NANOSECONDS);
  }

  @Override
  public void close() {
    watch.shutdownNow();
    readThreads.close();
    writeBufferManager.close();
    blockCache.close();
  }
}
