package dev.ashlar.metadata.consensus.raft;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.protocol.client.ManualClock;
import java.time.Duration;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LogClockTest {
  private static final long START_MS = 1_700_000_000_000L;

  private final ManualClock machine = new ManualClock(START_MS);
  private long nanos = 77;
  private OptionalLong logTimeMs = OptionalLong.of(0);
  private LogClock clock = started();

  /** Of a process that has just started. */
  private LogClock started() {
    return new LogClock(machine, () -> nanos, () -> logTimeMs);
  }

  private void pass(Duration time) {
    machine.advanceMs(time.toMillis());
    nanos += time.toNanos();
  }

  /** A command is applied. */
  private long apply() {
    long ms = clock.millis();
    logTimeMs = OptionalLong.of(Math.max(ms, logTimeMs.orElse(0)));
    return ms;
  }

  @Test
  void anEmptyLogBeginsWithTheMachinesTime() {
    assertEquals(START_MS, apply());
    pass(Duration.ofSeconds(3));
    assertEquals(START_MS + 3_000, apply());
  }

  @Test
  void whoDoesNotKnowTheLogsTimeAddsNothing() {
    logTimeMs = OptionalLong.empty();
    assertEquals(1, clock.millis());
  }

  @Test
  void anEmptyLogMayBeginWithACommandOfAPeerThatDoesNotKnowIt() {
    logTimeMs = OptionalLong.empty();
    assertEquals(1, apply());
    assertEquals(OptionalLong.of(1), logTimeMs);
    assertEquals(START_MS, apply());
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 23})
  void aShortTimeWithoutMetadataCounts(int hours) {
    apply();
    machine.advanceMs(Duration.ofHours(hours).toMillis());
    clock = started();
    assertEquals(machine.millis(), apply());
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 30, 36_500})
  void aClockThatIsFurtherAheadDoesNot(int days) {
    apply();
    machine.advanceMs(Duration.ofDays(days).toMillis());
    for (int i = 0; i < 5; i++) {
      clock = started();
      assertEquals(START_MS, apply());
    }
    pass(Duration.ofSeconds(10));
    assertEquals(START_MS + 11_000, apply());
  }

  @Test
  void aClockThatIsBehindLeavesNoTimeStanding() {
    apply();
    machine.advanceMs(-Duration.ofDays(400).toMillis());
    clock = started();
    apply();
    pass(Duration.ofSeconds(10));
    assertEquals(START_MS + 9_000, apply());
  }

  @Test
  void anIdleProcessKeepsItsTime() {
    apply();
    for (int i = 0; i < 3; i++) {
      pass(Duration.ofDays(20));
      assertEquals(machine.millis(), apply());
    }
  }

  @Test
  void anIdleProcessWhoseClockIsSetAheadMovesByATenth() {
    apply();
    machine.advanceMs(Duration.ofDays(3_000).toMillis());
    pass(Duration.ofDays(100));
    assertEquals(START_MS + Duration.ofDays(110).toMillis(), apply());
  }

  @Test
  void aNewLeaderGoesOnFromTheLog() {
    logTimeMs = OptionalLong.of(START_MS - Duration.ofDays(1_000).toMillis());
    long first = apply();
    assertEquals(START_MS - Duration.ofDays(1_000).toMillis(), first);
    // Another one leads for a week.
    logTimeMs = OptionalLong.of(first + Duration.ofDays(7).toMillis());
    pass(Duration.ofDays(7));
    long next = apply();
    assertTrue(next >= logTimeMs.getAsLong());
    assertTrue(next - first <= Duration.ofDays(8).toMillis(), () -> "" + (next - first));
  }
}
