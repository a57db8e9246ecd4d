package dev.ashlar.blob.change;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.change.WritePlanner.StripePlan;
import dev.ashlar.blob.change.WritePlanner.StripePlan.Mode;
import dev.ashlar.blob.change.WritePlanner.StripePlan.StripRange;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.model.Profile;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class WritePlannerTest {
  private static final int BLOCK = Profile.BLOCK_BYTES;
  private static final int BLOCKS = 3; // per strip

  /** Every profile, and in it every length and range that begins or ends near a block's edge. */
  @Test
  void everyPlanIsTheCheapestOfAllBlocksCounted() {
    for (int k = 1; k <= 8; k++) {
      for (int m = 0; m <= 3; m++) {
        Profile profile = new Profile(k, m, BLOCKS * BLOCK);
        List<Integer> places = places(profile, k <= 3 ? BLOCKS : 2);
        for (BitSet missing : missing(profile)) {
          forEachChange(
              places,
              (length, from, to) -> new Blocks(profile, length, from, to, missing).checkPlan());
        }
      }
    }
  }

  private interface Change {
    void of(int lengthBefore, int from, int to);
  }

  private static void forEachChange(List<Integer> places, Change change) {
    for (int length : places) {
      for (int from : places) {
        for (int to : places) {
          if (from <= length && from < to) {
            change.of(length, from, to);
          }
        }
      }
    }
  }

  /** Of each strip the edges of some blocks, and of every stripe the first and last byte. */
  private static List<Integer> places(Profile profile, int blocks) {
    TreeSet<Integer> places = new TreeSet<>();
    for (int slot = 0; slot <= profile.dataShards(); slot++) {
      for (int block = 0; block < blocks; block++) {
        int edge = slot * profile.stripeUnit() + block * BLOCK;
        places.add(edge);
        if (profile.dataShards() <= 4) {
          places.add(edge - 1);
        }
        places.add(edge + 1);
      }
    }
    return new ArrayList<>(places.subSet(0, true, profile.stripeBytes(), true));
  }

  /** None, every one, and for small profiles every two that m allows. */
  private static List<BitSet> missing(Profile profile) {
    List<BitSet> sets = new ArrayList<>();
    sets.add(new BitSet());
    for (int slot = 0; slot < profile.shards() && profile.parityShards() > 0; slot++) {
      sets.add(BitSet.valueOf(new long[] {1L << slot}));
      for (int other = 0;
          other < slot && profile.parityShards() > 1 && profile.dataShards() <= 4;
          other++) {
        sets.add(BitSet.valueOf(new long[] {1L << slot | 1L << other}));
      }
    }
    return sets;
  }

  /** The stripe as single blocks, each looked at byte by byte: nothing is derived from ranges. */
  private record Blocks(Profile profile, int lengthBefore, int from, int to, BitSet missing) {
    void checkPlan() {
      StripePlan plan = WritePlanner.plan(profile, lengthBefore, from, to, missing);
      int encode = encodeReads();
      int delta = deltaReads();
      boolean isDelta = parities() > 0 && encode > 0 && delta <= encode;
      assertEquals(isDelta ? Mode.DELTA : Mode.ENCODE, plan.mode(), this::toString);
      assertEquals(isDelta ? delta : encode, plan.readOperations(), this::toString);
      assertEquals(touchedThere() + parities(), plan.writeOperations(), this::toString);
      checkRanges(plan);
    }

    private int strip(int slot, int stripe) {
      return Math.clamp(stripe - slot * profile.stripeUnit(), 0, profile.stripeUnit());
    }

    /** Bytes of the block that lie in this range of the stripe. */
    private int count(int slot, int block, int begin, int end) {
      int start = slot * profile.stripeUnit() + block * BLOCK;
      return Math.max(0, Math.min(end, start + BLOCK) - Math.max(begin, start));
    }

    private boolean isChanged(int slot, int block) {
      return count(slot, block, from, to) > 0;
    }

    private boolean isOld(int slot, int block) {
      return count(slot, block, 0, lengthBefore) > 0;
    }

    private boolean keepsOld(int slot, int block) {
      return count(slot, block, 0, Math.min(from, lengthBefore)) > 0
          || (to < lengthBefore && count(slot, block, to, lengthBefore) > 0);
    }

    private boolean isTouched(int slot) {
      return hasAny(slot, this::isChanged, 0, BLOCKS - 1);
    }

    private interface BlockTest {
      boolean of(int slot, int block);
    }

    private boolean hasAny(int slot, BlockTest test, int first, int last) {
      for (int block = first; block <= last; block++) {
        if (test.of(slot, block)) {
          return true;
        }
      }
      return false;
    }

    private int first(BlockTest test) {
      for (int block = 0; block < BLOCKS; block++) {
        for (int slot = 0; slot < profile.dataShards(); slot++) {
          if (test.of(slot, block)) {
            return block;
          }
        }
      }
      return BLOCKS;
    }

    private int last(BlockTest test) {
      for (int block = BLOCKS - 1; block >= 0; block--) {
        for (int slot = 0; slot < profile.dataShards(); slot++) {
          if (test.of(slot, block)) {
            return block;
          }
        }
      }
      return -1;
    }

    private int parities() {
      int parities = 0;
      for (int slot = profile.dataShards(); slot < profile.shards(); slot++) {
        parities += missing.get(slot) ? 0 : 1;
      }
      return parities;
    }

    private int touchedThere() {
      int touched = 0;
      for (int slot = 0; slot < profile.dataShards(); slot++) {
        touched += isTouched(slot) && !missing.get(slot) ? 1 : 0;
      }
      return touched;
    }

    private int encodeReads() {
      int first = first(this::isChanged);
      int last = last(this::isChanged);
      BlockTest isNeeded =
          (slot, block) ->
              block >= first
                  && block <= last
                  && (parities() > 0 || isChanged(slot, block))
                  && keepsOld(slot, block);
      // A strip is read from its first to its last byte there.
      return reads(
          (slot, block) ->
              block >= first
                  && block <= last
                  && isOld(slot, block)
                  && (parities() > 0 || isChanged(slot, block))
                  && hasAny(slot, isNeeded, 0, BLOCKS - 1));
    }

    private int deltaReads() {
      int parity = 0;
      for (int block = first(this::isChanged); block <= last(this::isChanged); block++) {
        parity |= isOld(0, block) ? 1 : 0;
      }
      return reads((slot, block) -> isChanged(slot, block) && isOld(slot, block))
          + parity * parities();
    }

    private int reads(BlockTest isRead) {
      int first = first(isRead);
      int last = last(isRead);
      int reads = 0;
      int inHull = 0;
      boolean rebuilds = false;
      for (int slot = 0; slot < profile.dataShards(); slot++) {
        boolean isNeeded = hasAny(slot, isRead, 0, BLOCKS - 1);
        reads += isNeeded ? 1 : 0;
        rebuilds |= isNeeded && missing.get(slot);
        inHull += hasAny(slot, this::isOld, first, last) ? 1 : 0;
      }
      return rebuilds ? inHull : reads;
    }

    private void checkRanges(StripePlan plan) {
      int after = Math.max(lengthBefore, to);
      for (StripRange write : plan.changes()) {
        checkAligned(write.range(), strip(write.slot(), after));
        for (int block = 0; block < BLOCKS; block++) {
          assertEquals(
              isChanged(write.slot(), block), covers(write.range(), block), this::toString);
        }
        assertTrue(plan.parity().offset() <= write.range().offset(), this::toString);
        assertTrue(plan.parity().end() >= write.range().end(), this::toString);
      }
      checkAligned(plan.parity(), strip(0, after));
      for (StripRange read : plan.reads()) {
        assertTrue(read.range().end() <= strip(read.slot(), lengthBefore), this::toString);
        checkAligned(read.range(), strip(read.slot(), lengthBefore));
      }
    }

    private static boolean covers(ByteRange range, long block) {
      return range.offset() < (block + 1) * BLOCK && range.end() > block * BLOCK;
    }

    private void checkAligned(ByteRange range, int stripLength) {
      assertTrue(!range.isEmpty(), this::toString);
      assertEquals(0, range.offset() % BLOCK, this::toString);
      assertTrue(range.end() % BLOCK == 0 || range.end() == stripLength, this::toString);
      assertTrue(range.end() <= stripLength, this::toString);
    }
  }

  @Test
  void interiorWritesCostAsTabulated() {
    assertPlan("2+2", 16384, Mode.ENCODE, 1, 3);
    assertPlan("4+2", 16384, Mode.DELTA, 3, 3);
    assertPlan("6+2", 16384, Mode.DELTA, 3, 3);
    assertPlan("6+2", 32768, Mode.DELTA, 4, 4);
    assertPlan("8+2", 16384, Mode.DELTA, 3, 3);
    assertPlan("8+2", 32768, Mode.DELTA, 4, 4);
    assertPlan("8+2", 8 * 16384, Mode.ENCODE, 0, 10);
  }

  private static void assertPlan(String shape, int bytes, Mode mode, int reads, int writes) {
    Profile profile = Profile.parse(shape, 16384);
    StripePlan plan = WritePlanner.plan(profile, profile.stripeBytes(), 0, bytes, new BitSet());
    assertEquals(mode, plan.mode(), shape);
    assertEquals(reads, plan.readOperations(), shape);
    assertEquals(writes, plan.writeOperations(), shape);
  }

  @Test
  void appendingAtAStripStartReadsOnlyWhereParityWas() {
    Profile profile = Profile.parse("6+2", 16384);
    StripePlan first = WritePlanner.plan(profile, 0, 0, 4096, new BitSet());
    assertEquals(Mode.ENCODE, first.mode());
    assertEquals(0, first.readOperations());
    StripePlan second = WritePlanner.plan(profile, 16384, 16384, 20480, new BitSet());
    assertEquals(Mode.ENCODE, second.mode(), "strip 0 here, not two parities there");
    assertEquals(1, second.readOperations());
    StripePlan fourth = WritePlanner.plan(profile, 3 * 16384, 3 * 16384, 53248, new BitSet());
    assertEquals(Mode.DELTA, fourth.mode());
    assertEquals(2, fourth.readOperations());
  }

  @Test
  void invalidChangesAreRefused() {
    Profile profile = Profile.parse("4+2", 16384);
    for (int[] bad : new int[][] {{-1, 5}, {5, 5}, {101, 102}, {0, 65537}}) {
      assertThrows(
          IllegalArgumentException.class,
          () -> WritePlanner.plan(profile, 100, bad[0], bad[1], new BitSet()));
    }
  }
}
