package dev.ashlar.bench.engine;

import dev.ashlar.storage.io.RawFile;
import dev.ashlar.storage.io.RawFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The files of a drive that does one read or write after the other, each in the time that its rate
 * gives it, or longer if the drive below takes longer. Syncs take no time of it, as on drives with
 * capacitors.
 */
final class PacedFiles implements RawFiles {
  private static final long FILL_BYTES = 1 << 20;

  private final RawFiles files;
  private final DriveRate rate;
  private final AtomicLong busyUntilNanos = new AtomicLong(System.nanoTime());

  PacedFiles(RawFiles files, DriveRate rate) {
    this.files = files;
    this.rate = rate;
  }

  /** Takes its turn; returns when that ends. */
  private long reserve(long bytes) {
    long nanos = rate.nanos(bytes);
    return busyUntilNanos.accumulateAndGet(
        nanos, (until, more) -> Math.max(until, System.nanoTime()) + more);
  }

  private void awaitEnd(long nanoTime) {
    for (long left = nanoTime - System.nanoTime(); left > 0; left = nanoTime - System.nanoTime()) {
      LockSupport.parkNanos(this, left);
    }
  }

  @Override
  public RawFile create(String name, long size) throws IOException {
    // It is filled with zeros, piece by piece, between which others have their turns.
    for (long at = 0; at < size; at += FILL_BYTES) {
      awaitEnd(reserve(Math.min(FILL_BYTES, size - at)));
    }
    return new PacedFile(files.create(name, size));
  }

  @Override
  public RawFile open(String name) throws IOException {
    return new PacedFile(files.open(name));
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

  private final class PacedFile implements RawFile {
    private final RawFile file;

    PacedFile(RawFile file) {
      this.file = file;
    }

    @Override
    public void write(List<ByteBuffer> buffers, long position) throws IOException {
      long end = reserve(buffers.stream().mapToLong(ByteBuffer::remaining).sum());
      file.write(buffers, position);
      awaitEnd(end);
    }

    @Override
    public void read(ByteBuffer target, long position) throws IOException {
      long end = reserve(target.remaining());
      file.read(target, position);
      awaitEnd(end);
    }

    @Override
    public void sync() throws IOException {
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
