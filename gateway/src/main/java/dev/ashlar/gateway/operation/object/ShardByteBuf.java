package dev.ashlar.gateway.operation.object;

import dev.ashlar.protocol.client.ShardData;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;

/** Bytes of a drive as Netty sends them, without a copy; the last release gives them back. */
final class ShardByteBuf extends UnpooledDirectByteBuf {
  private final ShardData data;

  ShardByteBuf(ShardData data) {
    super(UnpooledByteBufAllocator.DEFAULT, data.bytes(), data.bytes().remaining());
    this.data = data;
  }

  @Override
  protected void deallocate() {
    super.deallocate();
    data.release();
  }
}
