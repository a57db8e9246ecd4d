package dev.ashlar.server.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RecentRiskTest {
  @Test
  void itIsComputedOnceForAllWhoAskAtOnce() {
    AtomicLong nanos = new AtomicLong(Long.MAX_VALUE); // it may overflow
    AtomicInteger computed = new AtomicInteger();
    RecentRisk risk =
        new RecentRisk(() -> computed.incrementAndGet() == 1 ? null : DataRisk.UNKNOWN, nanos::get);
    assertNull(risk.now());
    nanos.addAndGet(RecentRisk.KEPT.toNanos() - 1);
    assertNull(risk.now(), "also that it is not known is remembered");
    assertEquals(1, computed.get());
    nanos.incrementAndGet();
    assertEquals(DataRisk.UNKNOWN, risk.now());
    assertEquals(DataRisk.UNKNOWN, risk.now());
    assertEquals(2, computed.get());
  }
}
