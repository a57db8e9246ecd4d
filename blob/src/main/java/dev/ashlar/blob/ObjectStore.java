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
   * Reads a range of an object version, in order, whole or not at all up to the point of failure:
   * every byte handed to the sink is verified or rebuilt.
   *
   * @param range within the object's size
   */
  void read(ObjectRead object, ByteRange range, DataSink sink)
      throws DataUnavailableException, InterruptedException;
}
