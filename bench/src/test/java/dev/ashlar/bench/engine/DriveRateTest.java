package dev.ashlar.bench.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class DriveRateTest {
  private final DriveRate rate = new DriveRate(1000, 128 << 20);

  @Test
  void aSmallOneTakesAsLongAsAnyOther() {
    assertEquals(1_000_000, rate.nanos(1));
    assertEquals(1_000_000, rate.nanos(64 << 10));
  }

  @Test
  void aLargeOneTakesAsLongAsItsBytes() {
    assertEquals(1_000_000_000L / 64, rate.nanos(2 << 20));
  }

  @Test
  void aLargeOneIsSeveral() {
    assertEquals(8_000_000, new DriveRate(1000, 1L << 40).nanos(2 << 20));
  }

  @Test
  void nothingIsNoRate() {
    assertThrows(IllegalArgumentException.class, () -> new DriveRate(0, 1));
    assertThrows(IllegalArgumentException.class, () -> new DriveRate(1, 0));
  }
}
