package dev.ashlar.storage.drive;

import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import java.io.IOException;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * From shards to extents. What is committed is visible at once but durable only by {@link
 * #checkpoint}; a crash takes it back to some earlier commit, never to a part of one and never
 * behind the last checkpoint.
 */
interface ShardIndex extends AutoCloseable {
  /** Up to where the log has been committed to this index. */
  LogPosition position();

  /** Per segment, what was last committed about it. */
  Map<Long, SegmentUse> segments() throws IOException;

  /** The extent that holds this 4 KiB block of the shard. */
  @Nullable Extent find(ShardId shard, int block) throws IOException;

  void forEachExtent(BlobId blob, ExtentVisitor visitor) throws IOException;

  /** Every blob with an extent whose session is below, in order. */
  void forEachBlobBelow(long session, Consumer<BlobId> visitor) throws IOException;

  /** The next commit, empty. There is one at a time: the log has one writer. */
  Update update();

  /** Makes durable all that was committed before the call. */
  void checkpoint() throws IOException;

  @Override
  void close();

  /** Told of each extent of a blob. */
  interface ExtentVisitor {
    void extent(int slot, Extent extent) throws IOException;
  }

  /** Changes that become visible, and later durable, together. */
  interface Update {
    void put(ShardId shard, Extent extent) throws IOException;

    void remove(BlobId blob, int slot, int firstBlock) throws IOException;

    void use(long segment, SegmentUse use) throws IOException;

    void forget(long segment) throws IOException;

    void commit(LogPosition position) throws IOException;
  }
}
