package dev.ashlar.storage.drive.log;

import dev.ashlar.protocol.client.Completion;
import dev.ashlar.protocol.client.DiscardIntent;
import dev.ashlar.protocol.client.FoldIntent;
import dev.ashlar.protocol.client.ShardWrite;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.segment.Extent;
import dev.ashlar.storage.drive.segment.MarkRecord;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.drive.segment.ShardPiece;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** A request to the log writer. */
public sealed interface LogRequest {
  Completion<DriveId> completion();

  /** Its share of the queue's byte limit. */
  int queuedBytes();

  /** Whether a full drive refuses it. */
  default boolean needsRoom() {
    return false;
  }

  /** Whether it needs a batch of its own. */
  default boolean goesAlone() {
    return false;
  }

  /** Client payload, counted when it is durable. */
  default int payloadBytes() {
    return 0;
  }

  /** A request with data of a client. */
  sealed interface NewData extends LogRequest {
    @Override
    default int payloadBytes() {
      return queuedBytes();
    }

    @Override
    default boolean needsRoom() {
      return true;
    }
  }

  /** A request of the drive itself, which needs a batch of its own. */
  sealed interface Alone extends LogRequest {
    @Override
    default int queuedBytes() {
      return 0;
    }

    @Override
    default boolean goesAlone() {
      return true;
    }
  }

  /** New data. */
  record Write(ShardWrite write, Completion<DriveId> completion) implements NewData {
    @Override
    public int queuedBytes() {
      return write.payload().remaining();
    }
  }

  /**
   * The changes of a shard by an attempt, as whole blocks with their new content.
   *
   * @param after the revision that the shard must have; see {@link ShardPiece.Intent}
   * @param isMadeFromOld whether the blocks were made from their former content
   */
  record Prepare(
      ShardId shard,
      AttemptId attempt,
      long after,
      List<ChangedBlocks> pieces,
      boolean isMadeFromOld,
      Completion<DriveId> completion)
      implements NewData {
    @Override
    public int queuedBytes() {
      int bytes = 0;
      for (ChangedBlocks piece : pieces) {
        bytes += piece.payload().remaining();
      }
      return bytes;
    }
  }

  /**
   * Consecutive blocks of an intent.
   *
   * @param replaces see {@link ShardPiece.Intent}
   * @param alters see {@link ShardPiece.Intent}
   */
  record ChangedBlocks(
      int firstBlock, ByteBuffer payload, int[] crcs, boolean replaces, boolean alters) {}

  /**
   * Folds intents.
   *
   * @param missing receives the intents that were not found
   */
  record FoldAll(List<FoldIntent> folds, List<FoldIntent> missing, Completion<DriveId> completion)
      implements LogRequest {
    /** Longer lists are split, so that a request always fits a batch. */
    public static final int FOLDS_MAX = 256;

    public FoldAll(List<FoldIntent> folds, Completion<DriveId> completion) {
      this(folds, new ArrayList<>(), completion);
    }

    @Override
    public int queuedBytes() {
      return folds.size() * SegmentFormat.FOLD_MARK_BYTES;
    }
  }

  record DiscardAll(List<DiscardIntent> discards, Completion<DriveId> completion)
      implements LogRequest {
    /** Longer lists are split, so that a request always fits a batch. */
    public static final int DISCARDS_MAX = 256;

    @Override
    public int queuedBytes() {
      return discards.size() * SegmentFormat.DISCARD_MARK_BYTES;
    }
  }

  record Delete(List<BlobId> blobs, Completion<DriveId> completion) implements LogRequest {
    /** Longer lists are split, so that a request always fits a batch. */
    public static final int BLOBS_MAX = 512;

    @Override
    public int queuedBytes() {
      return blobs.size() * SegmentFormat.TOMBSTONE_BYTES;
    }
  }

  /**
   * Live records of a mostly dead segment that compaction moves to the end of the log, which has to
   * be in another segment. Without records the log still leaves that segment.
   */
  record Move(
      long segment, List<MovedPiece> pieces, List<MarkRecord> marks, Completion<DriveId> completion)
      implements Alone {}

  /**
   * @param from the place of the piece; if the index has changed, it is not moved
   * @param payload the bytes read; must not change before completion
   * @param isDamaged whether the payload fails its checksums, which are kept
   */
  record MovedPiece(ShardPiece from, ByteBuffer payload, boolean isDamaged) {}

  /**
   * An empty batch after the last one, unless there is one already: it keeps a rebuild from taking
   * the last batch for an interrupted write. Skipped without space.
   */
  record Confirm(Completion<DriveId> completion) implements Alone {}

  /**
   * Replaces several pieces with one base extent.
   *
   * @param bases consecutive extents; nothing is done if the index has changed
   * @param patches all patches of these blocks; nothing is done if the index has others
   * @param payload the merged bytes; must not change before completion
   */
  record Merge(
      ShardId shard,
      List<Extent> bases,
      List<Extent> patches,
      ByteBuffer payload,
      int[] crcs,
      Completion<DriveId> completion)
      implements Alone {
    @Override
    public boolean needsRoom() {
      return true;
    }
  }
}
