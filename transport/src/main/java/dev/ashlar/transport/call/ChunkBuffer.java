package dev.ashlar.transport.call;

import dev.ashlar.protocol.memory.Slab;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.wire.FrameHeader;
import dev.ashlar.protocol.wire.Wire;
import dev.ashlar.transport.frame.ReceiveTarget;
import org.jspecify.annotations.Nullable;

/**
 * Receives the data of a connection's frames, one frame at a time, before it is copied into its
 * message. Used on the event loop.
 */
final class ChunkBuffer {
  private final SlabPool slabs;
  private @Nullable Slab slab;

  ChunkBuffer(SlabPool slabs) {
    this.slabs = slabs;
  }

  @Nullable ReceiveTarget target(FrameHeader header) {
    if (header.dataBytes() == 0) {
      return null;
    }
    Slab present = slab;
    if (present == null) {
      present = slabs.acquire(Wire.CHUNK_BYTES_MAX);
      slab = present;
    }
    return new ReceiveTarget(present, 0);
  }

  @Nullable Slab slab() {
    return slab;
  }

  void close() {
    Slab present = slab;
    slab = null;
    if (present != null) {
      present.release();
    }
  }
}
