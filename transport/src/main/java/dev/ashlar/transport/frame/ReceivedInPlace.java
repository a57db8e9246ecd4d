package dev.ashlar.transport.frame;

import dev.ashlar.protocol.memory.Slab;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledUnsafeDirectByteBuf;

/** A part of a slab that the kernel writes received data into. */
final class ReceivedInPlace extends UnpooledUnsafeDirectByteBuf {
  private final Slab slab;

  ReceivedInPlace(ByteBufAllocator allocator, Slab slab, int offset, int length) {
    super(allocator, slab.slice(offset, length), length);
    this.slab = slab.retain();
    clear();
  }

  @Override
  protected void deallocate() {
    super.deallocate();
    slab.release();
  }
}
