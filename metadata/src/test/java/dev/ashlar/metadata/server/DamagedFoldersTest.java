package dev.ashlar.metadata.server;

import static dev.ashlar.metadata.consensus.folder.FolderStatus.Standing.LEFT_OUT;
import static dev.ashlar.metadata.consensus.folder.FolderStatus.Standing.MEMBER;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A damaged folder is left out while a majority is whole; it never votes with what it has left. */
@Execution(ExecutionMode.CONCURRENT)
@Tag("slow")
class DamagedFoldersTest {
  @TempDir Path root = Path.of("");

  @TempDir static Path templateRoot = Path.of("");
  private static FiveFolders template = new FiveFolders(templateRoot);
  private FiveFolders folders = template;

  /** Commands in a checkpoint and commands in the log behind it. */
  @BeforeAll
  static void fill() throws Exception {
    template = new FiveFolders(templateRoot);
    try (MetadataServer server = template.open()) {
      template.create(server, 20);
      server.checkpoint(Duration.ofMinutes(1));
      template.create(server, 20);
    }
  }

  @AfterAll
  static void closeTemplate() {
    template.close();
  }

  @BeforeEach
  void fromTemplate() throws IOException {
    folders = template.copyTo(root);
  }

  @AfterEach
  void closeResources() {
    folders.close();
  }

  private enum Damage {
    IDENTITY,
    IDENTITY_FLIPPED,
    VOTES,
    VOTE_LOST,
    LOG,
    LOG_LOST,
    CHECKPOINT,
    UNREADABLE;

    void inflict(FiveFolders folders, int place) throws IOException {
      Path current = folders.raft(place).resolve("current");
      switch (this) {
        case IDENTITY -> Files.write(folders.folder(place).resolve("identity"), new byte[100]);
        case IDENTITY_FLIPPED -> {
          Path identity = folders.folder(place).resolve("identity");
          byte[] bytes = Files.readAllBytes(identity);
          bytes["format=1\ncluster=".length()] ^= 1;
          Files.write(identity, bytes);
        }
        case VOTES -> {
          Files.write(current.resolve("raft-meta"), new byte[60]);
          Files.write(folders.folder(place).resolve("vote"), new byte[1024]);
        }
        case VOTE_LOST -> Files.delete(current.resolve("raft-meta"));
        case LOG -> overwriteBehindCheckpoint(openSegment(current));
        case LOG_LOST -> FiveFolders.delete(folders.folder(place).resolve("raft"));
        case CHECKPOINT -> { // its second copy, and the log that would make up for both
          damageManifests(folders, place);
          overwriteBeginning(openSegment(current));
        }
        case UNREADABLE -> {
          folders.wipe(place);
          Files.createFile(folders.folder(place)); // no folder at all
        }
      }
    }
  }

