package dev.ashlar.server.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class RehearseCommandTest {
  @TempDir private Path temporary = Path.of("");

  @Test
  void servesItsOwnRequestsAndLeavesNothing() throws Exception {
    Path folder = temporary.resolve("rehearsal");
    Path foreign = Files.createDirectories(folder.resolve("somebody's"));
    int status =
        new CommandLine(new RehearseCommand())
            .execute("--folder", folder.toString(), "--seconds", "1");
    assertEquals(0, status);
    try (Stream<Path> left = Files.list(folder)) {
      assertEquals(List.of(foreign), left.toList());
    }
  }

  @Test
  void aNodeThatDoesNotStartEndsAll() {
    CountDownLatch hasStarted = new CountDownLatch(1);
    AtomicBoolean isClosed = new AtomicBoolean();
    Callable<AutoCloseable> starts =
        () -> {
          hasStarted.countDown();
          return () -> isClosed.set(true);
        };
    Callable<AutoCloseable> fails =
        () -> {
          hasStarted.await();
          throw new IllegalStateException("its port is taken");
        };
    Callable<AutoCloseable> waits =
        () -> {
          new CountDownLatch(1).await();
          return () -> {};
        };
    assertThrows(
        ExecutionException.class, () -> RehearseCommand.startAll(List.of(starts, fails, waits)));
    assertTrue(isClosed.get());
  }
}
