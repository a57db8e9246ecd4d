package dev.ashlar.storage.drive.compact;

import dev.ashlar.protocol.model.BlobId;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Segments with unreadable batch directories, and the blobs that have pieces in such batches. The
 * scrub finds them, compaction empties them. Not stored: the next scrub pass finds them again.
 */
public final class UnreadableDirectories {
  /** The next pass finds more; a drive with so many has to be replaced anyway. */
  private static final int SEGMENTS_MAX = 64;

  private final ReentrantLock lock = new ReentrantLock();
  private final TreeMap<Long, Set<BlobId>> found = new TreeMap<>();

  /** The blobs in batches of one segment without directories. */
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

  /** Removes the first segment; null if there is none. */
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
