package dev.ashlar.storage.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** One file of a drive. Reads may run in parallel with each other and with one writer. */
public interface RawFile extends Closeable {
  /**
   * Writes the remaining bytes of all buffers, one behind the other, from this position on. Not
   * durable before {@link #sync}; after a failure any part of it may have reached the drive.
   */
  void write(List<ByteBuffer> buffers, long position) throws IOException;

  /**
   * Fills the buffer's remaining bytes from this position.
   *
   * @throws java.io.EOFException if the file ends before
   */
  void read(ByteBuffer target, long position) throws IOException;

  /** Makes every finished write durable. After a failure nothing may be assumed of them. */
  void sync() throws IOException;

  long size() throws IOException;
}
