package dev.ashlar.storage.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Files whose reads or syncs, when told so, do not come back until {@link #release}. */
public final class HangingFiles implements RawFiles {
  private final RawFiles files;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private boolean holdsReads;
  private boolean holdsSyncs;
  private int hanging;

  public HangingFiles(RawFiles files) {
    this.files = files;
  }

  public void hangReads() {
    set(true, holdsSyncs);
  }

  public void hangSyncs() {
    set(holdsReads, true);
  }

  /** Everything that hangs goes on. */
  public void release() {
    set(false, false);
  }

  /** Waits until so many calls hang. */
  public void awaitHanging(int count) throws InterruptedException {
    lock.lock();
    try {
      while (hanging < count) {
        changed.await();
      }
    } finally {
      lock.unlock();
    }
  }

  private void set(boolean reads, boolean syncs) {
    lock.lock();
    try {
      holdsReads = reads;
      holdsSyncs = syncs;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void pass(boolean isRead) {
    lock.lock();
    try {
      hanging++;
      changed.signalAll();
      while (isRead ? holdsReads : holdsSyncs) {
        changed.awaitUninterruptibly();
      }
      hanging--;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public RawFile create(String name, long size) throws IOException {
    return new HangingFile(files.create(name, size));
  }

  @Override
  public RawFile open(String name) throws IOException {
    return new HangingFile(files.open(name));
  }

  @Override
  public List<String> list() throws IOException {
    return files.list();
  }

  @Override
  public void rename(String from, String to) throws IOException {
    files.rename(from, to);
  }

  @Override
  public void delete(String name) throws IOException {
    files.delete(name);
  }

  @Override
  public void syncDirectory() throws IOException {
    files.syncDirectory();
  }

  @Override
  public long usableBytes() throws IOException {
    return files.usableBytes();
  }

  private final class HangingFile implements RawFile {
    private final RawFile file;

    HangingFile(RawFile file) {
      this.file = file;
    }

    @Override
    public void write(List<ByteBuffer> buffers, long position) throws IOException {
      file.write(buffers, position);
    }

    @Override
    public void read(ByteBuffer target, long position) throws IOException {
      pass(true);
      file.read(target, position);
    }

    @Override
    public void sync() throws IOException {
      pass(false);
      file.sync();
    }

    @Override
    public long size() throws IOException {
      return file.size();
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }
}
