package dev.ashlar.storage.drive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class HangDetectorTest {
  private static final Duration STALL = Duration.ofSeconds(10);
  private static final Duration HANG = Duration.ofSeconds(30);
  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  private long now = 5 * SECOND;
  private final HangDetector bound =
      new HangDetector(TestDrives.LIMITS.withTimeouts(STALL, HANG), () -> now);

  /** So many seconds in which an operation runs, from when it had run for so long. */
  private void runs(int fromSeconds, int seconds) {
    for (int i = 1; i <= seconds; i++) {
      now += SECOND;
      bound.update((fromSeconds + i) * SECOND);
    }
  }

  private void rests(int seconds) {
    for (int i = 0; i < seconds; i++) {
      now += SECOND;
      bound.update(0);
    }
  }

  @Test
  void promptReturnIsNoFailure() {
    for (int i = 0; i < 100; i++) {
      runs(0, 30);
      assertFalse(bound.hasFailed());
    }
    runs(0, 31);
    assertTrue(bound.hasFailed());
  }

  @Test
  void gapsBetweenChecksDoNotCount() {
    runs(0, 20);
    now += Duration.ofHours(3).toNanos(); // the process stood still
    bound.update(Duration.ofHours(3).toNanos());
    assertFalse(bound.hasFailed());
    runs(3 * 3600, 30);
    assertFalse(bound.hasFailed());
    runs(3 * 3600 + 30, 1);
    assertTrue(bound.hasFailed());
  }

  @Test
  void driveRecoversAfterARestPeriod() {
    runs(0, 31);
    rests(29);
    assertTrue(bound.hasFailed());
    rests(1);
    assertFalse(bound.hasFailed());
  }

  @Test
  void slowReturnRestartsTheRestPeriod() {
    runs(0, 31);
    rests(15);
    runs(0, 11);
    rests(29);
    assertTrue(bound.hasFailed());
    runs(0, 1);
    assertFalse(bound.hasFailed(), "what takes a second is not slow");
  }

  @Test
  void restPeriodGrows() {
    int expected = 30;
    for (int i = 0; i < 10; i++) {
      runs(0, 31);
      int rested = 0;
      while (bound.hasFailed()) {
        rests(1);
        rested++;
      }
      assertEquals(expected, rested);
      expected = Math.min(2 * expected, 3600);
    }
    assertEquals(3600, expected);
  }
}
