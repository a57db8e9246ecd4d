package dev.ashlar.blob.write;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.protocol.message.ObjectPiece;
import java.nio.ByteBuffer;

/** Writes consecutive bytes of an object into one blob. Used by one thread. */
public interface PieceWriter {
  /** Consumes as many bytes as it has room for. */
  void write(ByteBuffer bytes) throws DataUnavailableException, InterruptedException;

  /** Remaining room in bytes. */
  long remaining();

  /** Waits until everything is durable; returns the piece with its acknowledgements. */
  ObjectPiece finish() throws DataUnavailableException, InterruptedException;

  /** Removes the written shards or intents. Only for pieces that no committed command names. */
  void discard();
}
