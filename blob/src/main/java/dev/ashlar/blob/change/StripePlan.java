package dev.ashlar.blob.change;

import dev.ashlar.protocol.layout.ByteRange;
import java.util.List;

/**
 * How one stripe is changed. Ranges are of a strip: 0 is its first byte; they begin on a block, and
 * end on one or with the strip.
 *
 * @param reads old bytes that the engine needs: each of a data strip that has them, ascending by
 *     slot
 * @param changes blocks of data strips that change, ascending by slot, also of slots that are
 *     missing and so cannot be written
 * @param parity range in which every parity strip changes
 * @param parityReads old bytes that each parity drive needs to apply a delta; empty when it needs
 *     none, and always for {@link Mode#ENCODE}
 * @param readOperations drive reads that all this costs, rebuilding what is missing included
 * @param writeOperations drive writes
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
    /** The parity drives are sent what changed. */
    DELTA
  }

  /** A part of a data strip. */
  record StripRange(int slot, ByteRange range) {}

  /** From the first byte of any of them to the last; empty when there is none. */
  static ByteRange hull(List<StripRange> parts) {
    long from = parts.stream().mapToLong(part -> part.range().offset()).min().orElse(0);
    long to = parts.stream().mapToLong(part -> part.range().end()).max().orElse(0);
    return new ByteRange(from, to - from);
  }
}
