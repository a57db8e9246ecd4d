package dev.ashlar.storage.drive;

import dev.ashlar.protocol.memory.SlabPool;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Clock;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.rocksdb.Cache;
import org.rocksdb.Env;
import org.rocksdb.LRUCache;
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

  private final SlabPool slabs;
  private final MeterRegistry meters;
  private final Clock clock;
  private final Cache blockCache;
  private final WriteBufferManager writeBufferManager;
  private final ExecutorService readers;

  /**
   * @param blockCacheBytes of tables, filters and memtables together
   * @param writeBufferBytes of that, at most so much for memtables before the oldest is flushed
   * @param readThreads how many drive reads may run at a time in this process
   */
  public record Budget(long blockCacheBytes, long writeBufferBytes, int readThreads) {
    public static final Budget DEFAULT = new Budget(64L << 20, 32L << 20, 16);
  }

  public DriveResources(SlabPool slabs, MeterRegistry meters, Clock clock, Budget budget) {
    this.slabs = slabs;
    this.meters = meters;
    this.clock = clock;
    blockCache = new LRUCache(budget.blockCacheBytes());
    writeBufferManager = new WriteBufferManager(budget.writeBufferBytes(), blockCache);
    readers =
        Executors.newFixedThreadPool(
            budget.readThreads(), Thread.ofPlatform().name("drive-read-", 0).daemon().factory());
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

  ExecutorService readers() {
    return readers;
  }

  @Override
  public void close() {
    readers.shutdown();
    try {
      if (!readers.awaitTermination(1, TimeUnit.MINUTES)) {
        throw new IllegalStateException("drive reads still run");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    writeBufferManager.close();
    blockCache.close();
  }
}
