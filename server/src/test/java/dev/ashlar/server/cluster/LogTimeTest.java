package dev.ashlar.server.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.ashlar.protocol.client.ManualClock;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Clocks of processes may differ by anything. */
class LogTimeTest {
  private static final long LOG_MS = 1_700_000_000_000L;

  @ParameterizedTest
  @ValueSource(ints = {-30, 0, 3})
  void whatOthersDatedIsComparedInOneTime(int hours) {
    ManualClock here = new ManualClock(LOG_MS + Duration.ofHours(hours).toMillis());
    LogTime logTime = new LogTime(here);
    logTime.seen(LOG_MS);
    long readBeganMs = here.millis() - 7_000;
    assertEquals(LOG_MS, logTime.millis());
    assertEquals(LOG_MS - 7_000, logTime.ofOwn(readBeganMs));
    assertEquals(readBeganMs, logTime.toOwn(LOG_MS - 7_000));
    here.advanceMs(2_000);
    assertEquals(LOG_MS + 2_000, logTime.instant().toEpochMilli());
  }

  /** Where a leader's clock is behind that of the last one, log time waits for it. */
  @ParameterizedTest
  @ValueSource(ints = {1, 100})
  void aLogTimeThatStandsStillIsFollowed(int looks) {
    ManualClock here = new ManualClock(LOG_MS);
    LogTime logTime = new LogTime(here);
    for (int i = 0; i < looks; i++) {
      here.advanceMs(2_000);
      logTime.seen(LOG_MS);
    }
    assertEquals(LOG_MS, logTime.millis());
    assertEquals(LOG_MS - 5_000, logTime.ofOwn(here.millis() - 5_000), "it has run for so long");
  }
}
