package dev.ashlar.storage.drive.index;

import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.LogPosition;
import dev.ashlar.storage.drive.segment.SegmentUsage;
import dev.ashlar.storage.drive.segment.ShardPiece;
import dev.ashlar.storage.io.PrivateFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.CompressionType;
import org.rocksdb.DataBlockIndexType;
import org.rocksdb.FlushOptions;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/**
 * The index in RocksDB, without a write-ahead log. A single column family is flushed in commit
 * order, so a crash leaves the state after some commit, which includes the position in the segment
 * log. See {@link IndexFormat} for the layout.
 */
public final class RocksShardIndex implements ShardIndex {
  private final Path folder;
  private final Options options;
  private final BloomFilter bloomFilter = new BloomFilter(10);
  private final IndexDatabase db;
  private volatile LogPosition position = LogPosition.START;

  /** Whether any shard was ever changed. If not, only base extents have to be looked up. */
  private volatile boolean hasChanges;

  private final ExtentPredictor guess = new ExtentPredictor();
  private final RocksRows latest;
  private final RocksRows cached;
  private final RocksUpdate update;

  /**
   * @param onFailure called for each failure of the open index by the thread that meets it
   */
  public RocksShardIndex(Path folder, IndexResources resources, Consumer<IndexException> onFailure)
      throws IOException {
    this.folder = folder;
    PrivateFiles.createFolders(folder);
    IndexDirectory.finishDiscard(folder);
    options = options(resources, bloomFilter);
    try {
      db = new IndexDatabase(RocksDB.open(options, folder.toString()), onFailure);
    } catch (RocksDBException e) {
      options.close();
      bloomFilter.close();
      throw IndexException.of(e);
    }
    latest = RocksRows.latest(db, guess);
    cached = RocksRows.cached(db, guess);
    update = new RocksUpdate(db, latest, this::committed);
    try {
      byte[] stored = db.db().get(IndexFormat.POSITION_KEY);
      if (stored != null) {
        position = IndexFormat.position(ByteBuffer.wrap(stored));
      }
      hasChanges =
          hasAny(IndexFormat.PATCH) || hasAny(IndexFormat.INTENT) || hasAny(IndexFormat.FOLDED);
    } catch (RocksDBException e) {
      close();
      throw db.failed(e);
    } catch (RuntimeException e) {
      close();
      throw db.malformed(e);
    } catch (IOException e) {
      close();
      throw e;
    }
  }

