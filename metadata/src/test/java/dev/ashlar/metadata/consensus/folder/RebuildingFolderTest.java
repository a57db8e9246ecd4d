package dev.ashlar.metadata.consensus.folder;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.file.DurableFiles;
import dev.ashlar.metadata.consensus.folder.FolderIdentity.State;
import dev.ashlar.metadata.consensus.folder.FolderStatus.Standing;
import dev.ashlar.metadata.consensus.log.LogMark;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A process ended while a folder that lacks the end of its log was rebuilt. */
class RebuildingFolderTest {
  private static final UUID CLUSTER = new UUID(1, 2);

  @TempDir Path root = Path.of("");
  private List<Path> folders = List.of();

  /** The logs are empty; the second folder's peer had acknowledged entries up to the tenth. */
  @BeforeEach
  void stopWhileRebuilding() throws IOException {
    folders = Stream.of("1", "2", "3").map(root::resolve).toList();
    for (int place = 0; place < 3; place++) {
      Path folder = folders.get(place);
      Path current =
          Files.createDirectories(
              MetadataFolders.raftDirectory(folder).resolve(CLUSTER + "/current"));
      Files.writeString(current.resolve("raft-meta"), "term=1\nvotedFor=\n");
      State state = place == 1 ? State.REBUILDING : State.MEMBER;
      new FolderIdentity(CLUSTER.toString(), place, 3, state).write(folder);
    }
    new LogMark(folders.get(1)).set(10);
  }

  private MetadataFolders prepared() throws IOException {
    MetadataFolders prepared = new MetadataFolders(CLUSTER, folders, Set.of());
    prepared.prepare();
    return prepared;
  }

  @Test
  void itStaysOneWhileTheOthersAreWhole() throws IOException {
    assertTrue(prepared().isRebuilding(1));
    assertEquals(State.REBUILDING, FolderIdentity.read(folders.get(1)).state());
  }

  /** The process ended when Ratis had only made the directories. */
  @Test
  void folderWithIncompleteFilesCountsAsEmpty() throws IOException {
    Path storage = MetadataFolders.raftDirectory(folders.get(1)).resolve(CLUSTER.toString());
    Files.delete(storage.resolve("current/raft-meta"));
    assertTrue(prepared().isRebuilding(1));
    assertFalse(Files.exists(storage), "so that Ratis makes them");
  }

  /** As an error of the drive, a directory that cannot be listed is no proof that it is empty. */
  @ParameterizedTest
  @ValueSource(strings = {"", "current", "sm"})
  void folderThatCannotBeListedIsLeftOutAndKept(String directory) throws IOException {
    Path storage = MetadataFolders.raftDirectory(folders.get(1)).resolve(CLUSTER.toString());
    Files.delete(storage.resolve("current/raft-meta"));
    Path unlisted = storage.resolve(directory);
    DurableFiles.deleteTree(unlisted);
    Files.createSymbolicLink(unlisted, unlisted); // a loop
    MetadataFolders prepared = prepared();
    assertTrue(prepared.isLeftOut(1));
    assertTrue(Files.isSymbolicLink(unlisted));
    assertEquals(Standing.MEMBER, prepared.statuses().get(2).standing());
  }

  @Test
  void folderWithALogButNoVoteIsLeftOut() throws IOException {
    Path current = MetadataFolders.raftDirectory(folders.get(1)).resolve(CLUSTER + "/current");
    Files.delete(current.resolve("raft-meta"));
    Files.createFile(current.resolve("log_0-7"));
    assertTrue(prepared().isLeftOut(1));
    assertTrue(Files.exists(current.resolve("log_0-7")));
  }

  @Test
  void withoutAMajorityItsLogEndMayBeConfirmed() throws IOException {
    Files.writeString(folders.get(2).resolve(FolderIdentity.FILE), "damaged");
    String refused = String.valueOf(assertThrows(IOException.class, this::prepared).getMessage());
    assertTrue(refused.contains("ends at entry -1, but entry 10 was acknowledged"), refused);
    assertFalse(refused.contains("found empty"), refused);
    Files.writeString(folders.get(1).resolve(LogMark.CONFIRMATION), "-1");
    assertEquals(
        List.of(Standing.MEMBER, Standing.MEMBER, Standing.LEFT_OUT),
        prepared().statuses().stream().map(FolderStatus::standing).toList());
    assertEquals(State.MEMBER, FolderIdentity.read(folders.get(1)).state());
  }

  /** Where several are to be confirmed, one may be before the others are. */
  @Test
  void confirmationIsPermanent() throws IOException {
    for (int place : new int[] {0, 2}) {
      Files.writeString(folders.get(place).resolve(FolderIdentity.FILE), "damaged");
    }
    Files.writeString(folders.get(1).resolve(LogMark.CONFIRMATION), "-1");
    assertThrows(IOException.class, this::prepared);
    assertEquals(State.MEMBER, FolderIdentity.read(folders.get(1)).state());
  }

  /** A confirmation counts until what it confirms is recorded. */
  @Test
  void aConfirmationThatCouldNotBeRecordedIsNotUsedUp() throws IOException {
    Files.writeString(folders.get(2).resolve(FolderIdentity.FILE), "damaged");
    Path confirmation = folders.get(1).resolve(LogMark.CONFIRMATION);
    Files.writeString(confirmation, "-1");
    Path obstacle = Files.createDirectory(folders.get(1).resolve(FolderIdentity.UNFINISHED));
    assertThrows(IOException.class, this::prepared);
    Files.delete(obstacle);
    assertEquals(Standing.MEMBER, prepared().statuses().get(1).standing());
    assertFalse(Files.exists(confirmation));
  }

  /** As a crash left it that came when only the mark had been set. */
  @Test
  void aFolderWhoseMarkWasSetBeforeCanBeConfirmedAgain() throws IOException {
    new LogMark(folders.get(1)).set(-1);
    Files.writeString(folders.get(2).resolve(FolderIdentity.FILE), "damaged");
    Files.writeString(folders.get(1).resolve(LogMark.CONFIRMATION), "-1");
    assertEquals(Standing.MEMBER, prepared().statuses().get(1).standing());
  }

  /** The first of two starts was refused, for want of a majority. */
  @Test
  void thatTheEndOfALogWasCutOffIsRememberedByTheNextStart() throws IOException {
    Path current = MetadataFolders.raftDirectory(folders.getFirst()).resolve(CLUSTER + "/current");
    Files.write(current.resolve("log_inprogress_0"), "RaftLog1 torn".getBytes(UTF_8));
    new FolderIdentity(CLUSTER.toString(), 1, 3, State.MEMBER).write(folders.get(1));
    new LogMark(folders.get(1)).set(-1);
    for (int place : new int[] {1, 2}) {
      Files.writeString(folders.get(place).resolve(FolderIdentity.FILE), "damaged");
    }
    assertThrows(IOException.class, this::prepared);
    for (int place : new int[] {1, 2}) {
      new FolderIdentity(CLUSTER.toString(), place, 3, State.MEMBER).write(folders.get(place));
    }
    assertTrue(prepared().isRebuilding(0));
  }
}
