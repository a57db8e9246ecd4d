package dev.ashlar.blob;

import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.NewBlob;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Function;

/** New data on its way to the drives; nobody sees it until its command is applied. */
public interface ObjectWriter extends AutoCloseable {
  /**
   * Adds bytes behind those written so far; all of them are consumed before it returns. Blocks
   * while the window in flight is full.
   */
  void write(ByteBuffer bytes) throws DataUnavailableException, InterruptedException;

  /** Bytes written so far. */
  long length();

  /**
   * Sends what is left to the drives and returns the MD5 of all bytes; nothing may be written
   * afterwards. It is computed together with those of other writers, see {@link
   * dev.ashlar.codec.checksum.Md5Lanes}.
   */
  byte[] md5() throws DataUnavailableException, InterruptedException;

  /**
   * Waits until every byte is durable, then submits the command that makes them visible. A command
   * that was refused leaves nothing behind; one whose outcome is unknown leaves its shards to the
   * collector.
   *
   * @param command makes the command from the blobs, in order; their lengths add up to {@link
   *     #length}; none when nothing was written
   */
  CommandResult commit(Function<List<NewBlob>, Command.Builder> command)
      throws DataUnavailableException, MetadataUnavailableException, InterruptedException;

  /** Without a {@link #commit}, removes what was written. */
  @Override
  void close();
}
