package dev.ashlar.storage.drive;

import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.io.Private;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.CompressionType;
import org.rocksdb.FlushOptions;
import org.rocksdb.InfoLogLevel;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * The index in RocksDB, without a log of its own. There is one column family, so tables are flushed
 * in the order of the commits and what a crash leaves is the state after some commit; the position
 * in the segment log is part of each. Laid out by {@link IndexFormat}.
 */
final class RocksShardIndex implements ShardIndex {
  private final Options options;
  private final BloomFilter bloomFilter = new BloomFilter(10);
  private final ReadOptions reading = new ReadOptions();
  private final WriteOptions writing = new WriteOptions().setDisableWAL(true);
  private final RocksDB db;
  private final RocksUpdate update = new RocksUpdate();
  private final ThreadLocal<Scratch> scratch = ThreadLocal.withInitial(Scratch::new);
  private volatile LogPosition position = LogPosition.START;

  /** Whether any shard was ever changed: where none was, nothing is looked for but base extents. */
  private volatile boolean hasChanges;

  private final ExtentGuess guess = new ExtentGuess();

  /** Direct memory for one look-up at a time. */
  private static final class Scratch {
    final ByteBuffer key = ByteBuffer.allocateDirect(IndexFormat.INTENT_KEY_BYTES);
    final ByteBuffer value = ByteBuffer.allocateDirect(IndexFormat.VALUE_BYTES_MAX);
  }

  RocksShardIndex(Path folder, DriveResources resources) throws IOException {
    Private.createFolders(folder);
    resources.indexOpens();
    options = options(resources, bloomFilter);
    try {
      db = RocksDB.open(options, folder.toString());
    } catch (RocksDBException e) {
      options.close();
      throw new IOException("index " + folder + ": " + e.getMessage(), e);
    }
    try {
      byte[] stored = db.get(IndexFormat.POSITION_KEY);
      if (stored != null) {
        ByteBuffer value = ByteBuffer.wrap(stored);
        position =
            new LogPosition(value.getLong(), value.getLong(), value.getInt(), value.get() != 0);
      }
      hasChanges =
          hasAny(IndexFormat.PATCH) || hasAny(IndexFormat.INTENT) || hasAny(IndexFormat.FOLDED);
    } catch (RocksDBException e) {
      close();
      throw failed(e);
    } catch (IOException e) {
      close();
      throw e;
    }
  }

