package dev.ashlar.blob.change;

import dev.ashlar.protocol.layout.ByteRange;
import java.util.List;

/**
 * A plan to change one stripe. Ranges are relative to a strip. They begin at a block, and end at a
 * block or at the end of the strip.
 *
 * @param reads old bytes that the engine needs: each of a data strip that has them, ascending by
 *     slot
 * @param changes blocks of data strips that change, ascending by slot, also of slots that are
 *     missing and so cannot be written
 * @param parity range in which every parity strip changes
 * @param parityReads old bytes that each parity drive needs to apply a delta; empty when it needs
 *     none, and always for {@link Mode#ENCODE}
 * @param readOperations number of drive reads, including those to rebuild missing strips
 * @param writeOperations number of drive writes
 */
record StripePlan(
    Mode mode,
    List<StripRange> reads,
    List<StripRange> changes,
    ByteRange parity,
    ByteRange parityReads,
    int readOperations,
    int writeOperations) {

  enum Mode {
    /** Parity is computed from all strips: a full-stripe write, or a partial one. */
    ENCODE,
    /** The parity drives receive the differences. */
    DELTA
  }

  /** A part of a data strip. */
  record StripRange(int slot, ByteRange range) {}

  /** The smallest range that contains all of them; empty if there is none. */
  static ByteRange hull(List<StripRange> parts) {
    long from = parts.stream().mapToLong(part -> part.range().offset()).min().orElse(0);
    long to = parts.stream().mapToLong(part -> part.range().end()).max().orElse(0);
    return new ByteRange(from, to - from);
  }
}
