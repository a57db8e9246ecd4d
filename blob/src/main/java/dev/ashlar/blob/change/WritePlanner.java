package dev.ashlar.blob.change;

import dev.ashlar.blob.change.WritePlanner.StripePlan.Mode;
import dev.ashlar.blob.change.WritePlanner.StripePlan.StripRange;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.model.Profile;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Finds the cheapest way to change a range of one stripe.
 *
 * <ul>
 *   <li>Encoding reads what does not change: k − t strips, where t are touched, and the edges of
 *       touched strips that keep bytes in a block that changes.
 *   <li>A delta reads what does change: t strips here, and m at the parity drives.
 * </ul>
 *
 * <p>Strips, and parts of strips, beyond the end of the data cost nothing in either. The plan with
 * the fewest reads wins. On a tie the delta wins, because it touches fewer drives, unless nothing
 * is read: then encoding sends fewer bytes. To rebuild a missing strip, all other strips with bytes
 * in its range are read.
 *
 * <p>With a classic profile the whole stripe is always read, encoded and written.
 */
final class WritePlanner {
  private final Profile profile;
  private final int lengthBefore;
  private final int lengthAfter;
  private final int from;
  private final int to;
  private final BitSet missing;

  /**
   * @param lengthBefore bytes of data in the stripe
   * @param from of the stripe, the first byte that changes, at most {@code lengthBefore}
   * @param to behind the last byte that changes
   * @param missing slots whose drives or shards are not there
   */
  private WritePlanner(Profile profile, int lengthBefore, int from, int to, BitSet missing) {
    this.profile = profile;
    this.lengthBefore =
        profile.isClassic() && lengthBefore > 0 ? profile.stripeBytes() : lengthBefore;
    this.lengthAfter = Math.max(this.lengthBefore, to);
    this.from = from;
    this.to = to;
    this.missing = missing;
  }

  /**
   * The cheapest plan.
   *
   * @throws IllegalArgumentException if the range is empty, begins behind the data, or leaves the
   *     stripe
   */
  static StripePlan plan(Profile profile, int lengthBefore, int from, int to, BitSet missing) {
    if (from < 0 || from > lengthBefore || from >= to || to > profile.stripeBytes()) {
      throw new IllegalArgumentException(
          "change " + from + " to " + to + " of a stripe with " + lengthBefore + " bytes");
    }
    WritePlanner planner = new WritePlanner(profile, lengthBefore, from, to, missing);
    if (profile.isClassic()) {
      return planner.wholeStripe();
    }
    List<StripRange> touched = planner.touched();
    ByteRange hull = planner.hull(touched);
    StripePlan encode = planner.encode(touched, hull);
    if (planner.parityDrives() == 0 || encode.readOperations() == 0) {
      return encode;
    }
    StripePlan delta = planner.delta(touched, hull);
    return delta.readOperations() <= encode.readOperations() ? delta : encode;
  }

  private StripePlan wholeStripe() {
    ByteRange strip = new ByteRange(0, profile.stripeUnit());
    List<StripRange> all =
        IntStream.range(0, profile.dataShards())
            .mapToObj(slot -> new StripRange(slot, strip))
            .toList();
    return plan(Mode.ENCODE, lengthBefore == 0 ? List.of() : all, all, strip, 0);
  }

  /** The blocks that change, per data strip. */
  private List<StripRange> touched() {
    List<StripRange> touched = new ArrayList<>();
    int unit = profile.stripeUnit();
    for (int slot = from / unit; slot * unit < to; slot++) {
      int begin = Math.max(0, from - slot * unit) & -Profile.BLOCK_BYTES;
      int end = Math.min(unit, to - slot * unit);
      touched.add(
          new StripRange(
              slot, range(begin, Math.min(roundUp(end), stripLength(slot, lengthAfter)))));
    }
    return touched;
  }

  /** Without parity to encode, strips keep to themselves: only their own edges are needed. */
  private StripePlan encode(List<StripRange> touched, ByteRange hull) {
    List<StripRange> needed = touched;
    if (parityDrives() > 0) {
      needed = new ArrayList<>();
      for (int slot = 0; slot < profile.dataShards(); slot++) {
        needed.add(new StripRange(slot, hull));
      }
    }
    List<StripRange> reads = new ArrayList<>();
    for (StripRange part : needed) {
      StripRange read = old(part);
      if (!read.range().isEmpty() && !isOverwritten(read.slot(), read.range())) {
        reads.add(read);
      }
    }
    return plan(Mode.ENCODE, reads, touched, hull, 0);
  }

