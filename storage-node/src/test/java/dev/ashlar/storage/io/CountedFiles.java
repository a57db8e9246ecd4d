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
public final class CountedFiles extends ForwardingFiles {
  private final AtomicInteger open = new AtomicInteger();
  private final AtomicInteger openMost = new AtomicInteger();
  private final AtomicInteger refusals = new AtomicInteger();
  private final Map<String, AtomicInteger> openByName = new ConcurrentHashMap<>();
  private final Queue<String> misuses = new ConcurrentLinkedQueue<>();
  private volatile int limit = Integer.MAX_VALUE;
  private volatile Consumer<String> onRead = name -> {};
  private volatile Runnable onClose = () -> {};

  public CountedFiles(RawFiles files) {
    super(files);
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

  private void take() throws TooManyOpenFilesException {
    if (open.incrementAndGet() > limit) {
      open.decrementAndGet();
      refusals.incrementAndGet();
      throw new TooManyOpenFilesException("Too many open files (planned)");
    }
    openMost.accumulateAndGet(open.get(), Math::max);
  }

  /** What a file is made by, or found. */
  private interface Opening {
    RawFile open() throws IOException;
  }

  @Override
  protected RawFile wrap(String name, RawFile file) {
    openCount(name).incrementAndGet();
    return new CountedFile(name, file);
  }

  private RawFile take(Opening opening) throws IOException {
    take();
    try {
      return opening.open();
    } catch (IOException | RuntimeException e) {
      open.decrementAndGet();
      throw e;
    }
  }

  @Override
  public RawFile create(String name, long size) throws IOException {
    return take(() -> super.create(name, size));
  }

  @Override
  public boolean allocate(String name, long size) throws IOException {
    take();
    try {
      return super.allocate(name, size);
    } finally {
      open.decrementAndGet();
    }
  }

  @Override
  public RawFile open(String name) throws IOException {
    return take(() -> super.open(name));
  }

  @Override
  public List<String> list() throws IOException {
    take();
    try {
      return super.list();
    } finally {
      open.decrementAndGet();
    }
  }

  @Override
  public void syncDirectory() throws IOException {
    take();
    try {
      super.syncDirectory();
    } finally {
      open.decrementAndGet();
    }
  }

  private final class CountedFile extends ForwardingFile {
    private final String name;
    private final AtomicBoolean isClosed = new AtomicBoolean();
    private final AtomicInteger users = new AtomicInteger();
    private volatile boolean isUnsynced;

    CountedFile(String name, RawFile file) {
      super(file);
      this.name = name;
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
        super.write(buffers, position);
      } finally {
        users.decrementAndGet();
      }
    }

    @Override
    public void read(ByteBuffer target, long position) throws IOException {
      enter();
      try {
        onRead.accept(name);
        super.read(target, position);
      } finally {
        users.decrementAndGet();
      }
    }

    @Override
    public void sync() throws IOException {
      enter();
      try {
        super.sync();
        isUnsynced = false;
      } finally {
        users.decrementAndGet();
      }
    }

    @Override
    public long size() throws IOException {
      enter();
      try {
        return super.size();
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
      super.close();
      onClose.run();
    }
  }
}
