package dev.ashlar.server.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.server.config.Machine;
import dev.ashlar.storage.drive.DriveResources.Budget;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OpenFilesTest {
  /** Of the program, and of each drive beside its segments and tables. */
  private static final int OF_PROCESS = 400;

  private static final int OF_DRIVE = 64;

  /** To which Java has raised the soft limit. */
  @Test
  void theLimitIsThatOfTheProcess() throws Exception {
    List<String> limits = Files.readAllLines(Path.of("/proc/self/limits"));
    String line =
        limits.stream().filter(l -> l.startsWith("Max open files")).findAny().orElseThrow();
    assertEquals(line.strip().split(" +", -1)[3], Long.toString(Machine.ofProcess().openFiles()));
  }

  @Test
  void drivesShareWhatMayBeOpen() throws Exception {
    assertShare(1024, 256, new OpenFiles(1 << 20).share(6));
    assertShare(1024, 256, new OpenFiles(Long.MAX_VALUE).share(6));
    assertShare(85, 170, new OpenFiles(4096).share(6));
    assertShare(128, 256, new OpenFiles(1024).share(1));
  }

  private static void assertShare(int segments, int tables, Budget budget) {
    assertEquals(segments, budget.openSegments());
    assertEquals(tables, budget.openTables());
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 6, 12, 24, 60})
  void whatAllMayHaveOpenIsWithinTheLimit(int drives) throws Exception {
    for (long max = OF_PROCESS + 128L * drives; max < 20_000; max += 7) {
      Budget budget = new OpenFiles(max).share(drives);
      int ofDrive = 2 * budget.openSegments() + budget.openTables() + OF_DRIVE;
      long all = OF_PROCESS + (long) drives * ofDrive;
      assertTrue(all <= max, all + " of " + max + " for " + drives + " drives");
      assertTrue(budget.openSegments() >= 16 && budget.openTables() >= 32, budget.toString());
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 6, 60})
  void tooFewAreRefusedWithWhatToDo(int drives) throws Exception {
    long least = OF_PROCESS + 128L * drives;
    IOException refusal =
        assertThrows(IOException.class, () -> new OpenFiles(least - 1).share(drives));
    String message = refusal.toString();
    assertTrue(message.contains("may open " + (least - 1) + " files"), message);
    assertTrue(message.contains("at least " + least + ": raise the hard limit"), message);
    assertTrue(message.contains("ulimit -Hn") && message.contains("LimitNOFILE"), message);
    new OpenFiles(least).share(drives);
  }
}