  /** The part of it that had bytes before. */
  private StripRange old(StripRange part) {
    return new StripRange(part.slot(), cut(part.range(), stripLength(part.slot(), lengthBefore)));
  }

  /** Whether none of these old bytes of the strip stays. */
  private boolean isOverwritten(int slot, ByteRange old) {
    int start = slot * profile.stripeUnit();
    return from <= start + old.offset() && start + old.end() <= to;
  }

  private StripePlan delta(List<StripRange> touched, ByteRange hull) {
    List<StripRange> reads = new ArrayList<>();
    for (StripRange part : touched) {
      StripRange read = old(part);
      if (!read.range().isEmpty()) {
        reads.add(read);
      }
    }
    // Each parity drive reads the old bytes to which it applies the delta.
    int parityReads = cut(hull, stripLength(0, lengthBefore)).isEmpty() ? 0 : parityDrives();
    return plan(Mode.DELTA, reads, touched, hull, parityReads);
  }

  private StripePlan plan(
      Mode mode,
      List<StripRange> reads,
      List<StripRange> touched,
      ByteRange hull,
      int parityReads) {
    boolean rebuilds = false;
    for (StripRange read : reads) {
      rebuilds |= missing.get(read.slot());
    }
    int readOperations = (rebuilds ? rebuildReads(reads) : reads.size()) + parityReads;
    int writes = parityDrives();
    for (StripRange change : touched) {
      writes += missing.get(change.slot()) ? 0 : 1;
    }
    return new StripePlan(mode, reads, touched, hull, readOperations, writes);
  }

  /** One per strip that has bytes there, be it of the strip or of a parity strip in its place. */
  private int rebuildReads(List<StripRange> reads) {
    ByteRange needed = StripePlan.hull(reads);
    int operations = 0;
    for (int slot = 0; slot < profile.dataShards(); slot++) {
      operations += old(new StripRange(slot, needed)).range().isEmpty() ? 0 : 1;
    }
    return operations;
  }

  private int parityDrives() {
    int drives = 0;
    for (int slot = profile.dataShards(); slot < profile.shards(); slot++) {
      drives += missing.get(slot) ? 0 : 1;
    }
    return drives;
  }

  /** A parity strip is as long as data strip 0. */
  private int stripLength(int slot, int stripeLength) {
    return Math.clamp(stripeLength - slot * profile.stripeUnit(), 0, profile.stripeUnit());
  }

  /** Whole blocks of parity: those of strips that end earlier count as zeros. */
  private ByteRange hull(List<StripRange> touched) {
    ByteRange hull = StripePlan.hull(touched);
    return range(hull.offset(), Math.min(roundUp(hull.end()), stripLength(0, lengthAfter)));
  }

  private static long roundUp(long bytes) {
    return (bytes + Profile.BLOCK_BYTES - 1) & -Profile.BLOCK_BYTES;
  }

  private static ByteRange cut(ByteRange range, long end) {
    return new ByteRange(range.offset(), Math.max(0, Math.min(range.end(), end) - range.offset()));
  }

  private static ByteRange range(long begin, long end) {
    return new ByteRange(begin, end - begin);
  }

  /**
   * A plan to change one stripe. Ranges are relative to a strip. They begin at a block, and end at
   * a block or at the end of the strip.
   *
   * @param reads old bytes that the engine needs: each of a data strip that has them, ascending by
   *     slot
   * @param changes blocks of data strips that change, ascending by slot, also of slots that are
   *     missing and so cannot be written
   * @param parity range in which every parity strip changes
   * @param readOperations number of drive reads, including those to rebuild missing strips
   * @param writeOperations number of drive writes
   */
  record StripePlan(
      Mode mode,
      List<StripRange> reads,
      List<StripRange> changes,
      ByteRange parity,
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
      return parts.stream().map(StripRange::range).reduce(ByteRange.EMPTY, ByteRange::hull);
    }
  }
}
