package dev.ashlar.storage.drive;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import java.nio.ByteBuffer;
import java.util.List;

/** What waits for the log's writer. */
sealed interface LogRequest {
  Completion<DriveId> completion();

  /** What it holds of the queue's byte bound. */
  int queuedBytes();

  /** New data. */
  record Write(ShardWrite write, Completion<DriveId> completion) implements LogRequest {
    @Override
    public int queuedBytes() {
      return write.payload().remaining();
    }
  }

  /** Removal of blobs. */
  record Delete(List<BlobId> blobs, Completion<DriveId> completion) implements LogRequest {
    /** More are split over several requests, so that one always fits a batch. */
    static final int BLOBS_MAX = 512;

    @Override
    public int queuedBytes() {
      return blobs.size() * SegmentFormat.TOMBSTONE_BYTES;
    }
  }

  /**
   * What compaction carries from a mostly-dead segment to the head of the log, which has to be in
   * another segment. If nothing is carried, the log at least leaves that segment.
   */
  record Move(
      long segment,
      List<MovedExtent> extents,
      List<Tombstone> tombstones,
      Completion<DriveId> completion)
      implements LogRequest {
    @Override
    public int queuedBytes() {
      return 0;
    }
  }

  /**
   * @param from where it lies; if the index no longer says so, it is not moved
   * @param payload as read, not to be changed until completion
   * @param isDamaged whether the payload does not match the checksums, which stay as they are
   */
  record MovedExtent(ShardId shard, Extent from, ByteBuffer payload, boolean isDamaged) {}
}
