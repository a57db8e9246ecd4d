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
 * Maps shards to extents. A commit is visible at once but durable only after {@link #checkpoint}. A
 * crash reverts the index to an earlier commit, never to a part of one and never to one before the
 * last checkpoint.
 */
public interface ShardIndex extends AutoCloseable {
  /** The position up to which the log has been committed to this index. */
  LogPosition position();

  /** The usage of each segment as last committed. */
  Map<Long, SegmentUsage> segments() throws IOException;

  /** The base extent with this 4 KiB block of the shard. */
  @Nullable Extent find(ShardId shard, int block) throws IOException;

  /** The same without waiting for the drive; null also if it is not found at once in memory. */
  default @Nullable Extent findCached(ShardId shard, int block) throws IOException {
    return null;
  }

  /** A snapshot of the index after the last commit. */
  Rows rows();

  /**
   * A view of the latest commit at each call. Cheaper than {@link #rows} for single queries and for
   * callers that accept answers of different moments. Need not be closed.
   */
  Rows latest();

  /** Visits all rows of a blob. */
  void forEachRow(BlobId blob, RowVisitor visitor) throws IOException;

  /** The unfolded pieces of a blob. */
  List<ShardPiece> unfolded(BlobId blob) throws IOException;

  /**
   * The first blobs, in order, that have a base extent and a lower session.
   *
   * @param after starts after this blob; null: at the first
   */
  List<BlobId> blobsBelow(long session, @Nullable BlobId after, int max) throws IOException;

  /**
   * Visits all unfolded pieces in the order of their blobs until the visitor returns false.
   *
   * @param from the blob to begin with; null: the first
   */
  void forEachIntent(@Nullable BlobId from, IntentVisitor visitor) throws IOException;

  /**
   * The first changed blobs, in order: they have folded or unfolded changes, or may have had.
   *
   * @param after only blobs behind it; null: from the first on
   */
  List<BlobId> changedBlobs(@Nullable BlobId after, int max) throws IOException;

  /** An empty update for the next commit. There is one at a time because the log has one writer. */
  Update update();

  /** Makes everything committed before the call durable. */
  void checkpoint() throws IOException;

  /**
   * Verifies the whole index by reading it.
   *
   * @return false if it was stopped
   */
  default boolean verify(ReadThrottle throttle) throws IOException {
    return true;
  }

  /** Fails if background work of the index has failed. */
  default void check() throws IOException {}

  @Override
  void close();

  /** Called for each row of a blob. */
  interface RowVisitor {
    void piece(ShardPiece piece) throws IOException;

    default void folded(ShardId shard, FoldState folded) throws IOException {}
  }

  /** Called for each piece of an attempt; returns false to stop. */
  interface IntentVisitor {
    boolean intent(BlobId blob, AttemptId attempt) throws IOException;
  }

  /** The rows as of one moment. */
  interface Rows extends AutoCloseable {
    /** The fold state; {@link FoldState#NOTHING} if there is no row. */
    FoldState folded(ShardId shard) throws IOException;

    /** The extent with this shard, role, attempt and first block. */
    @Nullable Extent at(ShardId shard, ShardPiece.Role role, int firstBlock) throws IOException;

    /** The base extents with any block from the first to the last, in order. */
    List<Extent> bases(ShardId shard, int firstBlock, int lastBlock) throws IOException;

    /** The patches of blocks from the first to the last, in order. */
    List<Extent> patches(ShardId shard, int firstBlock, int lastBlock) throws IOException;

    /**
     * The unfolded pieces of these attempts with any block from the first to the last, in order.
     * Attempts that have unfolded pieces elsewhere in the shard map to an empty list.
     */
    Map<AttemptId, List<ShardPiece>> intents(
        ShardId shard, List<AttemptId> attempts, int firstBlock, int lastBlock) throws IOException;

    /** All unfolded pieces of the shard by attempt. */
    Map<AttemptId, List<ShardPiece>> intents(ShardId shard) throws IOException;

    @Override
    void close();
  }

  /** Changes that become visible, and later durable, together. */
  interface Update {
    /** Adds a piece, replacing one with the same shard, role, attempt and first block. */
    void put(ShardPiece piece) throws IOException;

    void remove(ShardPiece piece) throws IOException;

    /** The patch of a block including the changes of this update. */
    @Nullable Extent patchAt(ShardId shard, int block) throws IOException;

    void putFolded(ShardId shard, FoldState folded) throws IOException;

    void removeFolded(ShardId shard) throws IOException;

    void use(long segment, SegmentUsage use) throws IOException;

    void forget(long segment) throws IOException;

    void commit(LogPosition position) throws IOException;
  }
}
