package dev.ashlar.bench.codec;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;

/** A profile such as {@code 4+2}, and shards for it as the server lays them out in one slab. */
record CodeShape(int dataShards, int parityShards) {
  private static final int ALIGNMENT = 4096;

  static CodeShape parse(String profile) {
    int plus = profile.indexOf('+');
    return new CodeShape(
        Integer.parseInt(profile, 0, plus, 10),
        Integer.parseInt(profile, plus + 1, profile.length(), 10));
  }

  ByteBuffer[] shards(int shardBytes) {
    int count = dataShards + parityShards;
    ByteBuffer slab =
        ByteBuffer.allocateDirect(count * shardBytes + ALIGNMENT).alignedSlice(ALIGNMENT);
    Random random = new Random(1);
    byte[] noise = new byte[shardBytes];
    ByteBuffer[] shards = new ByteBuffer[count];
    for (int i = 0; i < count; i++) {
      random.nextBytes(noise);
      shards[i] = slab.slice(i * shardBytes, shardBytes).put(noise).flip();
    }
    return shards;
  }

  ByteBuffer[] data(ByteBuffer[] shards) {
    return Arrays.copyOf(shards, dataShards);
  }

  ByteBuffer[] parity(ByteBuffer[] shards) {
    return Arrays.copyOfRange(shards, dataShards, shards.length);
  }
}
