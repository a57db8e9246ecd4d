package dev.ashlar.storage.drive;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.storage.drive.config.DriveConfig;
import dev.ashlar.storage.drive.index.RocksIndexCrashes;
import dev.ashlar.storage.io.IoMode;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** A process that is killed is no fault of its drives. */
class KilledDriveTest {
  private final long seed = Long.getLong("seed", System.nanoTime());
  private final DriveContents contents = new DriveContents(1, new Random(seed));
  private final SlabPool slabs = new SlabPool();
  private final ListAppender<ILoggingEvent> said = new ListAppender<>();
  @TempDir Path folder = Path.of("set by JUnit");

  @BeforeEach
  void listen() {
    said.list = new CopyOnWriteArrayList<>();
    said.start();
    logger().addAppender(said);
  }

  @AfterEach
  void end() {
    logger().detachAppender(said);
  }

  private static Logger logger() {
    return (Logger) LoggerFactory.getLogger("dev.ashlar.storage");
  }

  /** Its index is in memory only, so that it is made anew from the log. */
  @Test
  void aYoungDriveComesBackWithoutAnError() throws Exception {
    Path killed = folder.resolve("killed");
    try (DriveResources resources = TestDrives.resources(slabs);
        DriveStore store = DriveStore.open(config(folder.resolve("drive")), resources)) {
      contents.add(store, 20);
      RocksIndexCrashes.copy(folder.resolve("drive"), killed);
      RocksIndexCrashes.copy(folder.resolve("drive/index"), killed.resolve("index"));
    }
    try (DriveResources resources = TestDrives.resources(slabs);
        DriveStore store = DriveStore.open(config(killed), resources)) {
      contents.check(store, "seed " + seed);
      assertEquals(1, count(resources, "ashlar.drive.index.rebuilds"));
      assertEquals(0, count(resources, "ashlar.drive.io.errors"));
      assertEquals(
          List.of(),
          said.list.stream()
              .filter(line -> line.getLevel().isGreaterOrEqual(Level.ERROR))
              .toList());
    }
  }

  private static DriveConfig config(Path where) {
    return TestDrives.config(where, IoMode.BUFFERED);
  }

  private static double count(DriveResources resources, String name) {
    return resources.meters().get(name).functionCounter().count();
  }
}
