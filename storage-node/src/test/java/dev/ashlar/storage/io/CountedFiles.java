package dev.ashlar.storage.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Files of which only so many may be open at a time, as in a process with a limit of descriptors.
 * Counts them, and notes what must not be done with them.
 */
public final class CountedFiles implements RawFiles {
  private final RawFiles files;
  private final AtomicInteger open = new AtomicInteger();
  private final AtomicInteger openMost = new AtomicInteger();
  private final AtomicInteger refusals = new AtomicInteger();
  private final Map<String, AtomicInteger> openByName = new ConcurrentHashMap<>();
  private final Queue<String> misuses = new ConcurrentLinkedQueue<>();
  private volatile int limit = Integer.MAX_VALUE;
  private volatile Consumer<String> onRead = name -> {};
  private volatile Runnable onClose = () -> {};

  public CountedFiles(RawFiles files) {
    this.files = files;
  }

  /** From now on no file is opened while so many are open. */
  public void limit(int newLimit) {
    limit = newLimit;
  }

  /** Called within each read, with the name of the file. */
  void onRead(Consumer<String> action) {
    onRead = action;
  }

  /** Called once a file has been closed. */
  void onClose(Runnable action) {
    onClose = action;
  }

  public int open() {
    return open.get();
  }

  public int openMost() {
    return openMost.get();
  }

  /** How often nothing could be opened because of the limit. */
  public int refusals() {
    return refusals.get();
  }

  boolean isOpen(String name) {
    return openCount(name).get() > 0;
  }

  /** Files that were closed twice, while they were in use, or with writes that were not synced. */
  public List<String> misuses() {
    return List.copyOf(misuses);
  }

  private AtomicInteger openCount(String name) {
    return openByName.computeIfAbsent(name, any -> new AtomicInteger());
  }

  private void take() throws NoFilesException {
    if (open.incrementAndGet() > limit) {
      open.decrementAndGet();
      refusals.incrementAndGet();
      throw new NoFilesException("Too many open files (planned)");
    }
    openMost.accumulateAndGet(open.get(), Math::max);
  }

  /** What a file is made by, or found. */
  private interface Opening {
    RawFile open() throws IOException;
  }

  private RawFile take(String name, Opening opening) throws IOException {
    take();
    try {
      RawFile file = opening.open();
      openCount(name).incrementAndGet();
      return new CountedFile(name, file);
    } catch (IOException | RuntimeException e) {
      open.decrementAndGet();
      throw e;
    }
  }

  @Override
  public RawFile create(String name, long size) throws IOException {
    return take(name, () -> files.create(name, size));
  }

  @Override
  public RawFile open(String name) throws IOException {
    return take(name, () -> files.open(name));
  }

  @Override
  public long size(String name) throws IOException {
    return files.size(name);
  }

  @Override
  public List<String> list() throws IOException {
    take();
    try {
      return files.list();
    } finally {
      open.decrementAndGet();
    }
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
    take();
    try {
      files.syncDirectory();
    } finally {
      open.decrementAndGet();
    }
  }

  @Override
  public long usableBytes() throws IOException {
    return files.usableBytes();
  }

  private final class CountedFile implements RawFile {
    private final String name;
    private final RawFile file;
    private final AtomicBoolean isClosed = new AtomicBoolean();
    private final AtomicInteger users = new AtomicInteger();
    private volatile boolean isUnsynced;

    CountedFile(String name, RawFile file) {
      this.name = name;
      this.file = file;
    }

    private void enter() throws ClosedChannelException {
      users.incrementAndGet();
      if (isClosed.get()) {
        users.decrementAndGet();
        throw new ClosedChannelException();
      }
    }

    @Override
    public void write(List<ByteBuffer> buffers, long position) throws IOException {
      enter();
      try {
        isUnsynced = true;
        file.write(buffers, position);
      } finally {
        users.decrementAndGet();
      }
    }

    @Override
    public void read(ByteBuffer target, long position) throws IOException {
      enter();
      try {
        onRead.accept(name);
        file.read(target, position);
      } finally {
        users.decrementAndGet();
      }
    }

    @Override
    public void sync() throws IOException {
      enter();
      try {
        file.sync();
        isUnsynced = false;
      } finally {
        users.decrementAndGet();
      }
    }

    @Override
    public long size() throws IOException {
      enter();
      try {
        return file.size();
      } finally {
        users.decrementAndGet();
      }
    }

    @Override
    public void close() throws IOException {
      if (isClosed.getAndSet(true)) {
        misuses.add(name + " was closed twice");
        return;
      }
      if (users.get() > 0) {
        misuses.add(name + " was closed while it was in use");
      }
      if (isUnsynced) {
        misuses.add(name + " was closed before it was synced");
      }
      open.decrementAndGet();
      openCount(name).decrementAndGet();
      file.close();
      onClose.run();
    }
  }
}
