package dev.ashlar.codec;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** What every implementation does: also the same as the Java codec. */
abstract class ErasureCodeContract {
  private final Random random = new Random(20261121);

  abstract ErasureCode create(int dataShards, int parityShards);

  @Test
  void everyLossOfUpToMShardsIsRepaired() {
    for (int k = 1; k <= 5; k++) {
      for (int m = 0; m <= 3; m++) {
        repairsEveryLoss(k, m);
      }
    }
  }

  private void repairsEveryLoss(int k, int m) {
    try (ErasureCode code = create(k, m)) {
      int length = 1 + random.nextInt(200);
      ByteBuffer[] all = encoded(code, length);
      for (int mask = 0; mask < 1 << (k + m); mask++) {
        if (Integer.bitCount(mask) == k) {
          int kept = mask;
          int[] present = IntStream.range(0, k + m).filter(i -> (kept >> i & 1) != 0).toArray();
          int[] wanted = IntStream.range(0, k + m).toArray();
          ByteBuffer[] rebuilt = Shards.empty(random, k + m, length);
          code.decode(present, pick(all, present), wanted, rebuilt);
          for (int i : wanted) {
            assertArrayEquals(Shards.bytes(all[i]), Shards.bytes(rebuilt[i]), "shard " + i);
          }
        }
      }
    }
  }

  @Test
  void presentShardsMayBeInAnyOrder() {
    try (ErasureCode code = create(4, 2)) {
      ByteBuffer[] all = encoded(code, 100);
      int[] present = {5, 2, 0, 4};
      ByteBuffer[] rebuilt = Shards.empty(random, 2, 100);
      code.decode(present, pick(all, present), new int[] {3, 1}, rebuilt);
      assertArrayEquals(Shards.bytes(all[3]), Shards.bytes(rebuilt[0]));
      assertArrayEquals(Shards.bytes(all[1]), Shards.bytes(rebuilt[1]));
    }
  }

  @Test
  void updatingParityEqualsEncodingAnew() {
    for (int length : new int[] {1, 7, 31, 64, 100, 4096, 5000, 16384}) {
      try (ErasureCode code = create(5, 3)) {
        ByteBuffer[] all = encoded(code, length);
        int changed = random.nextInt(5);
        ByteBuffer delta = Shards.random(random, 1, length)[0];
        ByteBuffer[] updated = copies(parity(all, 5));
        code.update(changed, delta, updated);
        ByteBuffer[] rowByRow = copies(parity(all, 5));
        for (int row = 0; row < 3; row++) {
          code.updateParity(changed, row, delta, rowByRow[row]);
        }
        for (int i = 0; i < length; i++) {
          int at = all[changed].position() + i;
          all[changed].put(at, (byte) (all[changed].get(at) ^ delta.get(delta.position() + i)));
        }
        ByteBuffer[] anew = Shards.empty(random, 3, length);
        code.encode(data(all, 5), anew);
        for (int row = 0; row < 3; row++) {
          assertArrayEquals(Shards.bytes(anew[row]), Shards.bytes(updated[row]));
          assertArrayEquals(Shards.bytes(anew[row]), Shards.bytes(rowByRow[row]));
        }
      }
    }
  }

  @Test
  void parityOfOneStripIsItsCopyAndParityZeroIsTheSum() {
    try (ErasureCode code = create(6, 3)) {
      ByteBuffer[] data = Shards.random(random, 6, 50);
      for (int i = 1; i < 6; i++) {
        data[i].duplicate().put(new byte[50]);
      }
      ByteBuffer[] parity = Shards.empty(random, 3, 50);
      code.encode(data, parity);
      for (ByteBuffer shard : parity) {
        assertArrayEquals(Shards.bytes(data[0]), Shards.bytes(shard));
      }
    }
  }

  @Test
  void writesNothingOutsideItsBuffersAndMovesNoPositions() {
    for (int length = 0; length < 200; length++) {
      try (ErasureCode code = create(3, 2)) {
        ByteBuffer[] data = Shards.random(random, 3, length);
        ByteBuffer[] parity = Shards.empty(random, 2, length);
        ByteBuffer[] before = Shards.surroundings(parity[1]);
        int position = parity[1].position();
        code.encode(data, parity);
        code.update(1, data[2], parity);
        assertArrayEquals(before, Shards.surroundings(parity[1]));
        assertEquals(position, parity[1].position());
        assertEquals(length, parity[1].remaining());
      }
    }
  }

  @Test
  void widestCodes() {
    try (ErasureCode code = create(200, 55)) {
      ByteBuffer[] all = encoded(code, 33);
      int[] present = IntStream.range(55, 255).toArray();
      int[] wanted = IntStream.range(0, 55).toArray();
      ByteBuffer[] rebuilt = Shards.empty(random, 55, 33);
      code.decode(present, pick(all, present), wanted, rebuilt);
      for (int i : wanted) {
        assertArrayEquals(Shards.bytes(all[i]), Shards.bytes(rebuilt[i]));
      }
    }
    assertThrows(IllegalArgumentException.class, () -> create(0, 2));
    assertThrows(IllegalArgumentException.class, () -> create(1, -1));
    assertThrows(IllegalArgumentException.class, () -> create(200, 56));
    assertThrows(IllegalArgumentException.class, () -> create(Integer.MAX_VALUE, 1));
  }

