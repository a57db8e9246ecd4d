package dev.ashlar.blob;

import dev.ashlar.protocol.client.ObjectRead;
import dev.ashlar.protocol.layout.ByteRange;

/** Object bytes on erasure-coded drives, as the gateway sees them. Calls block a virtual thread. */
public interface ObjectStore {
  /**
   * Begins new data.
   *
   * @param expectedLength bytes that will be written, or -1 when unknown; sizes the buffers
   */
  ObjectWriter newWriter(long expectedLength);

  /**
   * Begins to change a range of an object: to overwrite bytes, to append some, or both. Where the
   * object is the only one to refer to its blobs they are changed in place, at the price that the
   * touched blocks demand; elsewhere new blobs take the place of the range.
   *
   * <p>Changes of up to a stripe (at most 1 MiB) are held back until they are committed, and are
   * tried again when they lose a race.
   *
   * @param object as it is now
   * @param offset of the first byte, at most the object's size
   * @param expectedLength bytes that will be written, or -1 when unknown; sizes the buffers
   */
  ObjectChange newChange(ObjectRead object, long offset, long expectedLength);

  /**
   * Reads a range of an object version, in order, whole or not at all up to the point of failure:
   * every byte handed to the sink is verified or rebuilt.
   *
   * @param range within the object's size
   */
  void read(ObjectRead object, ByteRange range, DataSink sink)
      throws DataUnavailableException, InterruptedException;
}
