package dev.ashlar.storage.drive;

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
 * What is not folded of the shards that changed last: reads and folds need not look for it in the
 * index, where it would be one seek per attempt. Of a shard there is all or nothing, as of the last
 * commit or, while one is being made, of the one before. Changed by the log's writer, read by any
 * thread.
 */
final class UnfoldedShards {
  /** Pieces and shards, together some MiB at most. */
  static final int SIZE_MAX = 8192;

  private final ShardIndex index;
  private final int sizeMax;
  private final Map<ShardId, Map<AttemptId, List<Piece>>> shards = new ConcurrentHashMap<>();

  /** The size of each; the one that has not changed for longest is the first. */
  private final LinkedHashMap<ShardId, Integer> sizes = new LinkedHashMap<>(16, 0.75f, true);

  private int size;

  UnfoldedShards(ShardIndex index, int sizeMax) {
    this.index = index;
    this.sizeMax = sizeMax;
  }

  /** What the attempt wrote for the shard; null if that is not known here. */
  @Nullable List<Piece> find(ShardId shard, AttemptId attempt) {
    Map<AttemptId, List<Piece>> known = shards.get(shard);
    return known == null ? null : known.get(attempt);
  }

  /** After the index has been told: takes in what was put and removed. */
  void changed(ShardId shard, List<Piece> put, List<Piece> removed) throws IOException {
    Map<AttemptId, List<Piece>> known = shards.get(shard);
    if (known != null) {
      keep(shard, changed(known, put, removed));
    } else if (!put.isEmpty()) {
      try (ShardIndex.Rows rows = index.rows()) {
        keep(shard, rows.intents(shard));
      }
    }
  }

  private static Map<AttemptId, List<Piece>> changed(
      Map<AttemptId, List<Piece>> known, List<Piece> put, List<Piece> removed) {
    Map<AttemptId, List<Piece>> changed = new HashMap<>(known);
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
    return changed;
  }

  private static List<Piece> without(List<Piece> pieces, Piece piece) {
    List<Piece> left = new ArrayList<>(pieces);
    left.removeIf(each -> each.extent().firstBlock() == piece.extent().firstBlock());
    return left;
  }

  private void keep(ShardId shard, Map<AttemptId, List<Piece>> pieces) {
    shards.put(shard, pieces);
    int count = 1 + pieces.values().stream().mapToInt(List::size).sum();
    Integer before = sizes.put(shard, count);
    size += before == null ? count : count - before;
    while (size > sizeMax) {
      Map.Entry<ShardId, Integer> eldest = sizes.pollFirstEntry();
      shards.remove(eldest.getKey());
      size -= eldest.getValue();
    }
  }
}
