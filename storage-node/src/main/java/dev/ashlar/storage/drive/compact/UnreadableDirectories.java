package dev.ashlar.storage.drive.compact;

import dev.ashlar.protocol.model.BlobId;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/**
 * Segments with unreadable batch directories, and the blobs that have pieces in such batches. The
 * scrub, one thread, finds them; compaction empties them. Not stored: the next scrub pass finds
 * them again.
 */
public final class UnreadableDirectories {
  /** The next pass finds more; a drive with so many has to be replaced anyway. */
  private static final int SEGMENTS_MAX = 64;

  private final ConcurrentNavigableMap<Long, Set<BlobId>> found = new ConcurrentSkipListMap<>();

  public void add(long segment, Set<BlobId> blobs) {
    if (found.size() < SEGMENTS_MAX || found.containsKey(segment)) {
      found.put(segment, Set.copyOf(blobs));
    }
  }

  /** Removes the first segment, with the blobs in its batches without directories; or null. */
  Map.@Nullable Entry<Long, Set<BlobId>> poll() {
    return found.pollFirstEntry();
  }
}
