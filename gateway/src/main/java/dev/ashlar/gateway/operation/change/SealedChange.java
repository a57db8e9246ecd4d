package dev.ashlar.gateway.operation.change;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.blob.ObjectChange;
import dev.ashlar.gateway.encryption.frame.Frame;
import dev.ashlar.gateway.encryption.frame.FrameSealer;
import dev.ashlar.gateway.encryption.frame.RunMap;
import dev.ashlar.gateway.encryption.key.DataKey;
import dev.ashlar.gateway.operation.shared.Backend;
import dev.ashlar.gateway.operation.shared.ObjectContent;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.ModifyObject;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Writes new bytes for a range of an encrypted object. The frames that it touches are encrypted
 * again, with the bytes that they keep before and behind the range. It is valid only for the state
 * of the object that was read. Used by one thread.
 */
final class SealedChange implements AutoCloseable {
  private final long version;
  private final long size;
  private final byte[] behind;
  private final ObjectChange stored;
  private final FrameSealer sealer;

  /**
   * Reads the bytes that the touched frames keep.
   *
   * @param range begins at the object's end at the latest, and is not empty
   */
  SealedChange(Backend backend, ObjectContent content, DataKey key, ByteRange range)
      throws DataUnavailableException, InterruptedException {
    version = content.object().object().getVersion();
    size = Math.max(content.size(), range.end());
    RunMap runs = RunMap.of(content.object().object()).grownTo(size);
    Frame first = runs.frame(range.offset());
    Frame last = runs.frame(range.end() - 1);
    Kept kept = Kept.of(content, range, first, last);
    behind = kept.behind;
    long length = last.storedEnd() - first.storedOffset();
    long plainLength = last.plainEnd() - first.plainOffset();
    stored = backend.store().newChange(content.object(), first.storedOffset(), length);
    backend.tellOrigin(stored);
    sealer = new FrameSealer(key, runs.framesFrom(range.offset()), plainLength, stored::write);
    boolean isBegun = false;
    try {
      sealer.write(ByteBuffer.wrap(kept.before));
      isBegun = true;
    } finally {
      if (!isBegun) {
        stored.close();
      }
    }
  }

  /** The bytes of the first and the last frame that are not replaced. */
  private record Kept(byte[] before, byte[] behind) {
    static Kept of(ObjectContent content, ByteRange range, Frame first, Frame last)
        throws DataUnavailableException, InterruptedException {
      long end = Math.max(range.end(), Math.min(last.plainEnd(), content.size()));
      ByteRange before = new ByteRange(first.plainOffset(), range.offset() - first.plainOffset());
      ByteRange behind = new ByteRange(range.end(), end - range.end());
      if (before.isEmpty() || behind.isEmpty() || first.storedOffset() != last.storedOffset()) {
        return new Kept(read(content, before), read(content, behind));
      }
      byte[] whole = read(content, before.hull(behind));
      int to = (int) before.length();
      int from = (int) (behind.offset() - before.offset());
      return new Kept(Arrays.copyOf(whole, to), Arrays.copyOfRange(whole, from, whole.length));
    }

    private static byte[] read(ObjectContent content, ByteRange range)
        throws DataUnavailableException, InterruptedException {
      ByteBuffer bytes = ByteBuffer.allocate((int) range.length());
      if (!range.isEmpty()) {
        content.read(
            range,
            piece -> {
              bytes.put(piece.bytes());
              piece.release();
            });
      }
      return bytes.array();
    }
  }

  /** Appends new bytes; all of them are consumed before it returns. */
  void write(ByteBuffer bytes) throws DataUnavailableException, InterruptedException {
    sealer.write(bytes);
  }

  /**
   * Commits the change, once all new bytes are written.
   *
   * @param command as for {@link ObjectChange#commit}
   */
  CommandResult commit(ModifyObject.Builder command)
      throws DataUnavailableException, MetadataUnavailableException, InterruptedException {
    sealer.write(ByteBuffer.wrap(behind));
    sealer.finish();
    return stored.commit(
        command.clone().setAppend(false).setExpectedVersion(version).setPlainSize(size));
  }

  /** Removes what was written, unless it was committed. */
  @Override
  public void close() {
    stored.close();
  }
}
