package dev.ashlar.codec;

import dev.ashlar.codec.portable.CodingMatrix;
import dev.ashlar.codec.portable.LinearMap;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/** Caches inverted matrices: while a drive is missing, all stripes need the same few. */
final class RecoveryMaps {
  private static final int CAPACITY = 256;

  private final CodingMatrix matrix;
  private final Function<byte[][], LinearMap> prepare;
  private final ReentrantLock lock = new ReentrantLock();

  private final Map<ByteBuffer, LinearMap> recent =
      new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<ByteBuffer, LinearMap> eldest) {
          return size() > CAPACITY;
        }
      };

  RecoveryMaps(CodingMatrix matrix, Function<byte[][], LinearMap> prepare) {
    this.matrix = matrix;
    this.prepare = prepare;
  }

  LinearMap get(int[] present, int[] wanted) {
    ByteBuffer key = key(present, wanted);
    lock.lock();
    try {
      LinearMap known = recent.get(key);
      if (known != null) {
        return known;
      }
    } finally {
      lock.unlock();
    }
    LinearMap made = prepare.apply(matrix.recoveryRows(present, wanted));
    lock.lock();
    try {
      recent.put(key, made);
    } finally {
      lock.unlock();
    }
    return made;
  }

  /** The number of present shards is always k, so the two lists need no separator. */
  private static ByteBuffer key(int[] present, int[] wanted) {
    byte[] key = new byte[present.length + wanted.length];
    for (int i = 0; i < present.length; i++) {
      key[i] = (byte) present[i];
    }
    for (int i = 0; i < wanted.length; i++) {
      key[present.length + i] = (byte) wanted[i];
    }
    return ByteBuffer.wrap(key);
  }
}
