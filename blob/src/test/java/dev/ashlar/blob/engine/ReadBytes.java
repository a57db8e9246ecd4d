package dev.ashlar.blob.engine;

import dev.ashlar.blob.ObjectStore.DataSink;
import dev.ashlar.protocol.client.ShardData;
import java.io.ByteArrayOutputStream;

/** Keeps what is read. */
public final class ReadBytes implements DataSink {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  @Override
  public void accept(ShardData piece) {
    byte[] bytes = new byte[piece.bytes().remaining()];
    piece.bytes().get(bytes);
    out.writeBytes(bytes);
    piece.release();
  }

  /** All so far. */
  public byte[] bytes() {
    return out.toByteArray();
  }
}
