package dev.ashlar.storage.drive.index;

import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.LogPosition;
import dev.ashlar.storage.drive.segment.SegmentUsage;
import dev.ashlar.storage.drive.segment.ShardPiece;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * From shards to extents. What is committed is visible at once but durable only by {@link
 * #checkpoint}; a crash takes it back to some earlier commit, never to a part of one and never
 * behind the last checkpoint.
 */
public interface ShardIndex extends AutoCloseable {
  /** Up to where the log has been committed to this index. */
  LogPosition position();

  /** Per segment, what was last committed about it. */
  Map<Long, SegmentUsage> segments() throws IOException;

  /** The base extent that holds this 4 KiB block of the shard. */
  @Nullable Extent find(ShardId shard, int block) throws IOException;

  /** All of the index as it is after the last commit. */
  Rows rows();

  /**
   * The index as it is whenever it is asked: cheaper than {@link #rows}, for who asks once, or
   * accepts answers of different moments. Need not be closed.
   */
  Rows latest();

  /** All of a blob. */
  void forEachRow(BlobId blob, RowVisitor visitor) throws IOException;

  /** Of a blob, what is not folded: a small part of all. */
  List<ShardPiece> unfolded(BlobId blob) throws IOException;

  /**
   * The first blobs with a base extent whose session is below, in order.
   *
   * @param after only blobs behind it; null: from the first on
   */
  List<BlobId> blobsBelow(long session, @Nullable BlobId after, int max) throws IOException;

  /**
   * Every piece that is not folded, in the order of their blobs, until the visitor has enough.
   *
   * @param from the blob to begin with; null: the first
   */
  void forEachIntent(@Nullable BlobId from, IntentVisitor visitor) throws IOException;

  /**
   * The first blobs that were changed, in order: something of them is folded, or may have been, or
   * not folded yet.
   *
   * @param after only blobs behind it; null: from the first on
   */
  List<BlobId> changedBlobs(@Nullable BlobId after, int max) throws IOException;

  /** The next commit, empty. There is one at a time: the log has one writer. */
  Update update();

  /** Makes durable all that was committed before the call. */
  void checkpoint() throws IOException;

  /**
   * Reads all of it.
   *
   * @return false if it was told to end
   */
  default boolean verify(ReadThrottle pace) throws IOException {
    return true;
  }

  /** Fails if work in the background has failed. */
  default void check() throws IOException {}

  @Override
  void close();

  /** Told of each row of a blob. */
  interface RowVisitor {
    void piece(ShardPiece piece) throws IOException;

    void folded(ShardId shard, FoldState folded) throws IOException;
  }

  /** Told of each piece of an attempt; false when it has enough. */
  interface IntentVisitor {
    boolean intent(BlobId blob, AttemptId attempt) throws IOException;
  }

  /** The rows of one moment. */
  interface Rows extends AutoCloseable {
    /** {@link FoldState#NOTHING} where there is no row. */
    FoldState folded(ShardId shard) throws IOException;

    /** The piece of this shard, role and attempt that begins with this block. */
    @Nullable Extent at(ShardId shard, ShardPiece.Role role, int firstBlock) throws IOException;

    /** The base extents that hold blocks from the first up to and with the last, in order. */
    List<Extent> bases(ShardId shard, int firstBlock, int lastBlock) throws IOException;

    /** The patches of blocks from the first up to and with the last, in order. */
    List<Extent> patches(ShardId shard, int firstBlock, int lastBlock) throws IOException;

    /**
     * What these attempts wrote for the shard and is not folded, per attempt in order: of all that
     * wrote anything, what holds blocks from the first up to and with the last.
     */
    Map<AttemptId, List<ShardPiece>> intents(
        ShardId shard, List<AttemptId> attempts, int firstBlock, int lastBlock) throws IOException;

    /** All that is not folded of the shard, per attempt. */
    Map<AttemptId, List<ShardPiece>> intents(ShardId shard) throws IOException;

    @Override
    void close();
  }

  /** Changes that become visible, and later durable, together. */
  interface Update {
    /** In place of a piece of the same shard, role, attempt and first block. */
    void put(ShardPiece piece) throws IOException;

    void remove(ShardPiece piece) throws IOException;

    /** The block's patch as this update leaves it. */
    @Nullable Extent patchAt(ShardId shard, int block) throws IOException;

    void putFolded(ShardId shard, FoldState folded) throws IOException;

    void removeFolded(ShardId shard) throws IOException;

    void use(long segment, SegmentUsage use) throws IOException;

    void forget(long segment) throws IOException;

    void commit(LogPosition position) throws IOException;
  }
}
