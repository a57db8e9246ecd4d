package dev.ashlar.storage.drive.segment;

import dev.ashlar.storage.io.RawFile;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One segment file of the log. Its users are counted, the log itself being the first. The file is
 * reused only after the last user has released it.
 */
public final class Segment {
  private static final String PREFIX = "segment-";

  private final long id;
  private final RawFile file;
  private final AtomicInteger users = new AtomicInteger(1);
  private volatile SegmentUsage use;
  private volatile int writtenBytes;

  Segment(long id, RawFile file, SegmentUsage use, int writtenBytes) {
    this.id = id;
    this.file = file;
    this.use = use;
    this.writtenBytes = writtenBytes;
  }

  public static String fileName(long id) {
    return PREFIX + String.format("%016x", id);
  }

  public static boolean isSegment(String fileName) {
    return fileName.startsWith(PREFIX);
  }

  static long idOf(String fileName) {
    return Long.parseUnsignedLong(fileName, PREFIX.length(), fileName.length(), 16);
  }

  public long id() {
    return id;
  }

  @Override
  public String toString() {
    return fileName(id);
  }

  public RawFile file() {
    return file;
  }

  public SegmentUsage use() {
    return use;
  }

  /** Called by the log writer only, after the index has been updated. */
  public void setUse(SegmentUsage now) {
    use = now;
  }

  /**
   * How many bytes from the beginning of the file are known to be written. The rest may only be
   * allocated: it is read as zeros, and a sync of its first write also costs a write to the journal
   * of the file system.
   */
  public int writtenBytes() {
    return writtenBytes;
  }

  /** Called by the log writer only, after it has synced everything up to this offset. */
  public void setWritten(int end) {
    writtenBytes = Math.max(writtenBytes, end);
  }

  /** False if the file is already being recycled. */
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

  /** True for the last user, which has to recycle the file. */
  boolean release() {
    return users.decrementAndGet() == 0;
  }
}
