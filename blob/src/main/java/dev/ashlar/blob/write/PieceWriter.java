package dev.ashlar.blob.write;

import dev.ashlar.blob.DataUnavailableException;
import dev.ashlar.protocol.message.ObjectPiece;
import java.nio.ByteBuffer;

/** Writes consecutive bytes of an object into one blob. Used by one thread. */
public interface PieceWriter {
  /** Takes as many bytes as it has room for. */
  void write(ByteBuffer bytes) throws DataUnavailableException, InterruptedException;

  /** Bytes it has room for. */
  long remaining();

  /** Waits until everything is durable and tells who holds what. */
  ObjectPiece finish() throws DataUnavailableException, InterruptedException;

  /** Removes what reached the drives. It was refused, or never proposed, so nobody refers to it. */
  void discard();
}
