package dev.ashlar.storage.io;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A folder for far more data than the disk below it has room for: new files are holes, nothing is
 * synced, and what was never written is read as zeros without asking the operating system. Counts
 * the files that are open.
 */
public final class SparseFiles extends ForwardingFiles {
  private static final ByteBuffer ZEROS = ByteBuffer.allocateDirect(1 << 20).asReadOnlyBuffer();
  private static final long ROOM = 1L << 50;

  private final Path folder;
  private final RawFiles files;

  /** By name, up to where a new file has been written. */
  private final Map<String, AtomicLong> ends;

  private final AtomicInteger open = new AtomicInteger();
  private final AtomicInteger openMost = new AtomicInteger();

  public SparseFiles(Path folder, IoMode mode) throws IOException {
    this(folder, ChannelFiles.open(folder, mode), new ConcurrentHashMap<>());
  }

  private SparseFiles(Path folder, RawFiles files, Map<String, AtomicLong> ends) {
    super(files);
    this.folder = folder;
    this.files = files;
    this.ends = ends;
  }

  /** The same files, none of which is open. */
  public SparseFiles reopened() {
    return new SparseFiles(folder, files, ends);
  }

  /** How many files are open now. */
  public int open() {
    return open.get();
  }

  /** How many files were open at a time, at most. */
  public int openMost() {
    return openMost.get();
  }

  @Override
  public RawFile create(String name, long size) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(folder.resolve(name).toFile(), "rw")) {
      file.setLength(size);
    }
    ends.put(name, new AtomicLong());
    return open(name);
  }

  @Override
  public boolean allocate(String name, long size) {
    return false; // its holes would take space
  }

  @Override
  protected RawFile wrap(String name, RawFile file) {
    openMost.accumulateAndGet(open.incrementAndGet(), Math::max);
    return new SparseFile(file, ends.getOrDefault(name, new AtomicLong(Long.MAX_VALUE)));
  }

  @Override
  public void rename(String from, String to) throws IOException {
    super.rename(from, to);
    AtomicLong end = ends.remove(from);
    if (end != null) {
      ends.put(to, end);
    }
  }

  @Override
  public void delete(String name) throws IOException {
    super.delete(name);
    ends.remove(name);
  }

  @Override
  public void syncDirectory() {}

  @Override
  public long usableBytes() {
    return ROOM;
  }

  private final class SparseFile extends ForwardingFile {
    private final AtomicLong end;

    SparseFile(RawFile file, AtomicLong end) {
      super(file);
      this.end = end;
    }

    @Override
    public void write(List<ByteBuffer> buffers, long position) throws IOException {
      long bytes = buffers.stream().mapToLong(ByteBuffer::remaining).sum();
      end.accumulateAndGet(position + bytes, Math::max);
      super.write(buffers, position);
    }

    @Override
    public void read(ByteBuffer target, long position) throws IOException {
      if (position < end.get()) {
        super.read(target, position);
        return;
      }
      while (target.hasRemaining()) {
        target.put(ZEROS.slice(0, Math.min(target.remaining(), ZEROS.capacity())));
      }
    }

    @Override
    public void sync() {}

    @Override
    public void close() throws IOException {
      open.decrementAndGet();
      super.close();
    }
  }
}
