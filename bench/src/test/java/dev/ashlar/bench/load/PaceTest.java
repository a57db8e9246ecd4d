package dev.ashlar.bench.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PaceTest {
  @Test
  void closedBeginsWhenItIsAskedUntilTheEnd() {
    Pace pace = Pace.closed(100, 200);
    assertEquals(0, pace.untilNext(150));
    assertEquals(150, pace.take(150));
    assertEquals(0, pace.untilNext(199));
    assertEquals(Pace.OVER, pace.untilNext(200));
    assertFalse(pace.hasGivenUp());
  }

  /** A server that stands still for 50 of them is charged with the wait of each. */
  @Test
  void openCountsFromTheIntendedBeginning() {
    Pace pace = Pace.open(1000, 2000, 2500, 10);
    assertEquals(1000, pace.take(1000));
    assertEquals(5, pace.untilNext(1005));
    for (int late = 1; late <= 50; late++) {
      assertTrue(pace.untilNext(1500) <= 0);
      assertEquals(1000 + late * 10L, pace.take(1500));
    }
    assertEquals(10, pace.untilNext(1500));
  }

  @Test
  void openSendsWhatIsLateUntilTheLastCall() {
    Pace pace = Pace.open(0, 100, 150, 10);
    for (int taken = 0; taken < 8; taken++) {
      assertEquals(taken * 10L, pace.take(120));
    }
    assertEquals(-60, pace.untilNext(140));
    assertEquals(Pace.OVER, pace.untilNext(150));
    assertTrue(pace.hasGivenUp());
    assertEquals(80, pace.take(150));
    assertEquals(90, pace.take(150));
    assertFalse(pace.hasGivenUp());
    assertEquals(Pace.OVER, pace.untilNext(150));
  }

  @Test
  void openIsOverWhenAllHaveBegun() {
    Pace pace = Pace.open(0, 20, 30, 10);
    pace.take(0);
    pace.take(10);
    assertEquals(Pace.OVER, pace.untilNext(15));
    assertFalse(pace.hasGivenUp());
  }
}