  private static Options options(IndexResources resources, BloomFilter bloomFilter) {
    BlockBasedTableConfig table =
        new BlockBasedTableConfig()
            .setBlockCache(resources.blockCache())
            .setCacheIndexAndFilterBlocks(true)
            // Charged to the cache but never evicted: usually four tables, throttled at 20.
            .setPinL0FilterAndIndexBlocksInCache(true)
            // 1.3 bytes per key; blocks of older tables have none and are searched.
            .setDataBlockIndexType(DataBlockIndexType.kDataBlockBinaryAndHash)
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
        .setMemtablePrefixBloomSizeRatio(0.05)
        .setMemtableWholeKeyFiltering(true)
        .setMaxOpenFiles(resources.openTables())
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
  public Map<Long, SegmentUsage> segments() throws IOException {
    Map<Long, SegmentUsage> found = new HashMap<>();
    forEach(
        entries -> {
          long segment = entries.read(key -> ByteBuffer.wrap(key).getLong(1));
          found.put(segment, entries.use());
        },
        IndexFormat.USE);
    return found;
  }

  @Override
  public @Nullable Extent find(ShardId shard, int block) throws IOException {
    Extent found = guess.find(block, first -> latest.at(shard, ShardPiece.Role.BASE, first));
    if (found == null && block > 0) {
      found = seek(shard, block);
    }
    if (found != null) {
      guess.learn(found);
    }
    return found;
  }

  @Override
  public @Nullable Extent findCached(ShardId shard, int block) throws IOException {
    return guess.find(block, first -> cached.at(shard, ShardPiece.Role.BASE, first));
  }

  private @Nullable Extent seek(ShardId shard, int block) throws IOException {
    List<Extent> found = latest.soughtBases(shard, block, block);
    return found.isEmpty() ? null : found.getFirst();
  }

  @Override
  public Rows rows() {
    return RocksRows.ofNow(db, guess);
  }

  @Override
  public Rows latest() {
    return latest;
  }

  @Override
  public void forEachRow(BlobId blob, RowVisitor visitor) throws IOException {
    forEach(
        entries -> visitor.piece(ShardPiece.base(entries.shard(), entries.base())),
        IndexFormat.blobKey(IndexFormat.BASE, blob));
    if (!hasChanges) {
      return;
    }
    forEach(
        entries -> {
          ShardId shard = entries.shard();
          List<Extent> patches = new ArrayList<>();
          entries.addPatches(patches, 0, Integer.MAX_VALUE);
          for (Extent patch : patches) {
            visitor.piece(ShardPiece.patch(shard, patch));
          }
        },
        IndexFormat.blobKey(IndexFormat.PATCH, blob));
    for (ShardPiece piece : unfolded(blob)) {
      visitor.piece(piece);
    }
    forEach(
        entries -> visitor.folded(entries.shard(), entries.folded()),
        IndexFormat.blobKey(IndexFormat.FOLDED, blob));
  }

  @Override
  public List<ShardPiece> unfolded(BlobId blob) throws IOException {
    List<ShardPiece> found = new ArrayList<>();
    forEach(entries -> found.add(entries.intent()), IndexFormat.blobKey(IndexFormat.INTENT, blob));
    return found;
  }

  /** Called at each entry. */
  private interface EntryVisitor {
    void at(RocksScan entries) throws IOException;
  }

  private void forEach(EntryVisitor visitor, byte... prefix) throws IOException {
    try (RocksScan entries = RocksScan.of(db, prefix)) {
      for (entries.first(); entries.isAtEntry(); entries.next()) {
        visitor.at(entries);
      }
    }
  }

  @Override
  public void forEachIntent(@Nullable BlobId from, IntentVisitor visitor) throws IOException {
    byte[] all = {IndexFormat.INTENT};
    byte[] first = from == null ? all : IndexFormat.blobKey(IndexFormat.INTENT, from);
    try (RocksScan entries = new RocksScan(db, null, first, RocksScan.behind(all))) {
      boolean isWanted = true;
      for (entries.first(); isWanted && entries.isAtEntry(); entries.next()) {
        isWanted = visitor.intent(entries.blob(), entries.attempt());
      }
    }
  }

  @Override
  public List<BlobId> blobsBelow(long session, @Nullable BlobId after, int max) throws IOException {
    return blobs(
        IndexFormat.BASE, after, max, blob -> Long.compareUnsigned(blob.session(), session) < 0);
  }

  @Override
  public List<BlobId> changedBlobs(@Nullable BlobId after, int max) throws IOException {
    TreeSet<BlobId> found = new TreeSet<>();
    for (byte kind : new byte[] {IndexFormat.INTENT, IndexFormat.FOLDED}) {
      found.addAll(blobs(kind, after, max, any -> true));
    }
    return found.stream().limit(max).toList();
  }

  /** The first blobs with rows of this kind, while the predicate holds. */
  private List<BlobId> blobs(byte kind, @Nullable BlobId after, int max, Predicate<BlobId> isWanted)
      throws IOException {
    byte[] all = {kind};
    byte[] from = after == null ? all : RocksScan.behind(IndexFormat.blobKey(kind, after));
    List<BlobId> found = new ArrayList<>();
    try (RocksScan entries = new RocksScan(db, null, from, RocksScan.behind(all))) {
      for (entries.first(); entries.isAtEntry(); entries.next()) {
        BlobId blob = entries.blob();
        boolean isNew = found.isEmpty() || !blob.equals(found.getLast());
        boolean isEnough = isNew && found.size() == max;
        if (isEnough || !isWanted.test(blob)) {
          break;
        }
        if (isNew) {
          found.add(blob);
        }
      }
    }
    return found;
  }

  private boolean hasAny(byte kind) throws IOException {
    try (RocksScan entries = RocksScan.of(db, kind)) {
      entries.first();
      return entries.isAtEntry();
    }
  }

  @Override
  public Update update() {
    update.clear();
    return update;
  }

  @Override
  public void checkpoint() throws IOException {
    try (FlushOptions flush = new FlushOptions().setWaitForFlush(true).setAllowWriteStall(true)) {
      db.db().flush(flush);
      if (hasBackgroundErrors()) {
        db.db().verifyChecksum(); // tells whether corruption is the cause
        throw db.told(
            new IndexException(
                IndexException.Kind.FAILED, "index: background work has failed", null));
      }
    } catch (RocksDBException e) {
      throw db.failed(e);
    }
  }

  @Override
  public boolean verify(ReadThrottle throttle) throws IOException {
    return new IndexVerifier(db, folder, throttle).verify();
  }

  @Override
  public void check() throws IOException {
    if (hasBackgroundErrors()) {
      checkpoint();
    }
  }

  /** Whether a flush or compaction has failed since the index was opened. */
  private boolean hasBackgroundErrors() throws IOException {
    try {
      return !"0".equals(db.db().getProperty("rocksdb.background-errors"));
    } catch (RocksDBException e) {
      throw db.failed(e);
    }
  }

  /** Makes all later commits fail. */
  public void endCommits() {
    update.end();
  }

  @Override
  public void close() {
    update.close();
    latest.close();
    cached.close();
    db.db().close();
    options.close();
    bloomFilter.close();
  }

  private void committed(LogPosition reached, boolean hasChangedShards) {
    if (hasChangedShards) {
      hasChanges = true;
    }
    position = reached;
  }
}
