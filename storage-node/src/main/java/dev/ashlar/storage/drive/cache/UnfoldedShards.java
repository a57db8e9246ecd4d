package dev.ashlar.storage.drive.cache;

import dev.ashlar.protocol.client.CommittedAttempt;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.ShardId;
import dev.ashlar.storage.drive.index.FoldState;
import dev.ashlar.storage.drive.index.ShardIndex;
import dev.ashlar.storage.drive.segment.ShardPiece;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The fold revision and unfolded pieces of recently changed shards. With them, reads, folds and
 * compaction avoid one index seek per attempt. For each shard the cache has everything or nothing,
 * as of the last commit or, during a commit, the one before. Written by the log writer, read by any
 * thread.
 */
public final class UnfoldedShards {
  /** Maximum number of pieces and shards, a few MiB together. */
  public static final int SIZE_MAX = 8192;

  private final ShardIndex index;
  private final int sizeMax;
  private final Map<ShardId, Known> shards = new ConcurrentHashMap<>();

  /** The size of each shard; the least recently changed shard is first. */
  private final LinkedHashMap<ShardId, Integer> sizes = new LinkedHashMap<>(16, 0.75f, true);

  private int size;

  public UnfoldedShards(ShardIndex index, int sizeMax) {
    this.index = index;
    this.sizeMax = sizeMax;
  }

  /**
   * All unfolded pieces of a shard.
   *
   * @param folded the revision up to which everything is folded
   */
  public record Known(long folded, Map<AttemptId, List<ShardPiece>> attempts) {
    /** Whether every change in the view is folded or present here. */
    public boolean has(ShardView view) {
      if (folded < view.folded()) {
        return false;
      }
      for (CommittedAttempt attempt : view.unfoldedAfter(folded)) {
        if (!attempts.containsKey(attempt.attempt())) {
          return false;
        }
      }
      return true;
    }

    Known changed(long newFolded, List<ShardPiece> put, List<ShardPiece> removed) {
      Map<AttemptId, List<ShardPiece>> changed = new HashMap<>(attempts);
      for (ShardPiece piece : removed) {
        changed.computeIfPresent(
            piece.attempt(),
            (attempt, pieces) -> {
              List<ShardPiece> left = without(pieces, piece);
              return left.isEmpty() ? null : left;
            });
      }
      for (ShardPiece piece : put) {
        List<ShardPiece> all = without(changed.getOrDefault(piece.attempt(), List.of()), piece);
        all.add(piece);
        changed.put(piece.attempt(), all);
      }
      return new Known(newFolded, changed);
    }
  }

  public @Nullable Known find(ShardId shard) {
    return shards.get(shard);
  }

  /**
   * Adds and removes pieces after the index was updated.
   *
   * @param folded the new fold state; null if unchanged
   */
  public void changed(
      ShardId shard, List<ShardPiece> put, List<ShardPiece> removed, @Nullable FoldState folded)
      throws IOException {
    Known known = shards.get(shard);
    if (known != null) {
      keep(shard, known.changed(folded == null ? known.folded() : folded.revision(), put, removed));
    } else if (!put.isEmpty()) {
      ShardIndex.Rows rows = index.latest();
      keep(shard, new Known(rows.folded(shard).revision(), rows.intents(shard)));
    }
  }

  /** Forgets a shard after its last row was removed from the index. */
  public void removed(ShardId shard) {
    Integer before = sizes.remove(shard);
    if (before != null) {
      shards.remove(shard);
      size -= before;
    }
  }

  private static List<ShardPiece> without(List<ShardPiece> pieces, ShardPiece piece) {
    List<ShardPiece> left = new ArrayList<>(pieces);
    left.removeIf(each -> each.extent().firstBlock() == piece.extent().firstBlock());
    return left;
  }

  private void keep(ShardId shard, Known known) {
    shards.put(shard, known);
    int count = 1;
    for (List<ShardPiece> pieces : known.attempts().values()) {
      count += pieces.size();
    }
    Integer before = sizes.put(shard, count);
    size += before == null ? count : count - before;
    while (size > sizeMax) {
      Map.Entry<ShardId, Integer> eldest = sizes.pollFirstEntry();
      shards.remove(eldest.getKey());
      size -= eldest.getValue();
    }
  }
}
