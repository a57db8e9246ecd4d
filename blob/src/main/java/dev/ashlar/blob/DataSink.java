package dev.ashlar.blob;

import dev.ashlar.protocol.client.ShardData;

/** Receives bytes in order. */
public interface DataSink {
  /**
   * Takes ownership of the piece and releases it, even if this throws. Blocks while the receiver is
   * slow.
   *
   * @throws DataUnavailableException with {@link DataUnavailableException.Reason#CANCELLED} when
   *     the receiver is gone: reading stops
   */
  void accept(ShardData piece) throws DataUnavailableException, InterruptedException;
}
