package dev.ashlar.storage.drive.log;

import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.index.FoldState;
import dev.ashlar.storage.drive.index.ShardIndex;
import dev.ashlar.storage.drive.segment.ChangeHistory;
import dev.ashlar.storage.drive.segment.ShardPiece;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The changed shards that damage of the log may have left in a state that they never had. All
 * others are as the whole log would leave them, but for blocks that read as missing.
 */
public final class LostChanges {
  private final Set<Integer> blobs = new HashSet<>();
  private final Set<Long> segments = new HashSet<>();
  private boolean isAll;
  private boolean isAllUnfolded;

  /** Nothing is known of what is lost. */
  public void addAll() {
    isAll = true;
  }

  /**
   * The last batches are lost: what is left is a state that was, but the last pieces of an attempt
   * may be missing where the first are there.
   */
  void addUnfolded() {
    isAllUnfolded = true;
  }

  /** A segment is lost of which the index knows all that it held. */
  void addSegment(long segment) {
    segments.add(segment);
  }

  /** The batches before one that stores this about them are lost. */
  void addBatches(long count, ChangeHistory.Stored history) {
    if (count <= history.batches()) {
      blobs.addAll(history.changedBy(count));
    } else {
      isAll = true;
    }
  }

  /** What is done with some of the blobs. */
  public interface Visitor {
    void blobs(List<BlobId> some) throws IOException;
  }

  /**
   * Visits the blobs in doubt among those of which the index has changes, in order. They may be
   * deleted meanwhile.
   *
   * @param max how many at a time
   */
  public void forEachIn(ShardIndex index, int max, Visitor visitor) throws IOException {
    List<BlobId> found = new ArrayList<>();
    List<BlobId> page = index.changedBlobs(null, max);
    while (!page.isEmpty()) {
      for (BlobId blob : page) {
        if (isInDoubt(index, blob)) {
          found.add(blob);
        }
        if (found.size() == max) {
          visitor.blobs(List.copyOf(found));
          found.clear();
        }
      }
      page = index.changedBlobs(page.getLast(), max);
    }
    if (!found.isEmpty()) {
      visitor.blobs(found);
    }
  }

  private boolean isInDoubt(ShardIndex index, BlobId blob) throws IOException {
    return isAll
        || blobs.contains(ChangeHistory.hash(blob))
        || (isAllUnfolded && !index.unfolded(blob).isEmpty())
        || layInLostSegment(index, blob);
  }

  private boolean layInLostSegment(ShardIndex index, BlobId blob) throws IOException {
    if (segments.isEmpty()) {
      return false;
    }
    TracesIn traces = new TracesIn(segments);
    index.forEachRow(blob, traces);
    return traces.isFound;
  }

  /** Finds whether pieces of a blob, or dead records of it, lie in some segments. */
  private static final class TracesIn implements ShardIndex.RowVisitor {
    private final Set<Long> segments;
    private boolean isFound;

    TracesIn(Set<Long> segments) {
      this.segments = segments;
    }

    @Override
    public void piece(ShardPiece piece) {
      isFound |= segments.contains(piece.extent().segment());
    }

    @Override
    public void folded(ShardId shard, FoldState folded) {
      for (long segment : segments) {
        isFound |= folded.lowestSegment() <= segment && segment <= folded.highestSegment();
      }
    }
  }
}
