package dev.ashlar.storage.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Limits the number of open files. Files are opened on demand, and the ones unused for longest are
 * closed for others ("second chance"). A file stays open while it is read, and between a write and
 * its sync: syncing a file that was closed in between might miss a failed write. Files are not
 * renamed while in use. Thread-safe; a file has one writer.
 */
public final class BoundedFiles extends ForwardingFiles {
  private static final Logger LOG = LoggerFactory.getLogger(BoundedFiles.class);
  private static final int CLOSED = -1;

  private final RawFiles files;
  private final int max;
  private final ReentrantLock lock = new ReentrantLock();

  /** Open files, guarded by the lock; the first is checked next. */
  private final ArrayDeque<BoundedFile> open = new ArrayDeque<>();

  /**
   * @param max limit for open files, not counting those in use
   */
  public BoundedFiles(RawFiles files, int max) {
    super(files);
    if (max < 1) {
      throw new IllegalArgumentException("at most " + max + " open files");
    }
    this.files = files;
    this.max = max;
  }

  @Override
  public RawFile create(String name, long size) throws IOException {
    try {
      return super.create(name, size);
    } catch (TooManyOpenFilesException e) {
      closeIdle();
      return super.create(name, size);
    }
  }

  @Override
  public boolean allocate(String name, long size) throws IOException {
    try {
      return super.allocate(name, size);
    } catch (TooManyOpenFilesException e) {
      closeIdle();
      return super.allocate(name, size);
    }
  }

  /** Does not open the file yet. */
  @Override
  public RawFile open(String name) {
    return new BoundedFile(name);
  }

  @Override
  public void syncDirectory() throws IOException {
    try {
      super.syncDirectory();
    } catch (TooManyOpenFilesException e) {
      closeIdle();
      super.syncDirectory();
    }
  }

  private void closeIdle() {
    lock.lock();
    try {
      evict(0);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Requires the lock. Closes files until the limit is met or the rest is in use, first those
   * unused since the last check.
   */
  private void evict(int left) {
    for (int looks = 2 * open.size(); looks > 0 && open.size() > left; looks--) {
      BoundedFile next = open.removeFirst();
      boolean isSpared = looks > open.size() + 1 && next.wasUsedSinceLook();
      if (isSpared || !next.closeIfIdle()) {
        open.addLast(next);
      }
    }
  }

  private final class BoundedFile implements RawFile {
    private final String name;

    /** Number of users, or {@link #CLOSED}. */
    private final AtomicInteger pins = new AtomicInteger(CLOSED);

    private volatile @Nullable RawFile file;
    private volatile boolean wasUsed;
    private volatile boolean isOver;

    /** Used by the writer only: whether unsynced writes keep the file open. */
    private boolean isUnsynced;

    BoundedFile(String name) {
      this.name = name;
    }

    /** Opens the file if necessary and keeps it open until {@link #unpin}. */
    private RawFile pin() throws IOException {
      if (!pinIfOpen()) {
        openPinned();
      }
      return present();
    }

    /** False if it is not open. */
    private boolean pinIfOpen() {
      for (int now = pins.get(); now >= 0; now = pins.get()) {
        if (pins.compareAndSet(now, now + 1)) {
          if (!wasUsed) {
            wasUsed = true;
          }
          return true;
        }
      }
      return false;
    }

    /** While it is pinned only its user closes it. */
    private RawFile present() throws IOException {
      RawFile present = file;
      if (present == null) {
        throw closed();
      }
      return present;
    }

    private IOException closed() {
      return new IOException(name + " is closed");
    }

    private void unpin() {
      pins.decrementAndGet();
    }

    private void openPinned() throws IOException {
      lock.lock();
      try {
        if (isOver) {
          throw closed();
        }
        if (pins.get() >= 0) {
          pins.incrementAndGet(); // closing requires the lock
          return;
        }
        evict(max - 1);
        file = openNow();
        open.addLast(this);
        pins.set(1);
      } finally {
        lock.unlock();
      }
    }

    /** Requires the lock. */
    private RawFile openNow() throws FileNotOpenedException {
      try {
        return tryOpen();
      } catch (TooManyOpenFilesException e) {
        evict(0);
        return tryOpen();
      }
    }

    private RawFile tryOpen() throws FileNotOpenedException {
      try {
        return files.open(name);
      } catch (IOException e) {
        throw FileNotOpenedException.of(name, e);
      }
    }

    /** Requires the lock. */
    boolean wasUsedSinceLook() {
      boolean was = wasUsed;
      wasUsed = false;
      return was;
    }

    /** Requires the lock. */
    boolean closeIfIdle() {
      if (!pins.compareAndSet(0, CLOSED)) {
        return false;
      }
      try {
        closeNow();
      } catch (IOException e) {
        LOG.debug("Closing {} failed; all of its writes had been synced", name, e);
      }
      return true;
    }

    private void closeNow() throws IOException {
      RawFile present = file;
      file = null;
      if (present != null) {
        present.close();
      }
    }

    @Override
    public void write(List<ByteBuffer> buffers, long position) throws IOException {
      RawFile pinned = pin();
      if (isUnsynced) {
        unpin(); // the first write since the last sync holds a pin already
      }
      isUnsynced = true;
      pinned.write(buffers, position);
    }

    @Override
    public void read(ByteBuffer target, long position) throws IOException {
      RawFile pinned = pin();
      try {
        pinned.read(target, position);
      } finally {
        unpin();
      }
    }

    @Override
    public void readForRequest(ByteBuffer target, long position) throws IOException {
      RawFile pinned = pin();
      try {
        pinned.readForRequest(target, position);
      } finally {
        unpin();
      }
    }

    /** False also if the file would have to be opened. */
    @Override
    public boolean readCached(ByteBuffer target, long position) {
      if (!pinIfOpen()) {
        return false;
      }
      try {
        RawFile pinned = file;
        return pinned != null && pinned.readCached(target, position);
      } finally {
        unpin();
      }
    }

    @Override
    public void sync() throws IOException {
      RawFile pinned = pin();
      try {
        pinned.sync();
        if (isUnsynced) {
          isUnsynced = false;
          unpin();
        }
      } finally {
        unpin();
      }
    }

    @Override
    public long size() throws IOException {
      RawFile pinned = pin();
      try {
        return pinned.size();
      } finally {
        unpin();
      }
    }

    @Override
    public void close() throws IOException {
      lock.lock();
      try {
        isOver = true;
        if (pins.getAndSet(CLOSED) >= 0) {
          open.remove(this);
          closeNow();
        }
      } finally {
        lock.unlock();
      }
    }
  }
}
