package dev.ashlar.blob;

import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.NewBlob;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Function;

/** Writes new data to the drives; it becomes visible when its command is applied. */
public interface ObjectWriter extends AutoCloseable {
  /**
   * Appends bytes; all of them are consumed before it returns. Blocks while the window in flight is
   * full.
   */
  void write(ByteBuffer bytes) throws DataUnavailableException, InterruptedException;

  /** Bytes written so far. */
  long length();

  /**
   * Sends the remaining bytes to the drives and returns the MD5 of all bytes; nothing may be
   * written afterwards. The MD5s of several writers are computed together, see {@link
   * dev.ashlar.codec.checksum.Md5Lanes}.
   *
   * @throws IllegalStateException if the writer was begun without MD5
   */
  byte[] md5() throws DataUnavailableException, InterruptedException;

  /**
   * Sends the remaining bytes to the drives and waits until all bytes are durable; nothing may be
   * written afterwards.
   */
  void finish() throws DataUnavailableException, InterruptedException;

  /**
   * Waits until every byte is durable, then submits the command that makes them visible. The shards
   * of a refused command are removed; if the outcome is unknown, garbage collection decides.
   *
   * @param command makes the command from the blobs, in order; their lengths add up to {@link
   *     #length}; none when nothing was written
   */
  CommandResult commit(Function<List<NewBlob>, Command.Builder> command)
      throws DataUnavailableException, MetadataUnavailableException, InterruptedException;

  /** Removes the written shards unless a {@link #commit} was submitted. */
  @Override
  void close();
}
