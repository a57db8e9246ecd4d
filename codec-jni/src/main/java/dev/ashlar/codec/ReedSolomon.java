package dev.ashlar.codec;

import dev.ashlar.codec.portable.CodingMatrix;
import dev.ashlar.codec.portable.LinearMap;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.function.Function;

/** Checks arguments and chooses the matrix: every operation is a matrix multiplication. */
final class ReedSolomon implements ErasureCode {
  private final CodingMatrix matrix;
  private final String name;
  private final LinearMap encoder;
  private final LinearMap[] parityRows;
  private final RecoveryMaps recoveryMaps;
  private volatile boolean closed;

  /**
   * @param prepare makes the linear map of a matrix
   */
  ReedSolomon(
      String name, Function<byte[][], LinearMap> prepare, int dataShards, int parityShards) {
    matrix = CodingMatrix.of(dataShards, parityShards);
    this.name = name;
    byte[][] rows = matrix.parityRows();
    encoder = prepare.apply(rows);
    parityRows = new LinearMap[parityShards];
    for (int j = 0; j < parityShards; j++) {
      parityRows[j] = prepare.apply(new byte[][] {rows[j]});
    }
    recoveryMaps = new RecoveryMaps(matrix, prepare);
  }

  @Override
  public int dataShards() {
    return matrix.dataShards();
  }

  @Override
  public int parityShards() {
    return matrix.parityShards();
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void encode(ByteBuffer[] data, ByteBuffer[] parity) {
    checkOpen();
    checkCount("data", data.length, dataShards());
    checkCount("parity", parity.length, parityShards());
    int length = data[0].remaining();
    checkLengths(data, length);
    checkTargets(parity, length);
    if (length > 0 && parity.length > 0) {
      encoder.multiply(data, parity, length);
    }
  }

  @Override
  public void update(int dataShard, ByteBuffer delta, ByteBuffer[] parity) {
    checkOpen();
    checkIndex("data shard", dataShard, dataShards());
    checkCount("parity", parity.length, parityShards());
    int length = delta.remaining();
    checkTargets(parity, length);
    if (length > 0 && parity.length > 0) {
      encoder.accumulate(dataShard, delta, parity, length);
    }
  }

  @Override
  public void updateParity(int dataShard, int parityRow, ByteBuffer delta, ByteBuffer parity) {
    checkOpen();
    checkIndex("data shard", dataShard, dataShards());
    checkIndex("parity row", parityRow, parityShards());
    int length = delta.remaining();
    ByteBuffer[] targets = {parity};
    checkTargets(targets, length);
    if (length > 0) {
      parityRows[parityRow].accumulate(dataShard, delta, targets, length);
    }
  }

  @Override
  public void decode(int[] present, ByteBuffer[] sources, int[] wanted, ByteBuffer[] targets) {
    checkOpen();
    checkCount("present", present.length, dataShards());
    checkCount("source", sources.length, present.length);
    checkCount("target", targets.length, wanted.length);
    checkDistinct(present);
    checkDistinct(wanted);
    int length = sources[0].remaining();
    checkLengths(sources, length);
    checkTargets(targets, length);
    if (length > 0 && wanted.length > 0) {
      recoveryMaps.get(present, wanted).multiply(sources, targets, length);
    }
  }

  /**
   * Native memory is freed by the collector once no call uses it, so there is nothing to wait for.
   */
  @Override
  public void close() {
    closed = true;
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("the erasure code is closed");
    }
  }

  private void checkDistinct(int[] shards) {
    BitSet seen = new BitSet();
    for (int shard : shards) {
      checkIndex("shard", shard, dataShards() + parityShards());
      if (seen.get(shard)) {
        throw new IllegalArgumentException("shard " + shard + " is named twice");
      }
      seen.set(shard);
    }
  }

  private static void checkIndex(String what, int index, int count) {
    if (index < 0 || index >= count) {
      throw new IllegalArgumentException(what + " " + index + " is not in 0.." + (count - 1));
    }
  }

  private static void checkCount(String what, int count, int expected) {
    if (count != expected) {
      throw new IllegalArgumentException(count + " " + what + " buffers instead of " + expected);
    }
  }

  private static void checkLengths(ByteBuffer[] buffers, int length) {
    for (ByteBuffer buffer : buffers) {
      if (buffer.remaining() != length) {
        throw new IllegalArgumentException(
            "buffers of unequal length: " + buffer.remaining() + " and " + length);
      }
    }
  }

  private static void checkTargets(ByteBuffer[] targets, int length) {
    checkLengths(targets, length);
    for (ByteBuffer target : targets) {
      if (target.isReadOnly()) {
        throw new IllegalArgumentException("a target buffer is read-only");
      }
    }
  }
}
