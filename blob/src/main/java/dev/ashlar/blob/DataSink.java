package dev.ashlar.blob;

import dev.ashlar.protocol.client.ShardData;

/** Receives bytes in order. */
public interface DataSink {
  /**
   * Takes over the piece and releases it when done with it, also when this throws. Blocks while the
   * receiver is slow.
   *
   * @throws DataUnavailableException with {@link DataUnavailableException.Reason#CANCELLED} when
   *     the receiver has gone: reading stops
   */
  void accept(ShardData piece) throws DataUnavailableException, InterruptedException;
}
