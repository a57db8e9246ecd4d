package dev.ashlar.storage.drive.compact;

import dev.ashlar.protocol.model.BlobId;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Segments with batches whose directories cannot be read, and of which blobs the index has pieces
 * in such batches: the scrub finds them, compaction empties the segments. Not kept over a restart:
 * the next pass finds them again.
 */
public final class UnreadableDirectories {
  /** More are found by the next pass: a drive that has so many has to be replaced anyway. */
  private static final int SEGMENTS_MAX = 64;

  private final ReentrantLock lock = new ReentrantLock();
  private final TreeMap<Long, Set<BlobId>> found = new TreeMap<>();

  /** What lies in batches of one segment without their directories. */
  record Lost(long segment, Set<BlobId> blobs) {}

  public void add(long segment, Set<BlobId> blobs) {
    lock.lock();
    try {
      if (found.size() < SEGMENTS_MAX || found.containsKey(segment)) {
        found.put(segment, Set.copyOf(blobs));
      }
    } finally {
      lock.unlock();
    }
  }

  /** Takes that of the first segment; null: there is none. */
  @Nullable Lost poll() {
    lock.lock();
    try {
      Map.Entry<Long, Set<BlobId>> first = found.pollFirstEntry();
      return first == null ? null : new Lost(first.getKey(), first.getValue());
    } finally {
      lock.unlock();
    }
  }
}
