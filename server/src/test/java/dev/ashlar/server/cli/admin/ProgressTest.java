package dev.ashlar.server.cli.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ProgressTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  @Test
  void theRateIsThatOfWhatGoes() {
    Progress progress = new Progress(0);
    progress.add(0, 1000 << 10, true);
    progress.add(2 * SECOND, 800 << 10, true);
    assertEquals(100 << 10, progress.rate());
    assertEquals(
        "[######------------------------]  20 %  7 blobs, 800.0 KiB left  100.0 KiB/s, 8 s left",
        progress.line(7, true, false));
  }

  @Test
  void whatGrowsHasNoRate() {
    Progress progress = new Progress(0);
    progress.add(0, 1000, true);
    progress.add(SECOND, 2000, false);
    assertEquals(0, progress.rate());
    assertEquals(
        "[------------------------------]   0 %  7 blobs, 2.0 KiB left  being counted",
        progress.line(7, false, false));
  }

  @Test
  void nothingLeftIsAll() {
    Progress progress = new Progress(0);
    progress.add(0, 0, true);
    assertEquals(
        "[##############################] 100 %  0 blobs, 0 B left  ",
        progress.line(0, true, false));
  }
}
