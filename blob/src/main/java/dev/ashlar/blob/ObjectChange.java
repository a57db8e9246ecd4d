package dev.ashlar.blob;

import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ModifyObject;
import dev.ashlar.protocol.message.RequestOrigin;
import java.nio.ByteBuffer;

/**
 * Writes new bytes for a range of an object to the drives. They become visible all at once, when
 * they are committed.
 */
public interface ObjectChange extends AutoCloseable {
  /**
   * Appends bytes; all of them are consumed before it returns. Blocks while the window in flight is
   * full.
   *
   * @throws DataUnavailableException with {@link DataUnavailableException.Reason#CONFLICT} when the
   *     object was changed in the same place meanwhile
   */
  void write(ByteBuffer bytes) throws DataUnavailableException, InterruptedException;

  /** Says who asks for the change, which its event tells. */
  void askedBy(RequestOrigin sender);

  /** Bytes written so far. */
  long length();

  /**
   * Waits until every byte is durable, then submits the command that makes them visible. The
   * intents of a refused change are removed; if the outcome is unknown, garbage collection decides.
   *
   * <p>A change that lost a race in the same stripes is retried a few times on the new state of the
   * object, if it is small (see {@link ObjectStore#newChange}), the command names no version, and
   * its expectations still hold. Otherwise it ends in {@link
   * dev.ashlar.protocol.message.ResultCode#CONDITIONAL_CONFLICT} or {@link
   * DataUnavailableException.Reason#CONFLICT}.
   *
   * @param command names the object and says what is expected of it: bucket, key, precondition,
   *     append, checksum; of an encrypted object also its version and its plain size afterwards.
   *     Offset, length, pieces and, where new blobs need it, the version are filled in. At least
   *     one byte has been written
   * @return {@link dev.ashlar.protocol.message.ResultCode#OK} with size, ETag, time and version; or
   *     why not, {@link dev.ashlar.protocol.message.ResultCode#INVALID_OFFSET} if the object is
   *     shorter than the offset, or for an append not as long
   */
  CommandResult commit(ModifyObject.Builder command)
      throws DataUnavailableException, MetadataUnavailableException, InterruptedException;

  /** Removes the written intents unless a {@link #commit} was submitted. */
  @Override
  void close();
}
