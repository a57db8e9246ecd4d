package dev.ashlar.blob.change;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.blob.engine.ChangeFixture;
import dev.ashlar.blob.engine.EngineFixture;
import dev.ashlar.protocol.layout.ByteRange;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.Profile;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Objects of every length, changed from every place to every other one, where each of the three is
 * a boundary of a strip or stripe, one byte before it, or one behind it. Each is read whole, around
 * every place, and with two drives away, before and after the change is folded; then it is put over
 * with another length and appended to, so that bytes from before would show. {@code
 * -Dashlar.boundaries.seed} replays.
 */
class BoundaryTest {
  private static final Profile PROFILE = Profile.parse("3+2", 4096);
  private static final int STRIPES = 2;

  private final long seed = Long.getLong("ashlar.boundaries.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final List<Integer> places = places();
  private final List<Integer> losses = losses();
  private int nextLoss;
  private int cases;

  private static List<Integer> places() {
    TreeSet<Integer> places = new TreeSet<>();
    for (int at = 0; at <= STRIPES * PROFILE.stripeBytes(); at += PROFILE.stripeUnit()) {
      places.addAll(List.of(Math.max(0, at - 1), at, at + 1));
    }
    return List.copyOf(places);
  }

  /** All pairs of drives, as sets of bits. */
  private static List<Integer> losses() {
    List<Integer> losses = new ArrayList<>();
    for (int away = 0; away < 1 << PROFILE.shards(); away++) {
      if (Integer.bitCount(away) == PROFILE.parityShards()) {
        losses.add(away);
      }
    }
    return losses;
  }

  @Test
  void everyLengthFromEveryPlaceToEveryPlace() throws Exception {
    for (int size : places) {
      ChangeFixture engine = new ChangeFixture(PROFILE);
      for (int from : places) {
        for (int to : places) {
          if (from <= size && from < to) {
            changeAndPutOver(engine, size, from, to);
          }
        }
      }
      engine.assertNothingHeld();
    }
    System.out.println("BoundaryTest: " + cases + " cases, -Dashlar.boundaries.seed=" + seed);
  }

  private void changeAndPutOver(ChangeFixture engine, int size, int from, int to) throws Exception {
    String message = size + ": " + from + "-" + to + ", -Dashlar.boundaries.seed=" + seed;
    engine.put(EngineFixture.bytes(random, size));
    change(engine, from, to, message);
    check(engine, message);
    if (cases % 2 == 0) {
      engine.foldAll();
      check(engine, message + ", folded");
    }
    // Shorter or longer than what was there, and grown over it from there.
    int other = places.get(cases % places.size());
    engine.put(EngineFixture.bytes(random, other));
    check(engine, message + ", put over with " + other);
    int end = places.getLast() + 1;
    change(engine, other, end, message + ", put over with " + other);
    check(engine, message + ", put over with " + other + " and grown");
    cases++;
  }

  private void change(ChangeFixture engine, int from, int to, String message) throws Exception {
    byte[] bytes = EngineFixture.bytes(random, to - from);
    assertEquals(ResultCode.OK, engine.change(from, bytes).getCode(), message);
  }

  private void check(ChangeFixture engine, String message) throws Exception {
    engine.assertContent(message);
    readAroundPlaces(engine, message);
    int away = losses.get(nextLoss++ % losses.size());
    setAway(engine, away);
    engine.assertContent(message + ", away " + Integer.toBinaryString(away));
    readAroundPlaces(engine, message + ", away " + Integer.toBinaryString(away));
    setAway(engine, 0);
  }

  private static void setAway(ChangeFixture engine, int away) {
    for (int slot = 0; slot < PROFILE.shards(); slot++) {
      engine.setReachable(slot, (away >> slot & 1) == 0);
    }
  }

  /** Two bytes around some place, and from there to another. */
  private void readAroundPlaces(ChangeFixture engine, String message) throws Exception {
    int length = engine.expected.length;
    for (int i = 0; i < 2 && length > 0; i++) {
      int from = Math.min(places.get(random.nextInt(places.size())), length - 1);
      int far = places.get(random.nextInt(places.size()));
      int to = Math.min(length, i == 0 ? from + 2 : Math.max(from + 1, far));
      assertArrayEquals(
          Arrays.copyOfRange(engine.expected, from, to),
          engine.get(engine.object(), new ByteRange(from, to - from)),
          message + ", from " + from + " to " + to);
    }
  }
}
