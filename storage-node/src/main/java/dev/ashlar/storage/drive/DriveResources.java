package dev.ashlar.storage.drive;

import dev.ashlar.codec.ErasureCode;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.storage.drive.cache.RecentBlockMemory;
import dev.ashlar.storage.drive.index.IndexResources;
import dev.ashlar.storage.drive.read.ReadThreads;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
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
 * Resources that all drives of a process share. Other RocksDB instances of the process may use them
 * too. Close them after the last drive.
 */
public final class DriveResources implements AutoCloseable {
  static {
    RocksDB.loadLibrary();
  }

  /**
   * Maximum number of RocksDB instances besides the drives' that share the environment: those of
   * metadata.
   */
  private static final int OTHER_DATABASES_MAX = 5;

  private static final int SHARD_BITS_BY_SIZE = -1;

  private static final Duration READER_IDLE = Duration.ofMinutes(1);

  /** Share of the cache reserved for filters and indexes, which scans would otherwise evict. */
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

  /** Open drives per device of their file system, whose free space they share. */
  private final Map<Object, Integer> drivesByDevice = new ConcurrentHashMap<>();

  private final ScheduledExecutorService watch;
  private final AtomicInteger indexes = new AtomicInteger(OTHER_DATABASES_MAX);

  /**
   * @param blockCacheBytes cache for tables, filters and memtables together
   * @param writeBufferBytes limit for memtables within the cache, beyond which the oldest is
   *     flushed
   * @param readsAtOnce parallel reads per drive
   * @param recentBytes direct memory for recently changed blocks; each drive has at least 2 MiB,
   *     from the heap if necessary
   * @param openSegments open segment files per drive, not counting those being read; two
   *     descriptors each
   * @param openTables open index tables per drive
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

    public Budget withIndexes(long blockCacheBytes, long writeBufferBytes, int readsAtOnce) {
      return new Budget(
          blockCacheBytes, writeBufferBytes, readsAtOnce, recentBytes, openSegments, openTables);
    }

    public Budget withOpenFiles(int segments, int tables) {
      return new Budget(
          blockCacheBytes, writeBufferBytes, readsAtOnce, recentBytes, segments, tables);
    }
  }

  /**
   * @param codes erasure codes for applying changes to parity shards; the caller closes them
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

  /** Bytes in the block cache; 0 when it is closed. */
  public long cachedBytes() {
    synchronized (blockCache) {
      return blockCache.isOwningHandle() ? blockCache.getUsage() : 0;
    }
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

  /** The device of a directory's file system; bind mounts share it. */
  static Object device(Path folder) throws IOException {
    return Files.getAttribute(folder, "unix:dev");
  }

  void driveOpened(Object device) {
    drivesByDevice.merge(device, 1, Integer::sum);
  }

  void driveClosed(Object device) {
    drivesByDevice.computeIfPresent(device, (key, drives) -> drives == 1 ? null : drives - 1);
  }

  int drivesOn(Object device) {
    return drivesByDevice.getOrDefault(device, 0);
  }

  int readsAtOnce() {
    return budget.readsAtOnce();
  }

  int openSegments() {
    return budget.openSegments();
  }

  IndexResources index() {
    return new IndexResources(blockCache, writeBufferManager, env(), budget.openTables());
  }

  /**
   * Prepares for another index. RocksDB has one pool of flush threads, by default of one thread; a
   * flush that hangs on one drive must not delay those of others.
   */
  void indexOpens() {
    int databases = indexes.incrementAndGet();
    env().incBackgroundThreadsIfNeeded(databases, Priority.HIGH);
    env().incBackgroundThreadsIfNeeded(databases, Priority.LOW);
  }

  /** Runs a task periodically; it must not block. */
  ScheduledFuture<?> watch(Runnable look, Duration period) {
    return watch.scheduleWithFixedDelay(
        look, period.toNanos(), period.toNanos(), TimeUnit.NANOSECONDS);
  }

  @Override
  public void close() {
    watch.shutdownNow();
    readThreads.close();
    writeBufferManager.close();
    synchronized (blockCache) {
      blockCache.close();
    }
  }
}
