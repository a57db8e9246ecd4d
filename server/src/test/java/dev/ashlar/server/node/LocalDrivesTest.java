package dev.ashlar.server.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.blob.context.ErasureCodes;
import dev.ashlar.codec.CodecChoice;
import dev.ashlar.protocol.memory.SlabPool;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.server.cluster.DriveUse;
import dev.ashlar.storage.drive.DriveResources;
import dev.ashlar.storage.drive.config.DriveConfig;
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
  private final CloseStack opened = new CloseStack();
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
            List.of(root.resolve("d")), List.of(DRIVE), cluster, DriveConfig.Limits.DEFAULT, 1);
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

  /** It is on another file system than the empty folder, which is no mount point. */
  @Test
  void oneThatIsNotMountedIsNotFormattedUnasked() throws Exception {
    Map<UUID, DriveRow> elsewhere = known(LAST_LIFE, "uuid of-another");
    LocalDrives drives = start(elsewhere);
    Files.createDirectory(root.resolve("d"));
    assertEquals(List.of(), drives.emptyFolders());
    assertEquals(List.of(), drives.rows(), "nobody is asked whether it may be lost");
    drives.fill(elsewhere);
    drives.fill(known(LAST_LIFE + 1, "uuid of-another"));
    assertEquals(List.of(root.resolve("d")), drives.awaitedFolders());
    drives.fill(known(LAST_LIFE + 1, FileSystemIdentity.of(root).name()));
    assertEquals(1, drives.openCount(), "on this one it may be replaced");
  }

  /** The data folder of a new disk may be below its mount point. */
  @Test
  void aConfirmedReplacementMayBeOnAnotherFileSystem() throws Exception {
    Map<UUID, DriveRow> elsewhere = known(LAST_LIFE, "uuid of-another");
    LocalDrives drives = start(elsewhere);
    Path confirmation = root.resolve("d").resolve(DriveFolderState.CONFIRMATION);
    Files.createDirectory(root.resolve("d"));
    Files.createFile(confirmation);
    drives.fill(elsewhere);
    assertEquals(1, drives.openCount());
    DriveRow row = drives.rows().getFirst();
    assertTrue(row.getIncarnation() > LAST_LIFE);
    assertEquals(FileSystemIdentity.of(root).name(), row.getFileSystem());
    assertFalse(Files.exists(confirmation), "it is for this once");
  }

  private static Map<UUID, DriveRow> known(long incarnation, String fileSystem) {
    DriveRow row = new DriveId(DRIVE, incarnation).toMessage();
    return Map.of(DRIVE, row.toBuilder().setFileSystem(fileSystem).build());
  }

  /** It has been replaced, and comes back: it is of use only when somebody wants it back. */
  @Test
  void oneThatWasReplacedIsLeftAloneUntilItIsRecalled() throws Exception {
    LocalDrives before = start(Map.of());
    long old = before.rows().getFirst().getIncarnation();
    before.close();
    LocalDrives drives = start(known(LAST_LIFE));
    assertEquals(0, drives.openCount());
    assertEquals(List.of(), drives.rows());
    drives.fill(known(LAST_LIFE));
    assertEquals(0, drives.openCount());
    DriveRow recalled =
        new DriveId(DRIVE, LAST_LIFE).toMessage().toBuilder().setRecalled(true).build();
    drives.fill(Map.of(DRIVE, recalled));
    long now = drives.rows().getFirst().getIncarnation();
    assertTrue(now > LAST_LIFE && now > old, "above the replacement: " + now);
    drives.close();
    assertEquals(now, start(known(LAST_LIFE)).rows().getFirst().getIncarnation(), "durably");
  }

  /** Also when it was recalled: what is in the folder is not it. */
  @Test
  void aDriveOfAnotherPlaceOrClusterIsNotRecalled() throws Exception {
    LocalDrives before = start(Map.of());
    before.close();
    UUID other = new UUID(1, 2);
    LocalDrives.Config config =
        new LocalDrives.Config(
            List.of(root.resolve("d")), List.of(other), cluster, DriveConfig.Limits.DEFAULT, 0);
    DriveRow recalled =
        new DriveId(other, LAST_LIFE).toMessage().toBuilder().setRecalled(true).build();
    try (LocalDrives drives = new LocalDrives(config, Map.of(other, recalled), resources)) {
      assertEquals(0, drives.openCount());
    }
    LocalDrives again = start(known(1));
    assertEquals(1, again.openCount(), "it is what it was");
  }

  /** Whatever stands against reading it: one that cannot be seen may be there. */
  @Test
  void oneWhoseFolderCannotBeReadKeepsNoOtherFromStarting() throws Exception {
    UUID other = new UUID(1, 2);
    Path broken = Files.createDirectory(root.resolve("broken"));
    Path loop = broken.resolve(DriveFolderState.DRIVE);
    Files.createSymbolicLink(loop, loop);
    LocalDrives.Config config =
        new LocalDrives.Config(
            List.of(root.resolve("d"), broken),
            List.of(DRIVE, other),
            cluster,
            DriveConfig.Limits.DEFAULT,
            1);
    Map<UUID, DriveRow> known = Map.of(other, new DriveId(other, LAST_LIFE).toMessage());
    try (LocalDrives drives = new LocalDrives(config, known, resources)) {
      assertEquals(1, drives.openCount());
      assertEquals(
          List.of(DRIVE), drives.rows().stream().map(DriveId::idOf).toList(), "it is not vacant");
      assertEquals(List.of(), drives.emptyFolders());
    }
    assertTrue(DriveFolderState.holdData(List.of(broken)), "it may");
  }

  @Test
  void oneWhoseFolderIsGoneWhileItIsOpenIsAsLargeAsItWas() throws Exception {
    try (LocalDrives drives = start(Map.of())) {
      long capacity = drives.rows().getFirst().getCapacityBytes();
      Files.move(root.resolve("d"), root.resolve("gone"));
      assertTrue(capacity > 0);
      assertEquals(capacity, drives.rows().getFirst().getCapacityBytes());
      Files.move(root.resolve("gone"), root.resolve("d"));
    }
  }

  /** That it is lost, nobody is told: it may be there again tomorrow. */
  @Test
  void oneWhoseFolderCannotBeUsedIsNotEmpty() throws Exception {
    Files.createFile(root.resolve("d"));
    LocalDrives.Config config =
        new LocalDrives.Config(
            List.of(root.resolve("d")), List.of(DRIVE), cluster, DriveConfig.Limits.DEFAULT, 0);
    try (LocalDrives drives = new LocalDrives(config, known(LAST_LIFE), resources)) {
      assertEquals(0, drives.openCount());
      assertEquals(List.of(), drives.rows());
    }
  }
}
