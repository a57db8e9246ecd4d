package dev.ashlar.gateway.auth;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/** Processes a buffer in slices and yields between them. */
final class Slices {
  private static final int SLICE_BYTES = 256 << 10;

  private Slices() {}

  // Virtual threads are not preempted: without the yield, others would wait for a whole buffer.
  @SuppressWarnings("ThreadPriorityCheck")
  static void forEach(ByteBuf piece, Consumer<ByteBuffer> work) {
    for (ByteBuffer whole : piece.nioBuffers()) {
      for (int at = 0; at < whole.limit(); at += SLICE_BYTES) {
        if (at > 0) {
          Thread.yield();
        }
        work.accept(whole.slice(at, Math.min(SLICE_BYTES, whole.limit() - at)));
      }
    }
  }
}
