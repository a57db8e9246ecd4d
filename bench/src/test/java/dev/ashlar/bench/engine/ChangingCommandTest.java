package dev.ashlar.bench.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.bench.Printed;
import dev.ashlar.transport.tls.TestAuthority;
import dev.ashlar.transport.tls.TlsFiles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChangingCommandTest {
  @TempDir private Path folder = Path.of("");

  @Test
  void comparesTheFormsAndCountsWhatTheDrivesDid() {
    Printed printed =
        Printed.by(
            "changing",
            "--folder=" + folder,
            "--results=" + folder.resolve("results"),
            "--profile=2+2",
            "--objects=2",
            "--object-size=4MiB",
            "--clients=2",
            "--passes=1",
            "--seconds=1",
            "--warm-up=0",
            "--io=BUFFERED",
            "--classic-unit=4KiB,16KiB",
            "--work=OVERWRITE_4K");
    assertEquals(0, printed.status(), printed.err());
    List<String[]> rows =
        printed
            .out()
            .lines()
            .filter(line -> line.startsWith("| overwrite 4 KiB"))
            .map(line -> line.split(" *\\| *", -1))
            .toList();
    assertEquals(4, rows.size(), printed.out());
    checkDrives(rows.get(0), "2+2", 1, 3);
    checkDrives(rows.get(1), "2+2,optimizations=off", 2, 4);
    checkDrives(rows.get(2), "2+2,optimizations=off, 16 KiB", 2, 4);
    checkDrives(rows.get(3), "1+2", 0, 3);
    for (int i = 0; i < rows.size(); i++) {
      String[] row = rows.get(i);
      double rate = number(row[3]);
      assertTrue(rate >= 1, printed.out());
      assertTrue(number(row[5]) <= number(row[6]), "p50 is at most p99: " + printed.out());
      if (i > 0) {
        double ratio = number(rows.getFirst()[3]) / rate;
        assertEquals(ratio, number(row[4].replace("×", "")), 0.01 + ratio / rate, printed.out());
      }
    }
    assertTrue(printed.out().contains("| profile | bytes on drives per byte |"), printed.out());
  }

  @Test
  void drivesMayBeSlowAndFarAwayAndBehindTls() throws Exception {
    TlsFiles tls = new TestAuthority(folder, "authority").files("node");
    Printed printed =
        Printed.by(
            "changing",
            "--folder=" + folder,
            "--results=" + folder.resolve("results"),
            "--profile=1+2",
            "--objects=1",
            "--object-size=4MiB",
            "--clients=4",
            "--passes=1",
            "--seconds=1",
            "--warm-up=0",
            "--cluster-tls-cert=" + tls.certificates(),
            "--cluster-tls-key=" + tls.key(),
            "--cluster-tls-ca=" + tls.authorities(),
            "--drive-iops=2000",
            "--drive-throughput=1GiB",
            "--recent-memory=16MiB",
            "--work=READ_4K");
    assertEquals(0, printed.status(), printed.err());
    assertTrue(
        printed
            .out()
            .contains(
                "3 drives of 2,000 I/Os and 1,024 MiB a second, each behind a storage node of"
                    + " its own, with TLS, up to 16 MiB for blocks changed lately"),
        printed.out());
    double rate =
        printed
            .out()
            .lines()
            .filter(line -> line.startsWith("| read 4 KiB"))
            .mapToDouble(line -> number(line.split(" *\\| *", -1)[3]))
            .findFirst()
            .orElseThrow();
    assertTrue(rate > 0, printed.out());
  }

  @Test
  void aDriveThatDoesNothingIsRefused() {
    Printed printed = Printed.by("changing", "--drive-iops=100", "--drive-throughput=0");
    assertEquals(2, printed.status(), printed.err());
    assertTrue(printed.err().contains("--drive-throughput: at least 1"), printed.err());
  }

  @Test
  void aUnitThatIsNoneIsRefused() {
    Printed printed = Printed.by("changing", "--classic-unit=4KiB,5KiB");
    assertEquals(2, printed.status(), printed.err());
    assertTrue(printed.err().contains("stripe unit 5120: needs a multiple"), printed.err());
  }

  @Test
  void tlsNeedsAllItsFiles() {
    Printed printed = Printed.by("changing", "--cluster-tls-cert=tls.crt");
    assertEquals(2, printed.status(), printed.err());
    assertTrue(printed.err().contains("--cluster-tls-key"), printed.err());
  }

  @Test
  void aCertificateForAnotherHostIsRefusedBeforeAnythingIsBegun() throws Exception {
    TestAuthority authority = new TestAuthority(folder, "authority");
    TlsFiles tls =
        authority.files(
            "node",
            authority.issue(
                "node",
                builder ->
                    builder
                        .addSanDnsName("elsewhere")
                        .addExtendedKeyUsageServerAuth()
                        .addExtendedKeyUsageClientAuth()));
    Path results = folder.resolve("results");
    Printed printed =
        Printed.by(
            "changing",
            "--folder=" + folder,
            "--results=" + results,
            "--cluster-tls-cert=" + tls.certificates(),
            "--cluster-tls-key=" + tls.key(),
            "--cluster-tls-ca=" + tls.authorities());
    assertNotEquals(0, printed.status(), printed.out());
    assertTrue(printed.err().contains(tls.certificates().toString()), printed.err());
    assertFalse(Files.exists(results));
  }

  /** Operations that begin before the span or end after it make a small difference. */
  private static void checkDrives(String[] row, String profile, double reads, double writes) {
    assertEquals(profile, row[2]);
    assertEquals(reads, number(row[8]), 0.5, String.join("|", row));
    assertEquals(writes, number(row[9]), 0.5, String.join("|", row));
  }

  private static double number(String cell) {
    return Double.parseDouble(cell.strip());
  }
}
