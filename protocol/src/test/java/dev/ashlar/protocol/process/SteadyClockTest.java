package dev.ashlar.protocol.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.ManualClock;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SteadyClockTest {
  private static final long START_MS = 1_700_000_000_000L;

  private final ManualClock machine = new ManualClock(START_MS);
  private long nanos = 77;
  private final SteadyClock clock = new SteadyClock(machine, () -> nanos);

  /** Returns how far the clock has moved. */
  private long pass(Duration time) {
    long before = clock.millis();
    machine.advanceMs(time.toMillis());
    nanos += time.toNanos();
    return clock.millis() - before;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 7, 1000, 3_600_000})
  void itShowsTheMachinesTime(long ms) {
    assertEquals(START_MS, clock.millis());
    assertEquals(ms, pass(Duration.ofMillis(ms)));
    assertEquals(machine.millis(), clock.instant().toEpochMilli());
  }

  @ParameterizedTest
  @ValueSource(ints = {-48, -3, 3, 48})
  void aJumpOfTheMachinesClockIsNone(int hours) {
    pass(Duration.ofSeconds(5));
    long before = clock.millis();
    machine.advanceMs(Duration.ofHours(hours).toMillis());
    assertEquals(before, clock.millis());
    int tenth = hours < 0 ? -1 : 1;
    assertEquals(10_000 + tenth * 1_000, pass(Duration.ofSeconds(10)));
  }

  @ParameterizedTest
  @ValueSource(ints = {-3, 3})
  void itComesToTheMachinesTimeInTheEnd(int hours) {
    machine.advanceMs(Duration.ofHours(hours).toMillis());
    for (int i = 0; i < 10 * Math.abs(hours) - 1; i++) {
      pass(Duration.ofHours(1));
      assertTrue(Math.abs(machine.millis() - clock.millis()) > 0);
    }
    pass(Duration.ofHours(1));
    assertEquals(machine.millis(), clock.millis());
    pass(Duration.ofSeconds(1));
    assertEquals(machine.millis(), clock.millis());
  }
}
