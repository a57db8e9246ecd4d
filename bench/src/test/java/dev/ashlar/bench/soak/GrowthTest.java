package dev.ashlar.bench.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class GrowthTest {
  private static final int SAMPLES = 90;

  @Test
  void growthOfTheFirstThirdIsWarmingUp() {
    Growth growth = resident(at -> at < 30 ? 200 + at * 4 : 320);
    assertEquals(0, growth.share(), 1e-9);
    assertFalse(growth.isGrowing());
  }

  @Test
  void whatGoesOnGrowingIsSaid() {
    Growth growth = resident(at -> 300 + at);
    assertTrue(growth.isGrowing());
    assertTrue(growth.verdict().contains("GROWS"), growth.verdict());
  }

  /** A heap that is collected each ten samples, and leaves the same. */
  @Test
  void garbageIsNoGrowth() {
    List<Sample> samples = samples(at -> 300, at -> 30 + at % 10 * 5 * (at < 60 ? 1 : 2));
    Growth heap = Growth.of(samples).get(1);
    assertEquals("heap", heap.name());
    assertFalse(heap.isGrowing(), heap.verdict());
  }

  @Test
  void whatIsNotKnownIsNotJudged() {
    Growth growth = resident(at -> Double.NaN);
    assertFalse(growth.isGrowing());
    assertEquals("not known", growth.verdict());
    assertEquals("not known", Growth.of(List.of()).getFirst().verdict());
  }

  private static Growth resident(DoubleUnaryOperator mebibytes) {
    return Growth.of(samples(mebibytes, at -> 30)).getFirst();
  }

  private static List<Sample> samples(DoubleUnaryOperator resident, DoubleUnaryOperator heap) {
    return IntStream.range(0, SAMPLES)
        .mapToObj(
            at ->
                new Sample(
                    at, resident.applyAsDouble(at), heap.applyAsDouble(at), 30, 100, 200, at, at))
        .toList();
  }
}
