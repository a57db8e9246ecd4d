package dev.ashlar.storage.drive.segment;

import dev.ashlar.storage.io.RawFile;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One file of the log. Users are counted, the log itself being the first: only when the last has
 * left can the file get another life.
 */
public final class Segment {
  private final long id;
  private final RawFile file;
  private final AtomicInteger users = new AtomicInteger(1);
  private volatile SegmentUsage use;

  Segment(long id, RawFile file, SegmentUsage use) {
    this.id = id;
    this.file = file;
    this.use = use;
  }

  public long id() {
    return id;
  }

  @Override
  public String toString() {
    return SegmentFiles.fileName(id);
  }

  public RawFile file() {
    return file;
  }

  public SegmentUsage use() {
    return use;
  }

  /** By the log's writer only, and not before the index says so too. */
  public void setUse(SegmentUsage now) {
    use = now;
  }

  /** False when the file is already on its way to another life. */
  boolean acquire() {
    int now = users.get();
    while (now > 0) {
      if (users.compareAndSet(now, now + 1)) {
        return true;
      }
      now = users.get();
    }
    return false;
  }

  /** True for the last user, who has to recycle the file. */
  boolean release() {
    return users.decrementAndGet() == 0;
  }
}