  private static Options options(DriveResources resources, BloomFilter bloomFilter) {
    BlockBasedTableConfig table =
        new BlockBasedTableConfig()
            .setBlockCache(resources.blockCache())
            .setCacheIndexAndFilterBlocks(true)
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
        .setMaxOpenFiles(256)
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
  public Map<Long, SegmentUse> segments() throws IOException {
    Map<Long, SegmentUse> found = new HashMap<>();
    try (RocksScan entries = scan(IndexFormat.USE)) {
      for (entries.first(); entries.isAtEntry(); entries.next()) {
        long segment = ByteBuffer.wrap(entries.key()).getLong(1);
        ByteBuffer value = ByteBuffer.wrap(entries.value());
        found.put(segment, new SegmentUse(value.getLong(), value.getInt(), value.get() != 0));
      }
    }
    return found;
  }

  @Override
  public @Nullable Extent find(ShardId shard, int block) throws IOException {
    Extent found = guess.find(block, first -> at(shard, Piece.Role.BASE, first));
    if (found == null && block > 0) {
      found = seek(shard, block);
    }
    if (found != null) {
      guess.learn(found);
    }
    return found;
  }

  private @Nullable Extent seek(ShardId shard, int block) throws IOException {
    List<Extent> found = RocksRows.bases(db, null, shard, block, block);
    return found.isEmpty() ? null : found.getFirst();
  }

  @Override
  public @Nullable Extent at(ShardId shard, Piece.Role role, int firstBlock) throws IOException {
    Scratch mine = scratch.get();
    IndexFormat.putKey(mine.key.clear(), shard, role, firstBlock);
    try {
      int bytes = db.get(reading, mine.key.flip(), mine.value.clear());
      return bytes == RocksDB.NOT_FOUND
          ? null
          : IndexFormat.extent(role, firstBlock, mine.value, bytes);
    } catch (RocksDBException e) {
      throw failed(e);
    }
  }

  @Override
  public Rows rows() {
    return new RocksRows(db, guess);
  }

  @Override
  public void forEachRow(BlobId blob, RowVisitor visitor) throws IOException {
    forEachPiece(IndexFormat.blobKey(IndexFormat.BASE, blob), visitor);
    if (!hasChanges) {
      return;
    }
    forEachPiece(IndexFormat.blobKey(IndexFormat.PATCH, blob), visitor);
    forEachPiece(IndexFormat.blobKey(IndexFormat.INTENT, blob), visitor);
    try (RocksScan entries = scan(IndexFormat.blobKey(IndexFormat.FOLDED, blob))) {
      for (entries.first(); entries.isAtEntry(); entries.next()) {
        visitor.folded(IndexFormat.shard(entries.key()), IndexFormat.folded(entries.value()));
      }
    }
  }

  private void forEachPiece(byte[] prefix, RowVisitor visitor) throws IOException {
    try (RocksScan entries = scan(prefix)) {
      for (entries.first(); entries.isAtEntry(); entries.next()) {
        visitor.piece(IndexFormat.piece(entries.key(), entries.value()));
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
        byte[] key = entries.key();
        isWanted = visitor.intent(IndexFormat.blob(key), IndexFormat.attempt(key));
      }
    }
  }

  @Override
  public void forEachFoldedBlob(Consumer<BlobId> visitor) throws IOException {
    try (RocksScan entries = scan(IndexFormat.FOLDED)) {
      for (entries.first(); entries.isAtEntry(); entries.next()) {
        visitor.accept(IndexFormat.blob(entries.key()));
      }
    }
  }

  @Override
  public List<BlobId> blobsBelow(long session, @Nullable BlobId after, int max) throws IOException {
    byte[] all = {IndexFormat.BASE};
    byte[] from =
        after == null ? all : RocksScan.behind(IndexFormat.blobKey(IndexFormat.BASE, after));
    List<BlobId> found = new ArrayList<>();
    try (RocksScan entries = new RocksScan(db, null, from, RocksScan.behind(all))) {
      for (entries.first(); entries.isAtEntry(); entries.next()) {
        BlobId blob = IndexFormat.blob(entries.key());
        boolean isNew = found.isEmpty() || !blob.equals(found.getLast());
        boolean isEnough = isNew && found.size() == max;
        if (isEnough || Long.compareUnsigned(blob.session(), session) >= 0) {
          break;
        }
        if (isNew) {
          found.add(blob);
        }
      }
    }
    return found;
  }

  private RocksScan scan(byte... prefix) {
    return RocksScan.of(db, prefix);
  }

  private boolean hasAny(byte kind) throws IOException {
    try (RocksScan entries = scan(kind)) {
      entries.first();
      return entries.isAtEntry();
    }
  }

  @Override
  public Update update() {
    update.batch.clear();
    return update;
  }

  @Override
  public void checkpoint() throws IOException {
    try (FlushOptions flush = new FlushOptions().setWaitForFlush(true).setAllowWriteStall(true)) {
      db.flush(flush);
      if (!"0".equals(db.getProperty("rocksdb.background-errors"))) {
        throw new IOException("the index had background errors");
      }
    } catch (RocksDBException e) {
      throw failed(e);
    }
  }

  @Override
  public void close() {
    update.batch.close();
    db.close();
    options.close();
    bloomFilter.close();
    reading.close();
    writing.close();
  }

  static IOException failed(RocksDBException e) {
    return new IOException("index: " + e.getMessage(), e);
  }

  /** One write batch, used again and again by the log's writer. */
  private final class RocksUpdate implements Update {
    final WriteBatch batch = new WriteBatch();
    private final ByteBuffer key = ByteBuffer.allocateDirect(IndexFormat.INTENT_KEY_BYTES);
    private final ByteBuffer value = ByteBuffer.allocateDirect(IndexFormat.VALUE_BYTES_MAX);

    @Override
    public void put(Piece piece) throws IOException {
      if (!(piece.role() instanceof Piece.Base)) {
        hasChanges = true;
      }
      putKey(piece);
      IndexFormat.putValue(value.clear(), piece);
      put();
    }

    @Override
    public void remove(Piece piece) throws IOException {
      putKey(piece);
      remove();
    }

    @Override
    public void putFolded(ShardId shard, Folded folded) throws IOException {
      hasChanges = true;
      IndexFormat.putShard(key.clear(), IndexFormat.FOLDED, shard);
      value.clear().putLong(folded.revision());
      value.putLong(folded.lowestSegment()).putLong(folded.highestSegment());
      put();
    }

    @Override
    public void removeFolded(ShardId shard) throws IOException {
      IndexFormat.putShard(key.clear(), IndexFormat.FOLDED, shard);
      remove();
    }

    @Override
    public void use(long segment, SegmentUse use) throws IOException {
      key.clear().put(IndexFormat.USE).putLong(segment);
      value.clear().putLong(use.liveBytes()).putInt(use.marks());
      value.put((byte) (use.wasMovedFrom() ? 1 : 0));
      put();
    }

    @Override
    public void forget(long segment) throws IOException {
      key.clear().put(IndexFormat.USE).putLong(segment);
      remove();
    }

    @Override
    public void commit(LogPosition reached) throws IOException {
      key.clear().put(IndexFormat.POSITION_KEY);
      value.clear().putLong(reached.sequence()).putLong(reached.segment());
      value.putInt(reached.offset()).put((byte) (reached.isRebuild() ? 1 : 0));
      put();
      try {
        db.write(writing, batch);
      } catch (RocksDBException e) {
        throw failed(e);
      }
      position = reached;
    }

    private void putKey(Piece piece) {
      IndexFormat.putKey(key.clear(), piece.shard(), piece.role(), piece.extent().firstBlock());
    }

    private void put() throws IOException {
      try {
        batch.put(key.flip(), value.flip());
      } catch (RocksDBException e) {
        throw failed(e);
      }
    }

    private void remove() throws IOException {
      try {
        batch.delete(key.flip());
      } catch (RocksDBException e) {
        throw failed(e);
      }
    }
  }
}
