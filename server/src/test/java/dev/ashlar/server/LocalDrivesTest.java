package dev.ashlar.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.ErasureCodes;
import dev.ashlar.codec.CodecChoice;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.storage.drive.DriveConfig;
import dev.ashlar.storage.drive.DriveResources;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Folders of a node's known drives in which nothing is. */
class LocalDrivesTest {
  private static final UUID DRIVE = new UUID(1, 1);
  private static final long LAST_LIFE = 4_000_000_000L; // by a clock that was ahead

  @TempDir private Path root;
  private final Opened opened = new Opened();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final UUID cluster = UUID.randomUUID();
  private DriveResources resources;

  @BeforeEach
  void open() {
    ErasureCodes codes = opened.add(new ErasureCodes(CodecChoice.JAVA));
    resources =
        opened.add(
            new DriveResources(
                new SlabPool(64 << 20),
                meters,
                Clock.systemUTC(),
                codes::of,
                DriveResources.Budget.DEFAULT));
  }

  @AfterEach
  void close() {
    opened.close();
  }

  private LocalDrives start(Map<UUID, DriveRow> known) throws Exception {
    LocalDrives.Config config =
        new LocalDrives.Config(
            List.of(root.resolve("d")),
            List.of(DRIVE),
            cluster,
            0,
            DriveConfig.Limits.DEFAULT.hangTimeout(),
            1);
    return opened.add(new LocalDrives(config, known, resources));
  }

  private static Map<UUID, DriveRow> known(long incarnation) {
    return Map.of(DRIVE, new DriveId(DRIVE, incarnation).toMessage());
  }

  @Test
  void aNewDriveIsFormatted() throws Exception {
    LocalDrives drives = start(Map.of());
    assertEquals(1, drives.openCount());
    DriveUse use = Objects.requireNonNull(drives.use(DRIVE));
    assertTrue(use.freeBytes() > 0, use.toString());
    assertEquals(0, use.liveBytes());
    assertFalse(drives.rows().getFirst().getVacant());
  }

  @Test
  void aKnownOneIsFormattedOnlyWhenItsOldLifeIsOver() throws Exception {
    LocalDrives drives = start(known(LAST_LIFE));
    assertEquals(0, drives.openCount());
    assertNull(drives.use(DRIVE));
    assertEquals(
        List.of(new DriveId(DRIVE, LAST_LIFE + 1).toMessage().toBuilder().setVacant(true).build()),
        drives.rows());
    drives.fill(known(LAST_LIFE));
    assertEquals(List.of(root.resolve("d")), drives.awaitedFolders());
    assertFalse(Files.exists(root.resolve("d")), "nothing was written");
    drives.fill(known(LAST_LIFE + 1));
    assertEquals(List.of(), drives.awaitedFolders());
    DriveRow row = drives.rows().getFirst();
    assertFalse(row.getVacant());
    assertTrue(row.getIncarnation() > LAST_LIFE);
  }

  @Test
  void oneThatIsMountedMeanwhileIsTheOneThatItWas() throws Exception {
    LocalDrives before = start(Map.of());
    long life = before.rows().getFirst().getIncarnation();
    before.close();
    Files.move(root.resolve("d"), root.resolve("elsewhere"));
    LocalDrives drives = start(known(life));
    assertEquals(0, drives.openCount());
    assertTrue(drives.rows().getFirst().getVacant());
    Files.move(root.resolve("elsewhere"), root.resolve("d"));
    assertEquals(List.of(), drives.rows(), "metadata must not take it for lost now");
    drives.fill(known(life));
    assertEquals(life, drives.rows().getFirst().getIncarnation());
  }

  @Test
  void whoKnowsThatTheOldOneIsGoneCanSaySoWhileItIsWaitedFor() throws Exception {
    LocalDrives drives = start(known(LAST_LIFE));
    drives.fill(known(LAST_LIFE));
    assertEquals(0, drives.openCount());
    Path confirmation = root.resolve("d").resolve(DriveFolderState.CONFIRMATION);
    Files.createDirectory(root.resolve("d"));
    Files.createFile(confirmation);
    drives.fill(known(LAST_LIFE));
    assertEquals(1, drives.openCount());
    assertTrue(drives.rows().getFirst().getIncarnation() > LAST_LIFE);
    assertFalse(Files.exists(confirmation), "it is for this once");
  }

  @Test
  void whoKnowsThatTheOldOneIsGoneCanSaySo() throws Exception {
    Path confirmation = root.resolve("d").resolve(DriveFolderState.CONFIRMATION);
    Files.createDirectory(root.resolve("d"));
    Files.createFile(confirmation);
    LocalDrives drives = start(known(LAST_LIFE));
    assertTrue(drives.rows().getFirst().getIncarnation() > LAST_LIFE);
    assertFalse(Files.exists(confirmation), "it is for this once");
  }
}
