package dev.ashlar.transport.frame;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.DefaultMaxMessagesRecvByteBufAllocator;

/** Has the kernel write data where it belongs, and all else into small buffers. */
final class ReceiveBuffers extends DefaultMaxMessagesRecvByteBufAllocator {
  /** So often a socket is read before other connections have their turn. */
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
