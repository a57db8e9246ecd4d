package dev.ashlar.blob;

import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ModifyObject;
import java.nio.ByteBuffer;

/**
 * New bytes for a range of an object on their way to the drives; nobody sees them until they are
 * committed, then everybody sees all of them.
 */
public interface ObjectChange extends AutoCloseable {
  /**
   * Adds bytes behind those written so far; all of them are consumed before it returns. Blocks
   * while the window in flight is full.
   *
   * @throws DataUnavailableException with {@link DataUnavailableException.Reason#CONFLICT} when the
   *     object was changed in the same place meanwhile
   */
  void write(ByteBuffer bytes) throws DataUnavailableException, InterruptedException;

  /** Bytes written so far. */
  long length();

  /**
   * Waits until every byte is durable, then submits the command that makes them visible. A change
   * that was refused leaves nothing behind; one whose outcome is unknown is left to the collector.
   *
   * <p>A change that lost against another in the same stripes is tried again from the object as it
   * is then, a few times, if it is small (see {@link ObjectStore#newChange}) and the command's
   * expectations still hold. Otherwise it ends in {@link
   * dev.ashlar.protocol.message.ResultCode#CONDITIONAL_CONFLICT} or {@link
   * DataUnavailableException.Reason#CONFLICT}.
   *
   * @param command names the object and says what is expected of it: bucket, key, precondition,
   *     append, checksum. Version, offset, length and pieces are filled in. At least one byte has
   *     been written
   * @return {@link dev.ashlar.protocol.message.ResultCode#OK} with size, ETag, time and version; or
   *     why not, {@link dev.ashlar.protocol.message.ResultCode#INVALID_OFFSET} if the object is
   *     shorter than the offset, or for an append not as long
   */
  CommandResult commit(ModifyObject.Builder command)
      throws DataUnavailableException, MetadataUnavailableException, InterruptedException;

  /** Without a {@link #commit}, removes what was written. */
  @Override
  void close();
}
