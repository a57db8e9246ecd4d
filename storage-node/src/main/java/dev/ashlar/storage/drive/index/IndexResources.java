package dev.ashlar.storage.drive.index;

import org.rocksdb.Cache;
import org.rocksdb.Env;
import org.rocksdb.WriteBufferManager;

/**
 * What the indexes of all drives of a process share.
 *
 * @param openTables open files of each index
 */
public record IndexResources(
    Cache blockCache, WriteBufferManager writeBufferManager, Env env, int openTables) {}
