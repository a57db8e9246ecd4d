package dev.ashlar.server.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class StoreSpaceTest {
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

  private double gauge(String name) {
    return meters.get("ashlar.cluster." + name).gauge().value();
  }

  @Test
  void itIsMeasured() {
    AtomicReference<StoreSpace> now = new AtomicReference<>();
    StoreSpace.measure(now::get, meters);
    assertEquals(Double.NaN, gauge("used.bytes"));
    assertEquals(Double.NaN, gauge("fullest.drive.percent"));
    now.set(new StoreSpace(3, 4, 2, 43));
    assertEquals(3, gauge("used.bytes"));
    assertEquals(4, gauge("free.bytes"));
    assertEquals(2, gauge("live.bytes"));
    assertEquals(43, gauge("fullest.drive.percent"));
    now.set(new StoreSpace(0, 0, 0, null));
    assertEquals(Double.NaN, gauge("fullest.drive.percent"));
  }

  @Test
  void aDriveIsAsFullAsItTakesOfWhatItCould() {
    assertEquals(0, new DriveUse(0, 5, 0).usedPercent());
    assertEquals(99, new DriveUse(999, 1, 0).usedPercent());
    assertEquals(100, new DriveUse(7, 0, 0).usedPercent());
    assertEquals(100, new DriveUse(0, 0, 0).usedPercent());
  }
}
