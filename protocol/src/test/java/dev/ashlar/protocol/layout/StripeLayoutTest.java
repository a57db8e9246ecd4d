package dev.ashlar.protocol.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.model.Profile;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class StripeLayoutTest {
  private static final Profile FOUR_TWO = Profile.parse("4+2", 16384);

  @Test
  void aSmallObjectIsThreeShardsOfItsSize() {
    StripeLayout layout = new StripeLayout(FOUR_TWO, 5 * 1024);
    assertEquals(3 * 5 * 1024, layout.storedBytes());
    assertEquals(0, layout.shardLength(1));
    assertEquals(5 * 1024, layout.shardLength(5));
  }

  /** Each byte of the blob is counted in exactly one data shard, at a place of its own. */
  @Property
  void lengthsAndOffsetsAgreeWithByteByByteCounting(
      @ForAll @IntRange(min = 1, max = 9) int dataShards,
      @ForAll @IntRange(min = 0, max = 3) int parityShards,
      @ForAll @IntRange(min = 0, max = 200_000) int length,
      @ForAll long seed) {
    Profile profile = new Profile(dataShards, parityShards, 4096);
    StripeLayout layout = new StripeLayout(profile, length);
    long[] counted = new long[dataShards];
    for (int offset = 0; offset < length; offset++) {
      int slot = layout.slotOf(offset);
      assertEquals(counted[slot], layout.shardOffsetOf(offset));
      counted[slot]++;
    }
    long sum = 0;
    for (int slot = 0; slot < dataShards; slot++) {
      assertEquals(counted[slot], layout.shardLength(slot));
      sum += counted[slot];
    }
    for (int slot = dataShards; slot < profile.shards(); slot++) {
      assertEquals(counted[0], layout.shardLength(slot));
      sum += counted[0];
    }
    assertEquals(sum, layout.storedBytes());
    checkRange(layout, length, new Random(seed));
  }

  private static void checkRange(StripeLayout layout, int length, Random random) {
    int from = random.nextInt(length + 1);
    int to = from + random.nextInt(length - from + 1);
    List<Integer> touched = layout.touchedSlots(new ByteRange(from, to - from));
    for (int slot = 0; slot < layout.profile().dataShards(); slot++) {
      ByteRange part = layout.shardRange(slot, new ByteRange(from, to - from));
      long inside = 0;
      for (int offset = from; offset < to; offset++) {
        if (layout.slotOf(offset) == slot) {
          long at = layout.shardOffsetOf(offset);
          assertTrue(part.offset() <= at && at < part.end());
          inside++;
        }
      }
      assertEquals(inside, part.length());
      assertEquals(inside > 0, touched.contains(slot));
    }
    for (int slot = layout.profile().dataShards(); slot < layout.profile().shards(); slot++) {
      assertEquals(from < to, touched.contains(slot));
    }
  }

  @Property
  void classicShardsAreThoseOfTheBlobRoundedUpToStripes(
      @ForAll @IntRange(min = 1, max = 9) int dataShards,
      @ForAll @IntRange(min = 0, max = 3) int parityShards,
      @ForAll @IntRange(min = 0, max = 200_000) int length,
      @ForAll long seed) {
    Profile profile = new Profile(dataShards, parityShards, 4096, true);
    StripeLayout layout = new StripeLayout(profile, length);
    long stripes = Math.ceilDiv(length, profile.stripeBytes());
    for (int slot = 0; slot < profile.shards(); slot++) {
      assertEquals(stripes * 4096, layout.shardLength(slot));
    }
    assertEquals(stripes * profile.stripeBytes(), layout.paddedLength());
    assertEquals((length <= 4096 && dataShards == 1) || length == 0, layout.isOneStrip());
    Random random = new Random(seed);
    int from = random.nextInt(length + 1);
    int to = from + random.nextInt(length - from + 1);
    ByteRange accessed = layout.accessed(new ByteRange(from, to - from));
    assertEquals(from == to ? 0 : profile.shards(), layout.touchedSlots(accessed).size());
    if (from < to) {
      assertEquals(from - from % profile.stripeBytes(), accessed.offset());
      assertEquals((layout.stripeOf(to - 1) + 1) * profile.stripeBytes(), accessed.end());
    }
  }

  @Test
  void profilesAreParsedAsTheyPrint() {
    Profile classic = Profile.parse("6+2,optimizations=off", 0);
    assertEquals(new Profile(6, 2, 4096, true), classic);
    assertEquals(classic, Profile.parse(classic.toString(), 0));
    assertEquals(classic, Profile.of(classic.toMessage()));
    assertEquals(new Profile(6, 2, 16384), Profile.parse("6+2,optimizations=on", 0));
    assertEquals("6+2", new Profile(6, 2, 16384).toString());
    for (String bad : List.of("6+2,optimizations=no", "6+2,off", "6,optimizations=off+2", "6+2,")) {
      assertThrows(IllegalArgumentException.class, () -> Profile.parse(bad, 0), bad);
    }
  }

  @Test
  void invalidLayoutsAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> new StripeLayout(FOUR_TWO, -1));
    StripeLayout layout = new StripeLayout(FOUR_TWO, 10);
    assertThrows(IllegalArgumentException.class, () -> layout.shardLength(6));
    assertThrows(IllegalArgumentException.class, () -> layout.shardRange(4, ByteRange.EMPTY));
    assertThrows(IllegalArgumentException.class, () -> Profile.parse("4-2", 16384));
    assertThrows(IllegalArgumentException.class, () -> Profile.parse("4+2", 5000));
    assertThrows(IllegalArgumentException.class, () -> Profile.parse("200+56", 16384));
  }
}
