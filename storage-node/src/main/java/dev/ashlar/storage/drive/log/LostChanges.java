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
 * The changed shards that damage of the log may have left in a state that never existed. All others
 * are as the complete log would leave them, except for missing blocks.
 */
public final class LostChanges {
  private final Set<Integer> blobs = new HashSet<>();
  private final Set<Long> segments = new HashSet<>();
  private boolean isAll;
  private boolean isAllUnfolded;

  /** The extent of the damage is unknown. */
  public void addAll() {
    isAll = true;
  }

  /**
   * The last batches are lost: the remaining state is a former one, but an attempt may have lost
   * its last pieces.
   */
  void addUnfolded() {
    isAllUnfolded = true;
  }

  /** A segment is lost whose content is in the index. */
  void addSegment(long segment) {
    segments.add(segment);
  }

  /** The batches before one with this history are lost. */
  void addBatches(long count, ChangeHistory.Stored history) {
    if (count <= history.batches()) {
      blobs.addAll(history.changedBy(count));
    } else {
      isAll = true;
    }
  }

  /** Called with some of the blobs. */
  public interface Visitor {
    void blobs(List<BlobId> some) throws IOException;
  }

  /**
   * Visits the changed blobs in doubt, in order. They may be deleted meanwhile.
   *
   * @param max blobs per call
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

  /** Finds whether pieces or dead records of a blob lie in some segments. */
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
