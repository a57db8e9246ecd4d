package dev.ashlar.gateway.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.gateway.error.Denial;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AuditLogTest {
  private static final Duration LONG = Duration.ofMinutes(5);

  @TempDir private Path folder;

  private static AuditEvent event(String key) {
    AuditEvent event =
        new AuditEvent(new AuditEvent.Origin("s3", "ID", "192.0.2.1", false, null), 0, 0);
    event.operation("GetObject");
    event.object("b", key);
    return event;
  }

  private static List<String> keys(Path file) throws IOException {
    List<String> keys = new ArrayList<>();
    for (Map<String, String> line : AuditLines.read(file)) {
      keys.add(line.get("key"));
    }
    return keys;
  }

  /** Takes lines only while it is let. */
  private static final class Gate implements AuditOutput {
    final Semaphore permits = new Semaphore(0);
    final CountDownLatch reached = new CountDownLatch(1);
    final AtomicBoolean isFull = new AtomicBoolean();

    /** Whether the next write meets a fault. */
    final AtomicBoolean isFaulty = new AtomicBoolean();

    final ByteArrayOutputStream taken = new ByteArrayOutputStream();

    @Override
    public void write(byte[] lines) throws IOException {
      reached.countDown();
      permits.acquireUninterruptibly();
      if (isFull.get()) {
        throw new IOException("No space left on device");
      }
      if (isFaulty.getAndSet(false)) {
        throw new IllegalStateException("a fault");
      }
      taken.writeBytes(lines);
    }

    @Override
    public void close() {}

    long lines() {
      return taken.toString(StandardCharsets.UTF_8).lines().count();
    }
  }

  @Test
  void everyLineIsInTheFileWhenItIsClosed() throws Exception {
    Path file = folder.resolve("audit.log");
    try (AuditLog log = AuditLog.toFile(file, "gw-1")) {
      for (int i = 0; i < 1000; i++) {
        log.write(event("k" + i));
      }
    }
    assertEquals(1000, keys(file).size());
    assertEquals("k999", keys(file).getLast());
    assertEquals("gw-1", AuditLines.read(file).getFirst().get("node"));
    assertEquals("rw-r-----", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
  }

  @Test
  void aFileIsContinuedAndATornLastLineEnded() throws Exception {
    Path file = folder.resolve("audit.log");
    Files.writeString(file, "{\"key\":\"before\"}\n{\"key\":\"to");
    try (AuditLog log = AuditLog.toFile(file, null)) {
      log.write(event("after"));
    }
    List<String> lines = Files.readAllLines(file);
    assertEquals(3, lines.size());
    assertEquals("after", AuditLines.parse(lines.get(2)).get("key"));
  }

  @Test
  void aFileThatIsMovedAwayOrDeletedIsBegunAgain() throws Exception {
    Path file = folder.resolve("audit.log");
    try (AuditOutput output = AuditOutput.ofFile(file)) {
      output.write(line("a"));
      Files.move(file, folder.resolve("audit.log.1"));
      output.write(line("b"));
      Files.delete(file);
      output.write(line("c"));
      Files.move(file, folder.resolve("audit.log.2"));
      Files.createFile(file); // as logrotate's "create"
      output.write(line("d"));
    }
    assertEquals(List.of("a"), keys(folder.resolve("audit.log.1")));
    assertEquals(List.of("c"), keys(folder.resolve("audit.log.2")));
    assertEquals(List.of("d"), keys(file));
  }

  @Test
  void aFileThatIsCopiedAndTruncatedIsContinuedAtItsBeginning() throws Exception {
    Path file = folder.resolve("audit.log");
    try (AuditOutput output = AuditOutput.ofFile(file)) {
      output.write(line("a"));
      Files.write(file, new byte[0]);
      output.write(line("b"));
    }
    assertEquals(List.of("b"), keys(file));
  }

  @Test
  void aFolderThatComesBackIsUsedAgain() throws Exception {
    Path file = Files.createDirectory(folder.resolve("logs")).resolve("audit.log");
    try (AuditOutput output = AuditOutput.ofFile(file)) {
      output.write(line("a"));
      Files.delete(file);
      Files.delete(file.getParent());
      assertThrows(IOException.class, () -> output.write(line("b")));
      Files.createDirectory(file.getParent());
      output.write(line("c"));
    }
    assertEquals(List.of("c"), keys(file));
  }

  @Test
  void aFileThatCannotBeOpenedIsRefusedAtOnce() {
    assertThrows(
        IOException.class, () -> AuditLog.toFile(folder.resolve("none").resolve("a"), null));
    assertThrows(IOException.class, () -> AuditLog.toFile(folder, null));
  }

  @Test
  void anOutputThatHangsCostsLinesAndAWaitOnceNotMemory() throws Exception {
    Gate gate = new Gate();
    AuditLog log = new AuditLog(gate, null, 2000, Duration.ofMillis(50));
    log.write(event("first"));
    gate.reached.await();
    for (int i = 0; i < 10_000; i++) {
      log.write(event("k" + i)); // would take minutes if each one waited
    }
    long kept = 10_000 - log.dropped();
    assertTrue(kept > 0 && kept < 20, kept + " lines of at least 100 bytes in 2000");
    gate.permits.release(1000);
    long dropped = log.dropped();
    log.close();
    assertEquals(10_001, gate.lines() + dropped);
  }

  @Test
  void requestsWaitForAnOutputThatIsSlow() throws Exception {
    Gate gate = new Gate();
    AuditLog log = new AuditLog(gate, null, 1000, LONG);
    log.write(event("first"));
    gate.reached.await();
    Thread requests =
        Thread.ofVirtual()
            .start(
                () -> {
                  for (int i = 0; i < 100; i++) {
                    log.write(event("k" + i));
                  }
                });
    gate.permits.release(1000);
    requests.join();
    log.close();
    assertEquals(0, log.dropped());
    assertEquals(101, gate.lines());
  }

  @Test
  void linesThatAFullDiskRefusesAreCounted() throws Exception {
    Gate gate = new Gate();
    AuditLog log = new AuditLog(gate, null, 1 << 20, LONG);
    gate.isFull.set(true);
    gate.permits.release(1000);
    for (int i = 0; i < 10; i++) {
      log.write(event("k" + i));
    }
    log.close();
    assertEquals(10, log.dropped());
  }

  @Test
  void linesOfOneRequestMayBeLargerThanTheQueue() throws Exception {
    Gate gate = new Gate();
    gate.permits.release(10);
    try (AuditLog log = new AuditLog(gate, null, 10, LONG)) {
      AuditEvent event = event("k");
      for (int i = 0; i < 1000; i++) {
        event.part(new AuditEvent.Part("DeleteObjectsKey", "k" + i, null, true, null, 204, null));
      }
      log.write(event);
    }
    assertEquals(1001, gate.lines());
  }

  @Test
  void linesOfPartsAreShortAndQueuedInPieces() throws Exception {
    Gate gate = new Gate();
    AuditLog log = new AuditLog(gate, null, 200_000, Duration.ofMillis(50));
    log.write(event("first"));
    gate.reached.await();
    AuditEvent event =
        new AuditEvent(
            new AuditEvent.Origin("s3", "ID", "192.0.2.1", false, "u".repeat(5000)), 0, 0);
    event.operation("DeleteObjects");
    for (int i = 0; i < 1000; i++) {
      event.part(
          new AuditEvent.Part("Key", "k".repeat(5000), null, false, Denial.BUCKET, 403, null));
    }
    log.write(event);
    long dropped = log.dropped();
    assertTrue(dropped > 800 && dropped < 1000, dropped + " of 1001 lines of 1.2 KB in 200 KB");
    gate.permits.release(1000);
    log.close();
    List<Map<String, String>> lines = new ArrayList<>();
    for (String line : gate.taken.toString(StandardCharsets.UTF_8).lines().toList()) {
      lines.add(AuditLines.parse(line));
    }
    assertEquals("u".repeat(256) + "…", lines.get(1).get("userAgent"));
    assertEquals("denied", lines.get(1).get("decision"), "as all of its parts");
    assertEquals("bucket", lines.get(1).get("deniedBy"));
    assertEquals("k".repeat(1024) + "…", lines.get(2).get("key"));
    assertEquals("ID", lines.get(2).get("requestId"));
    assertNull(lines.get(2).get("userAgent"));
    assertNull(lines.get(2).get("remote"));
  }

  @Test
  void aFaultOfTheOutputDoesNotEndTheLog() throws Exception {
    Gate gate = new Gate();
    AuditLog log = new AuditLog(gate, null, 1 << 20, LONG);
    gate.isFaulty.set(true);
    log.write(event("first"));
    gate.reached.await();
    log.write(event("second"));
    gate.permits.release(1000);
    log.close();
    assertEquals(2, gate.lines() + log.dropped());
    assertEquals(1, log.dropped());
  }

  @Test
  void aRequestThatIsInterruptedLosesOnlyItsOwnLines() throws Exception {
    Gate gate = new Gate();
    AuditLog log = new AuditLog(gate, null, 1, LONG);
    log.write(event("written"));
    gate.reached.await();
    log.write(event("queued"));
    Thread.currentThread().interrupt();
    log.write(event("lost"));
    assertTrue(Thread.interrupted());
    Thread other = Thread.ofVirtual().start(() -> log.write(event("waits")));
    gate.permits.release(1000);
    other.join();
    log.close();
    assertEquals(1, log.dropped());
    assertEquals(3, gate.lines());
  }

  @Test
  void whatIsNoRequestOfS3IsNotInTheLog() throws Exception {
    Path file = folder.resolve("audit.log");
    try (AuditLog log = AuditLog.toFile(file, null)) {
      log.write(new AuditEvent(new AuditEvent.Origin("s3", "ID", "::1", true, "x"), 0, 0));
    }
    assertEquals(0, Files.size(file));
  }

  private static byte[] line(String key) {
    return ("{\"key\":\"" + key + "\"}\n").getBytes(StandardCharsets.UTF_8);
  }
}
