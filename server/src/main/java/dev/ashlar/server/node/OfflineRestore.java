package dev.ashlar.server.node;

import dev.ashlar.metadata.backup.BackupHeader;
import dev.ashlar.metadata.backup.MetadataRestore;
import dev.ashlar.metadata.consensus.file.DurableFiles;
import dev.ashlar.metadata.consensus.folder.PrivateFolder;
import dev.ashlar.metadata.table.RocksResources;
import dev.ashlar.server.config.ClusterIdentity;
import dev.ashlar.server.config.MetadataFolders;
import dev.ashlar.server.config.OwnMasterKey;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import org.rocksdb.Env;
import org.rocksdb.LRUCache;
import org.rocksdb.RocksDB;
import org.rocksdb.WriteBufferManager;

/** Fills metadata folders from a backup, while no process uses them. */
public final class OfflineRestore {
  /** Files of a metadata folder that are not the peer's, or are made again. */
  private static final Set<String> BESIDE_PEER =
      Set.of("lost+found", "peer", "lock", "credentials", "cluster", OwnMasterKey.FILE);

  private static final long CACHE_BYTES = 16 << 20;

  private OfflineRestore() {}

  /**
   * @param folders the metadata folders of this machine
   * @param time of the restore, the same for all peers; null for the first peer
   * @throws IOException when the backup cannot be used, or a folder is not empty or in use; nothing
   *     is changed then
   */
  public static MetadataRestore run(Path backup, List<Path> folders, @Nullable Instant time)
      throws IOException {
    MetadataRestore restore = MetadataRestore.prepare(backup, time, Clock.systemUTC().instant());
    boolean isOneProcess = restore.header().form() == BackupHeader.Form.FOLDERS;
    List<Path> peers = folders.stream().map(MetadataFolders::peerFolder).toList();
    try (FolderLocks locks = new FolderLocks()) {
      locks.takeExisting(folders);
      MetadataRestore.requireEmpty(folders, BESIDE_PEER);
      MetadataRestore.requireEmpty(peers, Set.of("lost+found"));
      if (isOneProcess) {
        requireOdd(folders);
        ClusterIdentity.require(restore.header().cluster(), folders);
      }
      for (Path peer : peers) {
        PrivateFolder.create(peer);
      }
      locks.takeExisting(folders);
      fill(restore, peers);
      if (isOneProcess) {
        ClusterIdentity.keep(restore.header().cluster(), folders);
      }
    }
    for (Path folder : folders) {
      DurableFiles.sync(folder);
    }
    return restore;
  }

  private static void requireOdd(List<Path> folders) throws IOException {
    if (folders.size() % 2 == 0) {
      throw new IOException(
          "the backup is of a store in one process: name all its 1, 3 or 5 metadata folders");
    }
  }

  private static void fill(MetadataRestore restore, List<Path> peers) throws IOException {
    RocksDB.loadLibrary();
    try (LRUCache cache = new LRUCache(CACHE_BYTES);
        WriteBufferManager writeBuffers = new WriteBufferManager(CACHE_BYTES, cache);
        ExecutorService reads = Executors.newSingleThreadExecutor()) {
      RocksResources resources = new RocksResources(Env.getDefault(), cache, writeBuffers, reads);
      for (Path peer : peers) {
        restore.fill(peer, resources);
      }
    }
  }
}
