package dev.ashlar.storage.drive.index;

import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.LogPosition;
import dev.ashlar.storage.drive.segment.SegmentUsage;
import dev.ashlar.storage.drive.segment.ShardPiece;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/** A reusable write batch for the log writer. */
final class RocksUpdate implements ShardIndex.Update {
  private final IndexDatabase db;
  private final RocksRows latest;
  private final CommitListener onCommit;
  private final WriteOptions writing = new WriteOptions().setDisableWAL(true);
  private final WriteBatch batch = new WriteBatch();
  private final ByteBuffer key = ByteBuffer.allocateDirect(IndexFormat.INTENT_KEY_BYTES);
  private final ByteBuffer value = ByteBuffer.allocateDirect(IndexFormat.VALUE_BYTES_MAX);

  /** Pages with the changes of this update. */
  private final Map<PageKey, PatchPage> pages = new HashMap<>();

  private boolean hasChangedShards;
  private volatile boolean isEnding;

  private record PageKey(ShardId shard, int number) {}

  /** Called for each commit. */
  interface CommitListener {
    void committed(LogPosition reached, boolean hasChangedShards);
  }

  RocksUpdate(IndexDatabase db, RocksRows latest, CommitListener onCommit) {
    this.db = db;
    this.latest = latest;
    this.onCommit = onCommit;
  }

  void clear() {
    batch.clear();
    pages.clear();
    hasChangedShards = false;
  }

  /** Makes all later commits fail, so that an index rebuild ends soon. */
  void end() {
    isEnding = true;
  }

  void close() {
    batch.close();
    writing.close();
  }

  @Override
  public void put(ShardPiece piece) throws IOException {
    hasChangedShards |= !(piece.role() instanceof ShardPiece.Base);
    if (piece.role() instanceof ShardPiece.Patch) {
      page(piece.shard(), piece.extent().firstBlock()).put(piece.extent());
      return;
    }
    putKey(piece);
    IndexFormat.putValue(value.clear(), piece);
    put();
  }

  @Override
  public void remove(ShardPiece piece) throws IOException {
    if (piece.role() instanceof ShardPiece.Patch) {
      int block = piece.extent().firstBlock();
      page(piece.shard(), block).remove(block);
      return;
    }
    putKey(piece);
    remove();
  }

  @Override
  public @Nullable Extent patchAt(ShardId shard, int block) throws IOException {
    return page(shard, block).at(block);
  }

  private PatchPage page(ShardId shard, int block) throws IOException {
    PageKey of = new PageKey(shard, PatchPage.numberOf(block));
    PatchPage present = pages.get(of);
    if (present == null) {
      present = new PatchPage();
      int first = of.number() * PatchPage.BLOCKS;
      latest.patches(shard, first, first + PatchPage.BLOCKS - 1).forEach(present::put);
      pages.put(of, present);
    }
    return present;
  }

  private void putPages() throws IOException {
    for (Map.Entry<PageKey, PatchPage> entry : pages.entrySet()) {
      PageKey of = entry.getKey();
      IndexFormat.putPageKey(key.clear(), of.shard(), of.number());
      if (entry.getValue().isEmpty()) {
        remove();
      } else {
        entry.getValue().write(value.clear());
        put();
      }
    }
  }

  @Override
  public void putFolded(ShardId shard, FoldState folded) throws IOException {
    hasChangedShards = true;
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
  public void use(long segment, SegmentUsage use) throws IOException {
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
    if (isEnding) {
      throw new IOException("the drive is closing");
    }
    putPages();
    key.clear().put(IndexFormat.POSITION_KEY);
    value.clear().putLong(reached.sequence()).putLong(reached.segment());
    value.putInt(reached.offset()).put((byte) (reached.isRebuild() ? 1 : 0));
    put();
    try {
      db.db().write(writing, batch);
    } catch (RocksDBException e) {
      throw db.failed(e);
    }
    onCommit.committed(reached, hasChangedShards);
  }

  private void putKey(ShardPiece piece) {
    IndexFormat.putKey(key.clear(), piece.shard(), piece.role(), piece.extent().firstBlock());
  }

  private void put() throws IOException {
    try {
      batch.put(key.flip(), value.flip());
    } catch (RocksDBException e) {
      throw db.failed(e);
    }
  }

  private void remove() throws IOException {
    try {
      batch.delete(key.flip());
    } catch (RocksDBException e) {
      throw db.failed(e);
    }
  }
}
