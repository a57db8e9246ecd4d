package dev.ashlar.codec.isal;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads what the page cache has of a file, without any I/O of the drive. Needs Linux 6.5 for files
 * that are not on tmpfs. Unlike reads of the channel, these may run on a virtual thread and on an
 * interrupted one. The caller keeps the channel open meanwhile.
 */
public final class NativeFile {
  private final int descriptor;
  private final boolean isInMemory;

  private NativeFile(int descriptor, boolean isInMemory) {
    this.descriptor = descriptor;
    this.isInMemory = isInMemory;
  }

  /**
   * The file of an open channel; null if this system cannot tell what is cached.
   *
   * @param isInMemory whether its file system has no drive, so that all of it is in memory
   */
  public static @Nullable NativeFile of(FileChannel channel, boolean isInMemory) {
    int descriptor = NativeLibrary.failure() == null ? NativeMethods.descriptor(channel) : -1;
    return descriptor < 0 ? null : new NativeFile(descriptor, isInMemory);
  }

  /**
   * Fills the remaining part of a direct buffer from this position of the file.
   *
   * @return false if not all of it is cached, or the read failed; part of the buffer may have
   *     changed then
   */
  public boolean read(ByteBuffer direct, long offset) {
    int position = direct.position();
    int length = direct.limit() - position;
    if (!direct.isDirect() || direct.isReadOnly()) {
      throw new IllegalArgumentException("not a direct buffer that can be written");
    }
    Objects.checkFromIndexSize(position, length, direct.capacity());
    int got = NativeMethods.readCached(descriptor, isInMemory, direct, position, length, offset);
    if (got != length) {
      return false;
    }
    direct.position(direct.limit());
    return true;
  }
}
