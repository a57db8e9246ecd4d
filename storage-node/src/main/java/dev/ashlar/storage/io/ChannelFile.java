package dev.ashlar.storage.io;

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
  private final int directReadMin;

  ChannelFile(FileChannel buffered, @Nullable FileChannel direct, int directReadMin) {
    this.buffered = buffered;
    this.direct = direct;
    this.directReadMin = directReadMin;
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
    FileChannel channel = buffered;
    if (direct != null
        && target.remaining() >= directReadMin
        && position % ALIGNMENT == 0
        && isAligned(target)) {
      channel = direct;
    }
    for (long at = position; target.hasRemaining(); ) {
      int got = channel.read(target, at);
      if (got < 0) {
        throw new EOFException("the file ends before " + (at + target.remaining()));
      }
      at += got;
    }
  }

  @Override
  public void sync() throws IOException {
    (direct != null ? direct : buffered).force(false);
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
