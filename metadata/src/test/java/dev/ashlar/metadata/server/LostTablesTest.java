package dev.ashlar.metadata.server;

import static dev.ashlar.metadata.server.BucketLoad.createBucket;
import static dev.ashlar.metadata.server.BucketLoad.names;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.MetadataConfig;
import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits;
import dev.ashlar.metadata.consensus.folder.FolderStatus;
import dev.ashlar.metadata.consensus.folder.FolderStatus.Standing;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.UploadsQuery;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CreateUpload;
import dev.ashlar.protocol.message.PeerStanding.Condition;
import dev.ashlar.protocol.message.PeersStatus;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.transport.metadata.RemoteMetadata;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Both copies of a peer's checkpoint and its tables rot, and the log behind them is gone: nothing
 * in its folder makes them whole again.
 */
@Timeout(600)
@Execution(ExecutionMode.CONCURRENT)
@Tag("slow")
class LostTablesTest {
  private static final CheckpointLimits LIMITS =
      CheckpointLimits.DEFAULT.withVerifyEvery(Duration.ZERO);
  private static final int UPLOADS = 20;

  /** So that each block of a table has some. */
  private static final int FLIPS_APART_BYTES = 100;

  @TempDir Path root = Path.of("");

  /** Rows that are not kept in memory, and that nobody reads, so that no cache has them. */
  private static void fill(MetadataClient client) throws Exception {
    createBucket(client, "b");
    for (int i = 0; i < UPLOADS; i++) {
      UploadRow row =
          UploadRow.newBuilder().setBucket("b").setKey("k").setUploadId("upload" + i).build();
      client.submit(Command.newBuilder().setCreateUpload(CreateUpload.newBuilder().setUpload(row)));
    }
    PurgedLog.USUAL.fill(client);
  }

  private static List<Path> paths(Path under) throws IOException {
    try (Stream<Path> paths = Files.walk(under)) {
      return paths.toList();
    }
  }

  private static void awaitSecondCopy(Path folder) throws Exception {
    while (!hasSecondCopy(folder)) {
      Thread.sleep(10);
    }
  }

  private static boolean hasSecondCopy(Path folder) throws IOException {
    try {
      return paths(folder.resolve("raft")).stream()
          .anyMatch(path -> path.getFileName().toString().matches("copy-\\d+-\\d+"));
    } catch (UncheckedIOException e) {
      return false; // a file of the log went away meanwhile
    }
  }

  /** Each file once, however many links it has. */
  private static void rotTables(Path folder) throws IOException {
    Set<Object> done = new HashSet<>();
    for (Path file : paths(folder)) {
      if (file.toString().endsWith(".sst") && done.add(Files.getAttribute(file, "unix:ino"))) {
        byte[] bytes = Files.readAllBytes(file);
        for (int at = 0; at < bytes.length; at += FLIPS_APART_BYTES) {
          bytes[at] ^= 1;
        }
        try (var channel = Files.newByteChannel(file, StandardOpenOption.WRITE)) {
          channel.write(ByteBuffer.wrap(bytes));
        }
      }
    }
  }

  private static int uploads(MetadataClient client) throws Exception {
    return client.uploads(new UploadsQuery("b", "", "", "", "", 1000)).uploads().size();
  }

  /** Refused ones are asked for again. */
  private static int uploadsSoon(MetadataClient client) throws Exception {
    for (int tries = 0; tries < 300; tries++) {
      try {
        return uploads(client);
      } catch (MetadataUnavailableException e) {
        Thread.sleep(100);
      }
    }
    return uploads(client);
  }

  private static void awaitTrouble(LoopbackGroup group, int place, String trouble)
      throws InterruptedException {
    while (!group.peer(place).status().trouble().contains(trouble)) {
      Thread.sleep(20);
    }
  }

  private static Map<String, Condition> conditions(RemoteMetadata client) throws Exception {
    return client.peers().getPeersList().stream()
        .collect(Collectors.toMap(PeersStatus.Peer::getAddress, PeersStatus.Peer::getCondition));
  }

  @Test
  void aWholePeerLeadsAndTheOtherGoesOnVoting() throws Exception {
    try (LoopbackGroup group =
            new LoopbackGroup(root, 3, LIMITS, LoopbackGroup.ELECTIONS).startAll();
        RemoteMetadata client = group.client(group.endpoints(), Duration.ofSeconds(20))) {
      fill(client);
      int rotten = group.awaitLeader();
      PurgedLog.USUAL.await(group, rotten);
      awaitSecondCopy(group.folder(rotten));
      rotTables(group.folder(rotten));
      assertEquals(UPLOADS, uploadsSoon(client));
      createBucket(client, "after");
      int leader = group.awaitLeader(place -> place != rotten);
      awaitTrouble(group, rotten, "cannot be rebuilt from there");
      String trouble = group.peer(rotten).status().trouble();
      assertTrue(trouble.contains("stop this process and empty the folder"), trouble);
      assertEquals(Condition.DAMAGED, conditions(client).get(group.endpoint(rotten).toString()));
      int third = 3 - rotten - leader;
      group.kill(third);
      createBucket(client, "withItsVote");
      assertEquals(UPLOADS, uploadsSoon(client));
      long applied = group.peer(leader).status().appliedIndex();
      group.start(third);
      group.awaitMember(third, applied);

      group.kill(rotten);
      group.wipe(rotten);
      group.start(rotten);
      group.awaitMember(rotten, group.peer(leader).status().appliedIndex());
      group.kill(leader);
      assertEquals(Set.of("b", "after", "withItsVote"), names(client));
      assertEquals(UPLOADS, uploadsSoon(client));
    }
  }

