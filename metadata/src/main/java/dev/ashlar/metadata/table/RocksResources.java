package dev.ashlar.metadata.table;

import java.util.concurrent.ExecutorService;
import org.rocksdb.Cache;
import org.rocksdb.Env;
import org.rocksdb.WriteBufferManager;

/**
 * Resources shared by all RocksDB instances of the process. Their creator closes them, after the
 * last table.
 *
 * @param blockingReads few platform threads for reads that miss the block cache: such a read blocks
 *     its thread in native code, which a virtual thread must not do
 */
public record RocksResources(
    Env env, Cache blockCache, WriteBufferManager writeBuffers, ExecutorService blockingReads) {}
