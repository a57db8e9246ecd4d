package dev.ashlar.storage.drive;

import dev.ashlar.protocol.client.CommittedAttempt;
import dev.ashlar.protocol.client.ShardView;
import dev.ashlar.protocol.model.AttemptId;
import dev.ashlar.protocol.model.ShardId;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * How far the shards that changed last are folded, and what of them is not: reads, folds and
 * compaction need not look for it in the index, where it would be one seek per attempt. Of a shard
 * there is all or nothing, as of the last commit or, while one is being made, of the one before.
 * Changed by the log's writer, read by any thread.
 */
final class UnfoldedShards {
  /** Pieces and shards, together some MiB at most. */
  static final int SIZE_MAX = 8192;

  private final ShardIndex index;
  private final int sizeMax;
  private final Map<ShardId, Known> shards = new ConcurrentHashMap<>();

  /** The size of each; the one that has not changed for longest is the first. */
  private final LinkedHashMap<ShardId, Integer> sizes = new LinkedHashMap<>(16, 0.75f, true);

  private int size;

  UnfoldedShards(ShardIndex index, int sizeMax) {
    this.index = index;
    this.sizeMax = sizeMax;
  }

  /**
   * All of a shard that is not folded.
   *
   * @param folded the revision up to which all is
   */
  record Known(long folded, Map<AttemptId, List<Piece>> attempts) {
    /** Whether all that the view names is folded or here. */
    boolean has(ShardView view) {
      if (folded < view.folded()) {
        return false;
      }
      for (CommittedAttempt attempt : view.unfolded()) {
        if (attempt.revision() > folded && !attempts.containsKey(attempt.attempt())) {
          return false;
        }
      }
      return true;
    }

    Known changed(long newFolded, List<Piece> put, List<Piece> removed) {
      Map<AttemptId, List<Piece>> changed = new HashMap<>(attempts);
      for (Piece piece : removed) {
        AttemptId attempt = ((Piece.Intent) piece.role()).attempt();
        List<Piece> left = without(changed.getOrDefault(attempt, List.of()), piece);
        if (left.isEmpty()) {
          changed.remove(attempt);
        } else {
          changed.put(attempt, left);
        }
      }
      for (Piece piece : put) {
        AttemptId attempt = ((Piece.Intent) piece.role()).attempt();
        List<Piece> all = without(changed.getOrDefault(attempt, List.of()), piece);
        all.add(piece);
        changed.put(attempt, all);
      }
      return new Known(newFolded, changed);
    }
  }

  /** Null where nothing is known. */
  @Nullable Known find(ShardId shard) {
    return shards.get(shard);
  }

  /**
   * After the index has been told: takes in what was put and removed.
   *
   * @param folded if that has changed
   */
  void changed(ShardId shard, List<Piece> put, List<Piece> removed, @Nullable Folded folded)
      throws IOException {
    Known known = shards.get(shard);
    if (known != null) {
      keep(shard, known.changed(folded == null ? known.folded() : folded.revision(), put, removed));
    } else if (!put.isEmpty()) {
      ShardIndex.Rows rows = index.latest();
      keep(shard, new Known(rows.folded(shard).revision(), rows.intents(shard)));
    }
  }

  /** After the index has been told that nothing of the shard is left. */
  void removed(ShardId shard) {
    Integer before = sizes.remove(shard);
    if (before != null) {
      shards.remove(shard);
      size -= before;
    }
  }

  private static List<Piece> without(List<Piece> pieces, Piece piece) {
    List<Piece> left = new ArrayList<>(pieces);
    left.removeIf(each -> each.extent().firstBlock() == piece.extent().firstBlock());
    return left;
  }

  private void keep(ShardId shard, Known known) {
    shards.put(shard, known);
    int count = 1;
    for (List<Piece> pieces : known.attempts().values()) {
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