  private static void rot(LoopbackGroup group, int place) throws Exception {
    awaitSecondCopy(group.folder(place));
    rotTables(group.folder(place));
    group.peer(place).checkpoint(Duration.ofSeconds(1)); // whose keeper verifies all files then
    awaitTrouble(group, place, "cannot be rebuilt from there");
  }

  @Test
  void theOnlyWholePeerLeadsAndWithoutItAnyOther() throws Exception {
    try (LoopbackGroup group =
            new LoopbackGroup(root, 3, LIMITS, LoopbackGroup.ELECTIONS).startAll();
        RemoteMetadata client = group.client(group.endpoints(), Duration.ofSeconds(20))) {
      fill(client);
      int first = group.awaitLeader();
      int second = (first + 1) % 3;
      int whole = (first + 2) % 3;
      PurgedLog.USUAL.await(group, first);
      PurgedLog.USUAL.await(group, second);
      // Credentials are read from the tables: a peer with damaged ones would stop at the last.
      group.awaitMember(second, group.peer(first).status().appliedIndex());
      rot(group, second);
      rot(group, first);
      assertEquals(UPLOADS, uploadsSoon(client));
      createBucket(client, "after");
      assertEquals(whole, group.awaitLeader());
      assertEquals(
          Map.of(
              group.endpoint(first).toString(), Condition.DAMAGED,
              group.endpoint(second).toString(), Condition.DAMAGED,
              group.endpoint(whole).toString(), Condition.WHOLE),
          conditions(client));

      group.kill(whole);
      group.awaitLeader();
      createBucket(client, "withoutIt");
      group.start(whole);
      group.awaitLeader(place -> place == whole);
      assertEquals(Set.of("b", "after", "withoutIt"), names(client));
      assertEquals(UPLOADS, uploadsSoon(client));
    }
  }

  private MetadataServer open(List<Path> folders, UUID cluster, TestResources resources)
      throws Exception {
    return MetadataServer.open(
        new MetadataConfig(
            folders,
            Set.of(),
            cluster,
            resources.get(),
            new SimpleMeterRegistry(),
            Clock.systemUTC(),
            MetadataConfig.COMMAND_TIMEOUT,
            LIMITS));
  }

  private static FolderStatus first(MetadataServer server) {
    return server.folders().getFirst();
  }

  @Test
  void oneOfThreeFoldersOfAProcessDoesNotLead() throws Exception {
    UUID cluster = UUID.randomUUID();
    List<Path> folders = Stream.of("m1", "m2", "m3").map(root::resolve).toList();
    try (TestResources resources = new TestResources()) {
      try (MetadataServer server = open(folders, cluster, resources)) {
        fill(server.client());
        PurgedLog.USUAL.await(folders.getFirst(), () -> server.checkpoint(Duration.ofMinutes(1)));
        awaitSecondCopy(folders.getFirst());
        rotTables(folders.getFirst());
        assertEquals(UPLOADS, uploadsSoon(server.client()));
        while (!first(server).reason().contains("cannot be rebuilt from there")) {
          Thread.sleep(20);
        }
        assertEquals(Standing.LEFT_OUT, first(server).standing());
        assertTrue(first(server).reason().contains("empty the folder"), first(server)::toString);
        createBucket(server.client(), "after");
      }
      FiveFolders.delete(folders.getFirst());
      try (MetadataServer server = open(folders, cluster, resources)) {
        FiveFolders.awaitMembers(server);
        assertEquals(Set.of("b", "after"), names(server.client()));
      }
    }
  }

  @Test
  void theOnlyFolderIsKeptAndRefusesWhatIsDamaged() throws Exception {
    UUID cluster = UUID.randomUUID();
    Path folder = root.resolve("m1");
    try (TestResources resources = new TestResources();
        MetadataServer server = open(List.of(folder), cluster, resources)) {
      fill(server.client());
      PurgedLog.USUAL.await(folder, () -> server.checkpoint(Duration.ofMinutes(1)));
      awaitSecondCopy(folder);
      rotTables(folder);
      assertThrows(MetadataUnavailableException.class, () -> uploads(server.client()));
      while (!first(server).reason().contains("cannot be rebuilt")) {
        Thread.sleep(20);
      }
      assertEquals(Standing.LEFT_OUT, first(server).standing());
      String reason = first(server).reason();
      assertTrue(reason.contains("Do not empty it"), reason);
      assertThrows(MetadataUnavailableException.class, () -> uploads(server.client()));
    }
  }
}
