package dev.ashlar.codec;

import java.nio.ByteBuffer;
import java.util.Random;

/** Random shards for tests, at odd addresses. */
final class Shards {
  private Shards() {}

  static ByteBuffer[] random(Random random, int count, int length) {
    ByteBuffer[] shards = empty(random, count, length);
    for (ByteBuffer shard : shards) {
      byte[] bytes = new byte[length];
      random.nextBytes(bytes);
      shard.duplicate().put(bytes);
    }
    return shards;
  }

  /** Filled with noise, so that a code that writes nothing is found out. */
  static ByteBuffer[] empty(Random random, int count, int length) {
    ByteBuffer[] shards = new ByteBuffer[count];
    for (int i = 0; i < count; i++) {
      int before = random.nextInt(70);
      ByteBuffer buffer = ByteBuffer.allocateDirect(before + length + 70);
      byte[] noise = new byte[buffer.capacity()];
      random.nextBytes(noise);
      buffer.put(noise);
      shards[i] = buffer.position(before).limit(before + length);
    }
    return shards;
  }

  static byte[] bytes(ByteBuffer shard) {
    byte[] bytes = new byte[shard.remaining()];
    shard.duplicate().get(bytes);
    return bytes;
  }

  /** What lies outside position and limit. */
  static ByteBuffer[] surroundings(ByteBuffer shard) {
    ByteBuffer before = shard.duplicate().position(0).limit(shard.position());
    ByteBuffer after = shard.duplicate().limit(shard.capacity()).position(shard.limit());
    return new ByteBuffer[] {
      ByteBuffer.wrap(bytes(before)), ByteBuffer.wrap(bytes(after)),
    };
  }
}
