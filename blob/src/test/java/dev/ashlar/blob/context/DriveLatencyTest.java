package dev.ashlar.blob.context;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class DriveLatencyTest {
  private static final long MS = 1_000_000;

  private final DriveLatency drive = new DriveLatency(MS);

  private void record(int reads, long nanos) {
    for (int i = 0; i < reads; i++) {
      drive.record(nanos);
    }
  }

  private void assertLateFrom(long nanos) {
    assertTrue(
        nanos <= drive.lateNanos() && drive.lateNanos() <= nanos + nanos / 4,
        nanos + " expected, not " + drive.lateNanos());
  }

  @Test
  void nothingIsLateBeforeEnoughIsKnown() {
    record(DriveLatency.WARM_READS - 1, 1);
    assertEquals(Long.MAX_VALUE, drive.lateNanos());
    record(1, 1);
    assertEquals(MS, drive.lateNanos(), "the least");
  }

  @Test
  void oneOfAHundredIsLate() {
    for (int i = 1; i <= 1000; i++) {
      drive.record(i * MS);
    }
    record(24, 500 * MS);
    assertLateFrom(980 * MS);
  }

  @Test
  void oldLatenciesAreForgotten() {
    record(1024, 2000 * MS);
    assertLateFrom(2000 * MS);
    record(20 * 1024, 20 * MS);
    assertLateFrom(20 * MS);
  }

  @Test
  void anyDurationHasItsPlace() {
    for (long nanos : new long[] {-5, 0, 1, 1 << 14, 1L << 40, Long.MAX_VALUE}) {
      record(64, nanos);
    }
    assertTrue(drive.lateNanos() > 20_000 * MS);
  }
}