  private static Path in(Path folder, String prefix) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith(prefix))
          .findFirst()
          .orElseThrow();
    }
  }

  private static Path openSegment(Path current) throws IOException {
    return in(current, "log_inprogress");
  }

  private static void damageManifests(FiveFolders folders, int place) throws IOException {
    try (Stream<Path> files = Files.walk(folders.raft(place).resolve("sm"))) {
      for (Path file : files.toList()) {
        if (file.getFileName().toString().startsWith("MANIFEST")) {
          Files.write(file, new byte[200]);
        }
      }
    }
  }

  private static void overwriteBeginning(Path segment) throws IOException {
    overwrite(segment, 60);
  }

  /** Whole entries follow: the last one alone would pass for a write that a crash cut short. */
  private static void overwriteBehindCheckpoint(Path segment) throws IOException {
    byte[] bytes = Files.readAllBytes(segment);
    int end = bytes.length;
    while (bytes[end - 1] == 0) {
      end--;
    }
    overwrite(segment, end * 3 / 4);
  }

  private static void overwrite(Path segment, int at) throws IOException {
    byte[] bytes = Files.readAllBytes(segment);
    Arrays.fill(bytes, at, at + 10, (byte) 0x5A);
    Files.write(segment, bytes);
  }

  @Test
  void damageCoveredByTheCheckpointOrTheLogIsRepaired() throws Exception {
    damageManifests(folders, 2);
    overwriteBeginning(openSegment(folders.raft(3).resolve("current")));
    try (MetadataServer server = folders.open()) {
      assertEquals(Collections.nCopies(5, MEMBER), FiveFolders.standings(server));
      folders.check(server);
      folders.create(server, 5);
    }
    try (MetadataServer server = folders.open()) {
      assertEquals(Collections.nCopies(5, MEMBER), FiveFolders.standings(server));
      folders.check(server);
    }
  }

  @ParameterizedTest
  @EnumSource
  void twoAreLeftOut(Damage damage) throws Exception {
    damage.inflict(folders, 1);
    damage.inflict(folders, 4);
    try (MetadataServer server = folders.open()) {
      assertEquals(
          List.of(LEFT_OUT, MEMBER, MEMBER, LEFT_OUT, MEMBER), FiveFolders.standings(server));
      assertFalse(server.folders().getFirst().reason().isEmpty());
      folders.check(server);
      folders.create(server, 5);
    }
  }

  @Test
  void emptiedTheyAreRebuilt() throws Exception {
    twoAreLeftOut(Damage.LOG);
    folders.wipe(1);
    folders.wipe(4);
    try (MetadataServer server = folders.open()) {
      FiveFolders.awaitMembers(server);
      assertEquals(Collections.nCopies(5, MEMBER), FiveFolders.standings(server));
    }
    folders.wipe(2);
    folders.wipe(3);
    try (MetadataServer server = folders.open()) {
      folders.check(server);
    }
  }

  @Test
  void threeAreTooMany() throws Exception {
    Damage.LOG.inflict(folders, 1);
    Damage.LOG_LOST.inflict(folders, 2);
    Damage.CHECKPOINT.inflict(folders, 5);
    IOException e = assertThrows(IOException.class, folders::open);
    assertTrue(e.toString().contains("only 2 of 5"), e.toString());
    for (int place : new int[] {1, 2, 5}) {
      assertTrue(e.toString().contains(folders.folder(place).toString()), e.toString());
    }
  }

  @Test
  void oneDamagedTwoEmptiedIsTooMany() throws Exception {
    Damage.LOG.inflict(folders, 3);
    folders.wipe(1);
    folders.wipe(2);
    assertThrows(IOException.class, folders::open);
  }

  @Test
  void unmountedFolderIsNotWrittenTo() throws Exception {
    Path away = root.resolve("away");
    Files.move(folders.folder(1), away);
    Set<Path> notMounted = Set.of(folders.folder(1));
    try (MetadataServer server =
        folders.open(folders.all(), notMounted, CheckpointLimits.DEFAULT)) {
      assertEquals(LEFT_OUT, FiveFolders.standings(server).getFirst());
      folders.check(server);
      folders.create(server, 5);
    }
    assertFalse(Files.exists(folders.folder(1)));
    Files.move(away, folders.folder(1));
    try (MetadataServer server = folders.open()) {
      assertEquals(Collections.nCopies(5, MEMBER), FiveFolders.standings(server));
      folders.check(server);
    }
  }

  /** A crash in the middle of a write into the preallocated segment: its end is there, not all. */
  private void tear(int place) throws IOException {
    Path segment = openSegment(folders.raft(place).resolve("current"));
    byte[] bytes = Files.readAllBytes(segment);
    byte[] padded = Arrays.copyOf(bytes, bytes.length + 8192);
    Arrays.fill(padded, bytes.length + 1000, bytes.length + 1700, (byte) 0x77);
    padded[bytes.length] = (byte) 0xF0; // the length of an entry of 2,032 bytes
    padded[bytes.length + 1] = 0x0F;
    Files.write(segment, padded);
  }

  @Test
  void aPowerCutTearsTheTailOfEveryLog() throws Exception {
    for (int place = 1; place <= 5; place++) {
      tear(place);
    }
    try (MetadataServer server = folders.open()) {
      folders.check(server);
      assertEquals(Collections.nCopies(5, MEMBER), FiveFolders.standings(server));
    }
  }

  @Test
  void aLogThatAloneWasCutDoesNotVoteBeforeItHasCaughtUp() throws Exception {
    tear(1);
    try (MetadataServer server = folders.open()) {
      folders.check(server);
      FiveFolders.awaitMembers(server);
    }
  }

  /**
   * A command acknowledged by three peers, of which two are then emptied; the other two never had
   * it. Only the one that is left can lead, so it is still there.
   */
  @Test
  void theLastPeerThatHasACommandKeepsIt() throws Exception {
    leaveBehind(4, 5);
    folders.wipe(1);
    folders.wipe(2);
    try (MetadataServer server = folders.open()) {
      folders.check(server);
      FiveFolders.awaitMembers(server);
    }
    folders.wipe(3);
    try (MetadataServer server = folders.open()) {
      folders.check(server);
    }
  }

  /** And when that one is damaged too: refused, not forgotten. */
  @Test
  void withoutTheLastPeerThatHasACommandNothingStarts() throws Exception {
    leaveBehind(4, 5);
    folders.wipe(1);
    folders.wipe(2);
    Damage.LOG.inflict(folders, 3);
    assertThrows(IOException.class, folders::open);
  }

  /** Commits commands which the given peers do not have afterwards. */
  private void leaveBehind(int... places) throws Exception {
    for (int place : places) {
      FiveFolders.copy(folders.folder(place), root.resolve("before" + place));
    }
    Set<Path> away = Set.of(folders.folder(places[0]), folders.folder(places[1]));
    try (MetadataServer server = folders.open(folders.all(), away, CheckpointLimits.DEFAULT)) {
      folders.create(server, 5);
    }
    for (int place : places) {
      folders.wipe(place);
      Files.move(root.resolve("before" + place), folders.folder(place));
    }
  }
}
