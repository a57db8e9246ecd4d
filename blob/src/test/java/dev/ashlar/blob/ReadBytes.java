package dev.ashlar.blob;

import dev.ashlar.protocol.client.ShardData;
import java.io.ByteArrayOutputStream;

/** Keeps what is read. */
final class ReadBytes implements DataSink {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  @Override
  public void accept(ShardData piece) {
    byte[] bytes = new byte[piece.bytes().remaining()];
    piece.bytes().get(bytes);
    out.writeBytes(bytes);
    piece.release();
  }

  /** All so far. */
  byte[] bytes() {
    return out.toByteArray();
  }
}
