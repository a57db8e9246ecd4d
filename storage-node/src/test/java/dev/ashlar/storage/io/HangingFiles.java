package dev.ashlar.storage.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Files whose reads or syncs, when told so, do not come back until {@link #release}. */
public final class HangingFiles extends ForwardingFiles {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private boolean holdsReads;
  private boolean holdsSyncs;
  private int hanging;

  public HangingFiles(RawFiles files) {
    super(files);
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
  protected RawFile wrap(String name, RawFile file) {
    return new HangingFile(file);
  }

  private final class HangingFile extends ForwardingFile {
    HangingFile(RawFile file) {
      super(file);
    }

    @Override
    public void read(ByteBuffer target, long position) throws IOException {
      pass(true);
      super.read(target, position);
    }

    @Override
    public void sync() throws IOException {
      pass(false);
      super.sync();
    }
  }
}
