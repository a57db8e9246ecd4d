package dev.ashlar.metadata.server;

import dev.ashlar.metadata.table.RocksResources;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.rocksdb.Cache;
import org.rocksdb.Env;
import org.rocksdb.LRUCache;
import org.rocksdb.RocksDB;
import org.rocksdb.WriteBufferManager;

/** The process' RocksDB resources, as the program would make them, sizes and all. */
public final class TestResources implements AutoCloseable {
  static {
    RocksDB.loadLibrary();
  }

  private final Cache cache = new LRUCache(64 << 20);
  private final WriteBufferManager writeBuffers = new WriteBufferManager(32 << 20, cache);
  private final ExecutorService blockingReads =
      Executors.newFixedThreadPool(2, Thread.ofPlatform().daemon().name("read-", 0).factory());

  public RocksResources get() {
    return new RocksResources(Env.getDefault(), cache, writeBuffers, blockingReads);
  }

  @Override
  public void close() {
    blockingReads.shutdown();
    writeBuffers.close();
    cache.close();
  }
}
