package dev.ashlar.transport.frame;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;

/** Lets the kernel write data directly into its slab, and everything else into small buffers. */
final class ReceiveBuffers extends DefaultMaxMessagesRecvByteBufAllocator {
  /** Reads of one socket before other connections get their turn. */
  private static final int READS_MAX = 32;

  private final FrameReader reader;

  ReceiveBuffers(FrameReader reader) {
    super(READS_MAX);
    this.reader = reader;
  }

  @Override
  public ExtendedHandle newHandle() {
    return new MaxMessageHandle() {
      @Override
      public ByteBuf allocate(ByteBufAllocator allocator) {
        return reader.receiveBuffer(allocator);
      }

      @Override
      public int guess() {
        return FrameReader.READ_BYTES;
      }
    };
  }
}
