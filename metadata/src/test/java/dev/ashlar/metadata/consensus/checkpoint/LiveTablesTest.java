package dev.ashlar.metadata.consensus.checkpoint;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.checkpoint.LiveTables.FailedRebuild;
import dev.ashlar.metadata.consensus.file.DamagedFileException;
import dev.ashlar.metadata.consensus.raft.PeerFailureText;
import dev.ashlar.metadata.server.TestResources;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LiveTablesTest {
  private static final LiveTables.Finish DONE = (live, from) -> {};

  @TempDir Path root = Path.of("");
  private final TestResources resources = new TestResources();
  private final Checkpoints checkpoints = new Checkpoints();
  private Optional<LiveTables> opened = Optional.empty();

  @BeforeEach
  void findThemDamaged() throws Exception {
    checkpoints.init(root.resolve("sm"), root.resolve("current"));
    LiveTables tables =
        new LiveTables(root, resources.get(), checkpoints, MetadataVersion.KNOWN, () -> {});
    opened = Optional.of(tables);
    tables.load();
    tables.setDamaged("a test");
  }

  @AfterEach
  void close() {
    tables().close();
    resources.close();
  }

  private LiveTables tables() {
    return opened.orElseThrow();
  }

  private FailedRebuild failed(IOException why) {
    assertThrows(
        IOException.class,
        () ->
            tables()
                .rebuildIfDamaged(
                    (live, from) -> {
                      throw why;
                    }));
    return tables().failedRebuild().orElseThrow();
  }

  private static String account(FailedRebuild failed) {
    return PeerFailureText.accountOf(failed, "m1", false);
  }

  @Test
  void aFailureThatMayPassIsNoLoss() throws Exception {
    FailedRebuild failed = failed(new FileSystemException("t.sst", null, "Too many open files"));
    assertFalse(failed.isLost());
    assertFalse(account(failed).contains("empty"), account(failed));
    assertTrue(account(failed).contains("open files"), account(failed));
    assertTrue(tables().rebuildIfDamaged(DONE));
    assertTrue(tables().isWhole());
    assertEquals(Optional.empty(), tables().failedRebuild());
  }

  @Test
  void filesMissingEverywhereAreLost() {
    FailedRebuild failed = failed(new DamagedFileException("log entry 0 is missing"));
    assertTrue(failed.isLost());
    assertTrue(account(failed).contains("empty the folder"), account(failed));
  }

  /** The last one tells: with files to open again the drive may turn out to be whole. */
  @Test
  void aLossIsTakenBackWhenItFailsForAnotherReason() {
    assertTrue(failed(new DamagedFileException("log entry 0 is missing")).isLost());
    assertFalse(failed(new IOException("no space left on device")).isLost());
  }

  @Test
  void itLastsSoonerWhereTheTablesAreLost() {
    long second = 1_000_000_000;
    assertFalse(new FailedRebuild("", true, 0, 0).isLasting());
    assertTrue(new FailedRebuild("", true, 0, 5 * second).isLasting());
    assertFalse(new FailedRebuild("", false, 0, 59 * second).isLasting());
    assertTrue(new FailedRebuild("", false, 0, 60 * second).isLasting());
  }

  /** The keeper of checkpoints looks for abandoned exports at any time. */
  @Test
  void anExportIsRemovedOnceWhenTwoThreadsEndIt() throws Exception {
    assertTrue(tables().rebuildIfDamaged(DONE));
    try (ExecutorService other = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int round = 0; round < 200; round++) {
        TableExport export = tables().export();
        Future<?> looking =
            other.submit(
                () -> {
                  while (Files.exists(root.resolve("export"))) {
                    tables().endAbandonedExport();
                  }
                  return null;
                });
        export.close();
        looking.get();
      }
    }
  }
}
