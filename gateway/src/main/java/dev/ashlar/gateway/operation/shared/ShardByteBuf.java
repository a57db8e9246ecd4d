package dev.ashlar.gateway.operation.shared;

import dev.ashlar.protocol.client.ShardData;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;

/** A Netty buffer over the bytes of a shard, without a copy. Its last release releases them. */
public final class ShardByteBuf extends UnpooledDirectByteBuf {
  private final ShardData data;

  /**
   * @param data owned by this buffer
   */
  public ShardByteBuf(ShardData data) {
    super(UnpooledByteBufAllocator.DEFAULT, data.bytes(), data.bytes().remaining());
    this.data = data;
  }

  @Override
  protected void deallocate() {
    super.deallocate();
    data.release();
  }
}
