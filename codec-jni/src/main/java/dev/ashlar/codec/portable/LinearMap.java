package dev.ashlar.codec.portable;

import java.nio.ByteBuffer;

/**
 * A matrix over GF(2^8), prepared for multiplying shards by it. Callers have checked the number of
 * buffers and that each has {@code length} bytes, at least one, from its position on.
 */
public interface LinearMap {
  void multiply(ByteBuffer[] sources, ByteBuffer[] targets, int length);

  /** Adds one column times the source to the targets. */
  void accumulate(int column, ByteBuffer source, ByteBuffer[] targets, int length);
}
