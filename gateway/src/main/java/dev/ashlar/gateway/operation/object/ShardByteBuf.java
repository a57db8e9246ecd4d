package dev.ashlar.gateway.operation.object;

import dev.ashlar.protocol.client.ShardData;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;

/** A Netty buffer over the bytes of a shard, without a copy. Its last release releases them. */
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
