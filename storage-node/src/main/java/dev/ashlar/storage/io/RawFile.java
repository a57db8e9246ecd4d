package dev.ashlar.storage.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** A file of a drive. Reads may run in parallel with each other and with one writer. */
public interface RawFile extends Closeable {
  /**
   * Writes the remaining bytes of all buffers consecutively at this position. They are durable only
   * after {@link #sync}; after a failure any part of them may have reached the drive.
   */
  void write(List<ByteBuffer> buffers, long position) throws IOException;

  /**
   * Fills the remaining part of the buffer from this position.
   *
   * @throws java.io.EOFException if the file is too short
   */
  void read(ByteBuffer target, long position) throws IOException;

  /**
   * The same for a request: what requests read repeatedly may be kept in memory, and come from
   * there. What looks for damage of the drive uses {@link #read}.
   */
  default void readForRequest(ByteBuffer target, long position) throws IOException {
    read(target, position);
  }

  /**
   * The same for any thread, if the bytes are in memory: the drive gets no I/O from the call.
   *
   * @return false if they are not in memory or cannot be read; the content of the buffer is
   *     undefined then
   */
  default boolean readCached(ByteBuffer target, long position) {
    return false;
  }

  /** Makes all completed writes durable. After a failure nothing is known about them. */
  void sync() throws IOException;

  long size() throws IOException;
}
