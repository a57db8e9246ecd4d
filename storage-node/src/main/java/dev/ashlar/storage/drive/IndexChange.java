package dev.ashlar.storage.drive;

import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.ShardId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** One batch's effect on the index together with what it does to the use of segments. */
final class IndexChange {
  private final ShardIndex.Update update;
  private final Segments segments;
  private final List<Segment> touched = new ArrayList<>(2);

  /** What the index still shows until the commit but is gone: it must be accounted for once. */
  private final Set<Removed> removed = new HashSet<>();

  private record Removed(BlobId blob, int slot, int firstBlock) {}

  IndexChange(ShardIndex.Update update, Segments segments) {
    this.update = update;
    this.segments = segments;
  }

  void put(ShardId shard, Extent extent, @Nullable Extent replaced) throws IOException {
    update.put(shard, extent);
    use(extent.segment(), extent.storedBytes(), 0, false);
    if (replaced != null
        && !removed.contains(new Removed(shard.blob(), shard.slot(), replaced.firstBlock()))) {
      use(replaced.segment(), -replaced.storedBytes(), 0, true);
    }
  }

  void remove(BlobId blob, int slot, Extent extent) throws IOException {
    if (!removed.add(new Removed(blob, slot, extent.firstBlock()))) {
      return;
    }
    update.remove(blob, slot, extent.firstBlock());
    use(extent.segment(), -extent.storedBytes(), 0, false);
  }

  void addTombstones(long segment, int count) {
    if (count > 0) {
      use(segment, 0, count, false);
    }
  }

  void commit(LogPosition reached) throws IOException {
    for (Segment segment : touched) {
      update.use(segment.id(), segment.use());
    }
    update.commit(reached);
  }

  /** A segment that was lost has nothing to account for. */
  private void use(long id, long liveBytes, int tombstones, boolean movedFrom) {
    Segment segment = segments.get(id);
    if (segment != null) {
      segment.changeUse(liveBytes, tombstones, movedFrom);
      if (movedFrom) {
        segments.markMovedFrom(id);
      }
      if (!touched.contains(segment)) {
        touched.add(segment);
      }
    }
  }
}
