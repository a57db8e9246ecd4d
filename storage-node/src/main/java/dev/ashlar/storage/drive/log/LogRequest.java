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
import dev.ashlar.storage.drive.segment.LogMarker;
import dev.ashlar.storage.drive.segment.SegmentFormat;
import dev.ashlar.storage.drive.segment.ShardPiece;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** What waits for the log's writer. */
public sealed interface LogRequest {
  Completion<DriveId> completion();

  /** What it holds of the queue's byte bound. */
  int queuedBytes();

  /** Whether a full drive refuses it. */
  default boolean needsRoom() {
    return false;
  }

  /** Whether nothing else may be in its batch. */
  default boolean goesAlone() {
    return false;
  }

  /** What a client wrote: counted when it is durable. */
  default int payloadBytes() {
    return 0;
  }

  /** New data. */
  record Write(ShardWrite write, Completion<DriveId> completion) implements LogRequest {
    @Override
    public int queuedBytes() {
      return write.payload().remaining();
    }

    @Override
    public int payloadBytes() {
      return queuedBytes();
    }

    @Override
    public boolean needsRoom() {
      return true;
    }
  }

  /**
   * What an attempt changes of a shard: whole blocks as they will be.
   *
   * @param after the revision that the shard has to have; see {@link ShardPiece.Intent}
   * @param isMadeFromOld whether the blocks were made by changing what they were
   */
  record Prepare(
      ShardId shard,
      AttemptId attempt,
      long after,
      List<ChangedBlocks> pieces,
      boolean isMadeFromOld,
      Completion<DriveId> completion)
      implements LogRequest {
    @Override
    public int queuedBytes() {
      int bytes = 0;
      for (ChangedBlocks piece : pieces) {
        bytes += piece.payload().remaining();
      }
      return bytes;
    }

    @Override
    public int payloadBytes() {
      return queuedBytes();
    }

    @Override
    public boolean needsRoom() {
      return true;
    }
  }

  /**
   * Consecutive blocks of an intent.
   *
   * @param replaces see {@link ShardPiece.Intent}
   * @param alters see {@link ShardPiece.Intent}
   */
  public record ChangedBlocks(
      int firstBlock, ByteBuffer payload, int[] crcs, boolean replaces, boolean alters) {}

  /**
   * Folding of intents.
   *
   * @param missing takes those that are not here
   */
  record FoldAll(List<FoldIntent> folds, List<FoldIntent> missing, Completion<DriveId> completion)
      implements LogRequest {
    /** More are split over several requests, so that one always fits a batch. */
    public static final int FOLDS_MAX = 256;

    public FoldAll(List<FoldIntent> folds, Completion<DriveId> completion) {
      this(folds, new ArrayList<>(), completion);
    }

    @Override
    public int queuedBytes() {
      return folds.size() * SegmentFormat.FOLDING_BYTES;
    }
  }

  /** Forgetting of intents. */
  record DropAll(List<DiscardIntent> drops, Completion<DriveId> completion) implements LogRequest {
    /** More are split over several requests, so that one always fits a batch. */
    public static final int DROPS_MAX = 256;

    @Override
    public int queuedBytes() {
      return drops.size() * SegmentFormat.DROPPING_BYTES;
    }
  }

  /** Removal of blobs. */
  record Delete(List<BlobId> blobs, Completion<DriveId> completion) implements LogRequest {
    /** More are split over several requests, so that one always fits a batch. */
    public static final int BLOBS_MAX = 512;

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
      long segment, List<MovedPiece> pieces, List<LogMarker> marks, Completion<DriveId> completion)
      implements LogRequest {
    @Override
    public int queuedBytes() {
      return 0;
    }

    @Override
    public boolean goesAlone() {
      return true;
    }
  }

  /**
   * @param from where it lies; if the index no longer says so, it is not moved
   * @param payload as read, not to be changed until completion
   * @param isDamaged whether the payload does not match the checksums, which stay as they are
   */
  public record MovedPiece(ShardPiece from, ByteBuffer payload, boolean isDamaged) {}

  /**
   * A batch without content behind all that was written before, if none is there yet: then a
   * rebuild takes none of it for a write that was cut off. Without room it is left out.
   */
  record Confirm(Completion<DriveId> completion) implements LogRequest {
    @Override
    public int queuedBytes() {
      return 0;
    }

    @Override
    public boolean goesAlone() {
      return true;
    }
  }

  /**
   * One base extent in place of several pieces.
   *
   * @param bases consecutive extents; if the index no longer has them, nothing is done
   * @param patches all of these blocks; if the index has others, nothing is done
   * @param payload what these are together, not to be changed until completion
   */
  record Merge(
      ShardId shard,
      List<Extent> bases,
      List<Extent> patches,
      ByteBuffer payload,
      int[] crcs,
      Completion<DriveId> completion)
      implements LogRequest {
    @Override
    public int queuedBytes() {
      return 0;
    }

    @Override
    public boolean goesAlone() {
      return true;
    }

    @Override
    public boolean needsRoom() {
      return true;
    }
  }
}
