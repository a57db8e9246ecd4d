package dev.ashlar.storage.io;

import dev.ashlar.codec.isal.NativeFile;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A file of the operating system: a channel through the page cache and optionally a second one that
 * bypasses it for I/O aligned to 4 KiB.
 */
final class ChannelFile implements RawFile {
  static final int ALIGNMENT = 4096;

  private final FileChannel buffered;
  private final @Nullable FileChannel direct;
  private final IoMode mode;
  private final @Nullable NativeFile cached;
  private final LongReads longReads;
  private final int nameHash;

  /**
   * @param cached what the page cache has of the file, if that is to be used
   * @param longReads those of all files of the drive
   * @param nameHash of the file's name
   */
  ChannelFile(
      FileChannel buffered,
      @Nullable FileChannel direct,
      IoMode mode,
      @Nullable NativeFile cached,
      LongReads longReads,
      int nameHash) {
    this.buffered = buffered;
    this.direct = direct;
    this.mode = mode;
    this.cached = cached;
    this.longReads = longReads;
    this.nameHash = nameHash;
  }

  @Override
  public void write(List<ByteBuffer> buffers, long position) throws IOException {
    FileChannel channel = direct != null && areAligned(buffers, position) ? direct : buffered;
    if (buffers.size() == 1) {
      ByteBuffer only = buffers.getFirst();
      for (long at = position; only.hasRemaining(); ) {
        at += channel.write(only, at);
      }
      return;
    }
    ByteBuffer[] gathered = buffers.toArray(ByteBuffer[]::new);
    channel.position(position);
    for (int first = 0; first < gathered.length; ) {
      channel.write(gathered, first, gathered.length - first);
      while (first < gathered.length && !gathered[first].hasRemaining()) {
        first++;
      }
    }
  }

  @Override
  public void read(ByteBuffer target, long position) throws IOException {
    read(mayBypass(target, position) ? direct : null, target, position);
  }

  @Override
  public void readForRequest(ByteBuffer target, long position) throws IOException {
    boolean bypasses =
        mayBypass(target, position)
            && (mode == IoMode.DIRECT || !longReads.isRepeated(nameHash, position));
    read(bypasses ? direct : null, target, position);
  }

  /** Whether the page cache may be left out; if not, the read needs or prefers it. */
  private boolean mayBypass(ByteBuffer target, long position) {
    return direct != null
        && position % ALIGNMENT == 0
        && isAligned(target)
        && (mode == IoMode.DIRECT || target.remaining() > IoMode.SMALL_READ_BYTES);
  }

  private void read(@Nullable FileChannel preferred, ByteBuffer target, long position)
      throws IOException {
    FileChannel channel = preferred == null ? buffered : preferred;
    for (long at = position; target.hasRemaining(); ) {
      int got = channel.read(target, at);
      if (got < 0) {
        throw new EOFException("the file ends before " + (at + target.remaining()));
      }
      at += got;
    }
  }

  @Override
  public boolean readCached(ByteBuffer target, long position) {
    return cached != null && cached.read(target, position);
  }

  @Override
  public void sync() throws IOException {
    (direct != null ? direct : buffered).force(false);
    checkFileSystem();
  }

  /**
   * Fails if the file system has been shut down. When ext4 or XFS shuts down, a sync of blocks that
   * were allocated but never written may succeed although the journal, which notes that they are
   * written now, gave up. The file system marks itself as shut down before that can happen. Each
   * read looks at the mark first; this one then meets the end of the file, and nothing is read.
   */
  private void checkFileSystem() throws IOException {
    if (buffered.read(ByteBuffer.allocate(1), buffered.size()) > 0) {
      throw new IOException("the file became longer while it was synced");
    }
  }

  @Override
  public long size() throws IOException {
    return buffered.size();
  }

  @Override
  public void close() throws IOException {
    try (direct) {
      buffered.close();
    }
  }

  private static boolean areAligned(List<ByteBuffer> buffers, long position) {
    if (position % ALIGNMENT != 0) {
      return false;
    }
    for (int i = 0; i < buffers.size(); i++) {
      if (!isAligned(buffers.get(i))) {
        return false;
      }
    }
    return true;
  }

  private static boolean isAligned(ByteBuffer buffer) {
    return buffer.isDirect()
        && buffer.remaining() % ALIGNMENT == 0
        && buffer.alignmentOffset(buffer.position(), ALIGNMENT) == 0;
  }
}
