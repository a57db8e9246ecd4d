package dev.ashlar.blob;

import dev.ashlar.codec.checksum.Md5;
import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.client.ShardData;
import dev.ashlar.protocol.layout.ByteRange;

/**
 * Stores the bytes of objects on erasure-coded drives. It knows nothing of encryption: offsets and
 * lengths are those of stored bytes. Calls block a virtual thread.
 */
public interface ObjectStore {
  /**
   * Begins new data.
   *
   * @param profile the number of the profile that the data gets
   * @param expectedLength bytes that will be written, or -1 when unknown; sizes the buffers
   */
  ObjectWriter newWriter(int profile, long expectedLength);

  /** The same for data whose MD5 nobody asks for: {@link ObjectWriter#md5} throws. */
  ObjectWriter newWriterWithoutMd5(int profile, long expectedLength);

  /** Begins the MD5 of bytes that are not written as they are; the caller closes it. */
  Md5 newMd5();

  /** Begins new data of the default profile. */
  ObjectWriter newWriter(long expectedLength);

  /**
   * Begins to change a range of an object: to overwrite bytes, to append some, or both. Blobs that
   * only this object refers to are changed in place, at the cost of the touched blocks; for the
   * rest, new blobs replace the range. They have the profile of the object's last blob; those of an
   * empty object have that of its storage class.
   *
   * <p>Changes of up to a stripe (at most 1 MiB) are buffered until they are committed, and retried
   * when they lose a race.
   *
   * @param object as it is now
   * @param offset of the first byte, at most as many as are stored of the object
   * @param expectedLength bytes that will be written, or -1 when unknown; sizes the buffers
   */
  ObjectChange newChange(ObjectRead object, long offset, long expectedLength);

  /**
   * Reads a range of the stored bytes of an object version in order. Those of an encrypted object
   * are its frames. Every byte handed to the sink is verified or rebuilt.
   *
   * @param range within the stored bytes
   */
  void read(ObjectRead object, ByteRange range, DataSink sink)
      throws DataUnavailableException, InterruptedException;

  /** Receives bytes in order. */
  interface DataSink {
    /**
     * Takes ownership of the piece and releases it, even if this throws; it may overwrite the
     * bytes. Blocks while the receiver is slow.
     *
     * @throws DataUnavailableException with {@link DataUnavailableException.Reason#CANCELLED} when
     *     the receiver is gone: reading stops
     */
    void accept(ShardData piece) throws DataUnavailableException, InterruptedException;
  }
}
