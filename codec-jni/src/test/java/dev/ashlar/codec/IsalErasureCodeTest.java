package dev.ashlar.codec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.codec.isal.NativeLibrary;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** Skipped where the native codec was not built, which the build then said. */
class IsalErasureCodeTest extends ErasureCodeContract {
  @Override
  ErasureCode create(int dataShards, int parityShards) {
    Assumptions.assumeTrue(NativeLibrary.failure() == null, NativeLibrary.failure());
    return Codecs.create(CodecChoice.ISAL, dataShards, parityShards);
  }

  @Test
  void heapBuffersAreRefused() {
    try (ErasureCode code = create(2, 1)) {
      assertEquals("isal", code.name());
      ByteBuffer direct = ByteBuffer.allocateDirect(8);
      ByteBuffer heap = ByteBuffer.allocate(8);
      ByteBuffer[] ok = {direct, direct};
      ByteBuffer[] bad = {direct, heap};
      assertThrows(
          IllegalArgumentException.class, () -> code.encode(bad, new ByteBuffer[] {direct}));
      assertThrows(IllegalArgumentException.class, () -> code.encode(ok, new ByteBuffer[] {heap}));
      assertThrows(IllegalArgumentException.class, () -> code.updateParity(0, 0, heap, direct));
    }
  }

  @Property(tries = 400)
  void equalsJava(
      @ForAll @IntRange(min = 1, max = 20) int k,
      @ForAll @IntRange(min = 0, max = 8) int m,
      @ForAll @IntRange(min = 0, max = 40_000) int length,
      @ForAll long seed) {
    Random random = new Random(seed);
    try (ErasureCode isal = create(k, m);
        ErasureCode java = Codecs.create(CodecChoice.JAVA, k, m)) {
      ByteBuffer[] data = Shards.random(random, k, length);
      ByteBuffer[] parity = Shards.empty(random, m, length);
      ByteBuffer[] oracle = Shards.empty(random, m, length);
      isal.encode(data, parity);
      java.encode(data, oracle);
      assertSame(oracle, parity);
      ByteBuffer delta = Shards.random(random, 1, length)[0];
      int changed = random.nextInt(k);
      isal.update(changed, delta, parity);
      java.update(changed, delta, oracle);
      assertSame(oracle, parity);
      decodesAlike(isal, java, random, length);
    }
  }

  private static void decodesAlike(ErasureCode isal, ErasureCode java, Random random, int length) {
    int k = isal.dataShards();
    int[] shuffled = IntStream.range(0, k + isal.parityShards()).toArray();
    for (int i = shuffled.length - 1; i > 0; i--) {
      int other = random.nextInt(i + 1);
      int shard = shuffled[i];
      shuffled[i] = shuffled[other];
      shuffled[other] = shard;
    }
    int[] present = IntStream.of(shuffled).limit(k).toArray();
    int[] wanted = IntStream.of(shuffled).skip(random.nextInt(shuffled.length + 1)).toArray();
    ByteBuffer[] sources = Shards.random(random, k, length);
    ByteBuffer[] targets = Shards.empty(random, wanted.length, length);
    ByteBuffer[] oracle = Shards.empty(random, wanted.length, length);
    isal.decode(present, sources, wanted, targets);
    java.decode(present, sources, wanted, oracle);
    assertSame(oracle, targets);
  }

  private static void assertSame(ByteBuffer[] expected, ByteBuffer[] actual) {
    for (int i = 0; i < expected.length; i++) {
      assertArrayEquals(Shards.bytes(expected[i]), Shards.bytes(actual[i]), "buffer " + i);
    }
  }
}
