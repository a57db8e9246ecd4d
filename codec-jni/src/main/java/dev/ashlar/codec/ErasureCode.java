package dev.ashlar.codec;

import java.nio.ByteBuffer;

/**
 * Reed-Solomon over GF(2^8): k data shards and m parity shards, any k of which restore the others.
 *
 * <p>A buffer means its bytes from position to limit; positions are not moved. All buffers of a
 * call have the same number of bytes remaining, 0 included, and do not overlap. The native codec
 * takes direct buffers only. Consecutive stripes whose shards are each contiguous are one call:
 * sixteen strips of 16 KiB are a buffer of 256 KiB per shard.
 *
 * <p>Safe for use by many threads. Wrong arguments throw {@link IllegalArgumentException}, a closed
 * codec {@link IllegalStateException}; closing does not disturb calls that are under way.
 */
public interface ErasureCode extends AutoCloseable {
  int dataShards();

  int parityShards();

  /** The implementation: {@code isal} or {@code java}. */
  String name();

  /** Computes all m parity shards from all k data shards. */
  void encode(ByteBuffer[] data, ByteBuffer[] parity);

  /** Updates every parity shard for a change of one data shard by {@code delta} (old ⊕ new). */
  void update(int dataShard, ByteBuffer delta, ByteBuffer[] parity);

  /** One parity row of {@link #update}, as the drive of that parity shard computes it. */
  void updateParity(int dataShard, int parityRow, ByteBuffer delta, ByteBuffer parity);

  /**
   * Rebuilds shards from exactly k others. Shards are numbered 0 to k-1 (data) and k to k+m-1
   * (parity); {@code sources} and {@code targets} are parallel to their index arrays.
   */
  void decode(int[] present, ByteBuffer[] sources, int[] wanted, ByteBuffer[] targets);

  @Override
  void close();
}
