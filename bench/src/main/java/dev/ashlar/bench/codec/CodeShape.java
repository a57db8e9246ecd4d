package dev.ashlar.bench.codec;

import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;

/** A profile such as {@code 4+2}, and shards for it as the server lays them out in one slab. */
record CodeShape(int dataShards, int parityShards) {
  private static final int ALIGNMENT = 4096;

  static CodeShape parse(String profile) {
    Profile parsed = Profile.parse(profile, 0);
    return new CodeShape(parsed.dataShards(), parsed.parityShards());
  }

  int count() {
    return dataShards + parityShards;
  }

  /** With noise in the data shards and, for what is added to it, in the parity shards. */
  ByteBuffer[] shards(int shardBytes) {
    int stride = Math.ceilDiv(shardBytes, ALIGNMENT) * ALIGNMENT;
    ByteBuffer slab =
        ByteBuffer.allocateDirect(Math.addExact(Math.multiplyExact(count(), stride), ALIGNMENT))
            .alignedSlice(ALIGNMENT);
    Random random = new Random(1);
    byte[] noise = new byte[shardBytes];
    ByteBuffer[] shards = new ByteBuffer[count()];
    for (int i = 0; i < shards.length; i++) {
      random.nextBytes(noise);
      shards[i] = slab.slice(i * stride, shardBytes).put(noise).flip();
    }
    return shards;
  }

  ByteBuffer[] data(ByteBuffer[] shards) {
    return Arrays.copyOf(shards, dataShards);
  }

  ByteBuffer[] parity(ByteBuffer[] shards) {
    return Arrays.copyOfRange(shards, dataShards, shards.length);
  }

  @Override
  public String toString() {
    return dataShards + "+" + parityShards;
  }
}
