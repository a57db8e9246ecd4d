package dev.ashlar.bench.versus;

import static java.lang.Double.NaN;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.bench.process.BenchException;
import dev.ashlar.bench.process.Usage;
import dev.ashlar.bench.process.UsageSeries;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class MeasurementTest {
  private static final Instant ZERO = Instant.parse("2026-11-21T02:00:00Z");
  private static final UsageSeries UNKNOWN =
      new UsageSeries(List.of(new Usage(ZERO, NaN, NaN, NaN)));

  @Test
  void readsWarpsRecords() {
    String line =
        "7\t8\tPUT\tzmxd\t1\t4096\thttp://127.0.0.1:9000\ta/1.(b).rnd\t\t"
            + "2026-11-21T02:38:19.354608633Z\t\t2026-11-21T02:38:20.186053576Z\t831444943\t0";
    assertTrue(Operation.isRecord(line));
    Operation operation = Operation.parse(line);
    assertEquals("PUT", operation.type());
    assertEquals(831444943, operation.duration().toNanos());
    assertFalse(operation.failed());
    assertTrue(Operation.parse(line.replace(".rnd\t\t", ".rnd\tbroken pipe\t")).failed());
    assertFalse(Operation.isRecord(""));
    assertFalse(Operation.isRecord("Report: PUT. Concurrency: 16. Ran: 3s"));
    assertFalse(Operation.isRecord(" * Average: 138.65 MiB/s, 13.86 obj/s"));
  }

  /** As warp 1.0 wrote it down, from a run of 0.3 s. */
  @Test
  void measuresARecordedRun() throws IOException {
    List<Operation> recorded = recorded("warp-get.txt");
    assertEquals(61, recorded.size());
    assertEquals(20, recorded.stream().filter(each -> each.type().equals("PUT")).count());
    Measurement measured = Measurement.of(Work.GET_4K, recorded, UNKNOWN);
    assertEquals(0, measured.failures());
    assertEquals(3.429022, measured.p50Millis(), 1e-4);
    assertEquals(48.011346, measured.p99Millis(), 1e-4);
    assertTrue(Double.isNaN(measured.cpuMillis()));
    assertTrue(Double.isNaN(measured.rssMebibytes()));
  }

  /** The messages of errors have quotes, and in them quotes that are doubled. */
  @Test
  void countsRequestsThatFailedInARecordedRun() throws IOException {
    List<Operation> recorded = recorded("warp-get-server-gone.txt");
    Measurement measured = Measurement.of(Work.GET_4K, recorded, UNKNOWN);
    assertEquals(2, measured.failures());
  }

  private static List<Operation> recorded(String name) throws IOException {
    try (InputStream recording = MeasurementTest.class.getResourceAsStream(name)) {
      return new String(Objects.requireNonNull(recording).readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(Operation::isRecord)
          .map(Operation::parse)
          .toList();
    }
  }

  /** 10 s of preparation, 10 s of GETs one behind the other, 5 s of deferred work. */
  @Test
  void chargesDeferredWorkButNotPreparation() {
    List<Operation> operations = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      operations.add(operation("PUT", i * 100L, i * 100L + 100));
    }
    for (int i = 0; i < 1000; i++) {
      operations.add(operation("GET", 10_000 + i * 10L, 10_010 + i * 10L));
    }
    List<Usage> samples = new ArrayList<>();
    for (int at = 0; at <= 25_000; at += 100) {
      double cpu =
          at < 10_000
              ? at
              : at < 20_000 ? 10_000 + (at - 10_000) / 5.0 : 12_000 + (at - 20_000) / 10.0;
      samples.add(new Usage(ZERO.plusMillis(at), cpu, 2 * cpu, 3 << 20));
    }
    Measurement measured = Measurement.of(Work.GET_4K, operations, new UsageSeries(samples));
    assertEquals(100, measured.operationsPerSecond(), 0.01);
    assertEquals(10, measured.p50Millis(), 0.01);
    assertEquals(10, measured.p99Millis(), 0.01);
    assertEquals(2 + 0.5, measured.cpuMillis(), 0.01);
    assertEquals(4, measured.machineCpuMillis(), 0.01);
    assertEquals(3, measured.rssMebibytes());
    assertEquals(0, measured.failures());
  }

  @Test
  void mixedWorkStartsBehindItsPreparation() {
    List<Operation> operations =
        List.of(
            operation("PUT", 0, 1000),
            operation("GET", 5000, 6000),
            operation("PUT", 5000, 7000),
            operation("STAT", 6000, 6500),
            operation("GET", 7000, 8000));
    List<Usage> samples =
        List.of(new Usage(ZERO, 0, 0, 0), new Usage(ZERO.plusMillis(8000), 0, 0, 0));
    Measurement measured = Measurement.of(Work.MIXED, operations, new UsageSeries(samples));
    assertEquals(3 / 2.0, measured.operationsPerSecond(), 1e-9);
    assertEquals(2000, measured.p99Millis(), 1e-9);
  }

  @Test
  void operationsCountByTheirShareOfTheWindow() {
    Operation operation = operation("GET", 1000, 2000);
    assertEquals(1, operation.shareWithin(ZERO, ZERO.plusMillis(3000)));
    assertEquals(0.25, operation.shareWithin(ZERO, ZERO.plusMillis(1250)));
    assertEquals(0, operation.shareWithin(ZERO, ZERO.plusMillis(500)));
  }

  @Test
  void nothingRecordedIsAnError() {
    assertThrows(BenchException.class, () -> Measurement.of(Work.STAT, List.of(), UNKNOWN));
  }

  @Test
  void whatIsRefusedIsNoWork() {
    List<Operation> operations = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      operations.add(operation("PUT", i * 100L, i * 100L + 100));
      operations.add(refused("PUT", i * 100L, i * 100L + 1));
    }
    Measurement measured = Measurement.of(Work.PUT_4K, operations, UNKNOWN);
    assertEquals(10, measured.operationsPerSecond(), 0.2);
    assertEquals(100, measured.p50Millis(), 1e-9);
    assertEquals(100, measured.failures());
    List<Operation> all = List.of(refused("PUT", 0, 1), refused("PUT", 1, 2));
    BenchException failure =
        assertThrows(BenchException.class, () -> Measurement.of(Work.PUT_4K, all, UNKNOWN));
    assertEquals("all of 2 requests failed", failure.getMessage());
  }

  private static Operation refused(String type, long startMillis, long endMillis) {
    return new Operation(type, ZERO.plusMillis(startMillis), ZERO.plusMillis(endMillis), true);
  }

  private static Operation operation(String type, long startMillis, long endMillis) {
    return new Operation(type, ZERO.plusMillis(startMillis), ZERO.plusMillis(endMillis), false);
  }
}