  @Test
  void badArgumentsAreRefused() {
    try (ErasureCode code = create(4, 2)) {
      ByteBuffer[] data = Shards.random(random, 4, 64);
      ByteBuffer[] parity = Shards.empty(random, 2, 64);
      ByteBuffer one = Shards.random(random, 1, 64)[0];
      ByteBuffer longer = Shards.random(random, 1, 65)[0];
      refused(() -> code.encode(Shards.random(random, 3, 64), parity));
      refused(() -> code.encode(data, Shards.empty(random, 3, 64)));
      refused(() -> code.encode(data, Shards.empty(random, 2, 63)));
      refused(() -> code.encode(new ByteBuffer[] {one, one, one, longer}, parity));
      refused(() -> code.encode(data, new ByteBuffer[] {one, longer}));
      refused(() -> code.encode(data, new ByteBuffer[] {one, one.asReadOnlyBuffer()}));
      refused(() -> code.update(4, one, parity));
      refused(() -> code.update(-1, one, parity));
      refused(() -> code.update(0, longer, parity));
      refused(() -> code.update(0, one, new ByteBuffer[] {one}));
      refused(() -> code.updateParity(0, 2, one, one));
      refused(() -> code.updateParity(0, 0, one, longer));
      refused(() -> code.updateParity(0, 0, one, one.asReadOnlyBuffer()));
      refused(() -> code.decode(new int[] {0, 1, 2}, data, new int[] {3}, new ByteBuffer[] {one}));
      int[] wanted = {3, 4};
      refused(() -> code.decode(new int[] {0, 1, 2, 2}, data, wanted, parity));
      refused(() -> code.decode(new int[] {0, 1, 2, 6}, data, wanted, parity));
      refused(() -> code.decode(new int[] {0, 1, 2, -1}, data, wanted, parity));
      refused(() -> code.decode(new int[] {0, 1, 2, 5}, data, new int[] {3, 3}, parity));
      refused(() -> code.decode(new int[] {0, 1, 2, 5}, data, new int[] {3}, parity));
      assertThrows(NullPointerException.class, () -> code.encode(new ByteBuffer[4], parity));
    }
  }

  private static void refused(Runnable call) {
    assertThrows(IllegalArgumentException.class, call::run);
  }

  @Test
  void closingDisturbsNoCallUnderWay() throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(3)) {
      for (int round = 0; round < 20; round++) {
        ErasureCode code = create(8, 3);
        Future<?>[] calls = new Future<?>[2];
        for (int t = 0; t < calls.length; t++) {
          calls[t] = threads.submit(() -> encodeUntilClosed(code));
        }
        Thread.onSpinWait();
        code.close();
        System.gc();
        for (Future<?> call : calls) {
          call.get();
        }
      }
    }
  }

  private static void encodeUntilClosed(ErasureCode code) {
    Random random = new Random(1);
    ByteBuffer[] data = Shards.random(random, 8, 20_000);
    ByteBuffer[] parity = Shards.empty(random, 3, 20_000);
    assertThrows(
        IllegalStateException.class,
        () -> {
          while (true) {
            code.encode(data, parity);
          }
        });
  }

  private ByteBuffer[] encoded(ErasureCode code, int length) {
    int k = code.dataShards();
    ByteBuffer[] data = Shards.random(random, k, length);
    ByteBuffer[] parity = Shards.empty(random, code.parityShards(), length);
    code.encode(data, parity);
    ByteBuffer[] all = new ByteBuffer[k + parity.length];
    System.arraycopy(data, 0, all, 0, k);
    System.arraycopy(parity, 0, all, k, parity.length);
    return all;
  }

  private static ByteBuffer[] pick(ByteBuffer[] all, int[] indices) {
    return IntStream.of(indices).mapToObj(i -> all[i]).toArray(ByteBuffer[]::new);
  }

  private static ByteBuffer[] data(ByteBuffer[] all, int k) {
    return pick(all, IntStream.range(0, k).toArray());
  }

  private static ByteBuffer[] parity(ByteBuffer[] all, int k) {
    return pick(all, IntStream.range(k, all.length).toArray());
  }

  private static ByteBuffer[] copies(ByteBuffer[] shards) {
    ByteBuffer[] copies = new ByteBuffer[shards.length];
    for (int i = 0; i < shards.length; i++) {
      copies[i] = ByteBuffer.allocateDirect(shards[i].remaining());
      copies[i].put(shards[i].duplicate()).flip();
    }
    return copies;
  }

  @Property(tries = 400)
  void equalsJava(
      @ForAll @IntRange(min = 1, max = 20) int k,
      @ForAll @IntRange(min = 0, max = 8) int m,
      @ForAll @IntRange(min = 0, max = 40_000) int length,
      @ForAll long seed) {
    Random random = new Random(seed);
    try (ErasureCode code = create(k, m);
        ErasureCode java = Codecs.create(CodecChoice.JAVA, k, m)) {
      ByteBuffer[] data = Shards.random(random, k, length);
      ByteBuffer[] parity = Shards.empty(random, m, length);
      ByteBuffer[] oracle = Shards.empty(random, m, length);
      code.encode(data, parity);
      java.encode(data, oracle);
      assertSame(oracle, parity);
      ByteBuffer delta = Shards.random(random, 1, length)[0];
      int changed = random.nextInt(k);
      code.update(changed, delta, parity);
      java.update(changed, delta, oracle);
      assertSame(oracle, parity);
      decodesAlike(code, java, random, length);
    }
  }

  private static void decodesAlike(ErasureCode code, ErasureCode java, Random random, int length) {
    int k = code.dataShards();
    int[] shuffled = IntStream.range(0, k + code.parityShards()).toArray();
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
    code.decode(present, sources, wanted, targets);
    java.decode(present, sources, wanted, oracle);
    assertSame(oracle, targets);
  }

  private static void assertSame(ByteBuffer[] expected, ByteBuffer[] actual) {
    for (int i = 0; i < expected.length; i++) {
      assertArrayEquals(Shards.bytes(expected[i]), Shards.bytes(actual[i]), "buffer " + i);
    }
  }
}
