package dev.ashlar.metadata.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.backup.BackupReader;
import dev.ashlar.metadata.backup.MetadataRestore;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.BeginMove;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.BucketRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SetBalance;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.transport.metadata.RemoteMetadata;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** New peers begin with what a backup has, and with ids that nobody had before. */
@Tag("slow")
@Timeout(120)
class MetadataRestoreTest {
  private static final Duration WAIT = Duration.ofSeconds(10);

  @TempDir Path root = Path.of("");

  private Path saved(InputStream backup) throws IOException {
    Path file = root.resolve("backup-" + System.nanoTime());
    try (backup) {
      Files.copy(backup, file);
    }
    return file;
  }

  private static void restore(Path backup, Instant time, List<Path> folders) throws IOException {
    MetadataRestore restore = MetadataRestore.prepare(backup, time, time.plusSeconds(1));
    MetadataRestore.requireEmpty(folders, Set.of());
    try (TestResources resources = new TestResources()) {
      for (Path folder : folders) {
        Files.createDirectories(folder);
        restore.fill(folder, resources.get());
      }
    }
  }

  private static Set<String> names(MetadataClient client) throws Exception {
    return client.buckets().stream().map(BucketRow::getName).collect(Collectors.toSet());
  }

  /** The log of the second restore begins behind all that happened after the first one. */
  @Test
  void threePeersBeginWithTheBackupAndNoIdIsGivenTwice() throws Exception {
    try (LoopbackGroup group = new LoopbackGroup(root.resolve("group"), 3).startAll()) {
      long sessionBefore;
      long epochBefore;
      BlobId blob;
      Path backup;
      try (RemoteMetadata client = group.client()) {
        LoopbackGroup.installDrives(client);
        client.submit(TestBlobs.createBucket("before"));
        blob = new BlobId(client.session(), 1);
        client.submit(
            TestBlobs.put("before", "key", TestBlobs.acknowledged(client, blob, 100_000)));
        BeginMove.Builder move = BeginMove.newBuilder().setBucket("before");
        assertEquals(
            ResultCode.OK, client.submit(Command.newBuilder().setBeginMove(move)).getCode());
        backup = saved(group.peer(group.awaitLeader()).backup(group.cluster, Instant.now(), WAIT));
        client.submit(TestBlobs.createBucket("after"));
        sessionBefore = client.session();
        epochBefore = client.registry().getEpoch();
      }
      Instant now = Instant.now();
      for (int i = 1; i <= 2; i++) {
        killAll(group);
        restore(backup, now.plusSeconds(i), folders(group, 3));
        group.startAll();
        try (RemoteMetadata client = group.client()) {
          assertEquals(Set.of("before"), names(client));
          Registry registry = client.registry();
          assertTrue(registry.getRestored() && registry.getPaused());
          assertTrue(Long.compareUnsigned(client.session(), sessionBefore) > 0);
          assertTrue(registry.getEpoch() > epochBefore);
          assertFalse(registry.getSessionsList().contains(sessionBefore));
          BlobRow row = client.blobs(List.of(blob)).getFirst();
          assertTrue(row.getFrozen());
          assertEquals("before", client.moveJobs().getFirst().getBucket());
          ResultCode code =
              client
                  .submit(
                      TestBlobs.put(
                          "before",
                          "late",
                          TestBlobs.acknowledged(client, new BlobId(sessionBefore, 9), 1_000)))
                  .getCode();
          assertEquals(ResultCode.DEAD_SESSION, code, "nothing of an earlier session");
          client.submit(TestBlobs.createBucket("fresh-" + i));
          client.submit(Command.newBuilder().setSetBalance(SetBalance.getDefaultInstance()));
          assertFalse(client.registry().getRestored());
          sessionBefore = client.session();
          epochBefore = registry.getEpoch();
        }
        int killed = group.awaitLeader();
        group.kill(killed);
        try (RemoteMetadata client = group.client()) {
          assertEquals(Set.of("before", "fresh-" + i), names(client), "of the others, too");
        }
        group.start(killed);
        group.awaitMember(killed, 0);
      }
    }
  }

  private static List<Path> folders(LoopbackGroup group, int count) {
    return List.of(group.folder(0), group.folder(1), group.folder(2)).subList(0, count);
  }

  private static void killAll(LoopbackGroup group) throws IOException {
    for (int place = 0; place < 3; place++) {
      group.kill(place);
      group.wipe(place);
    }
  }

  /** An empty peer or one of another restore would elect a leader with other tables. */
  @Test
  void peersOfDifferentRestoresFormNoGroup() throws Exception {
    try (LoopbackGroup group = new LoopbackGroup(root.resolve("group"), 3).startAll()) {
      Path backup;
      try (RemoteMetadata client = group.client()) {
        client.submit(TestBlobs.createBucket("before"));
        backup = saved(group.peer(group.awaitLeader()).backup(group.cluster, Instant.now(), WAIT));
      }
      Instant now = Instant.now();
      killAll(group);
      restore(backup, now.plusSeconds(1), folders(group, 1));
      restore(backup, now.plusSeconds(2), folders(group, 3).subList(1, 2));
      group.startAll();
      for (int place = 0; place < 3; place++) {
        awaitTrouble(group, place, "not filled by the same restore");
      }
      group.kill(0);
      group.kill(2);
      group.wipe(0);
      restore(backup, now.plusSeconds(2), folders(group, 1));
      restore(backup, now.plusSeconds(2), List.of(root.resolve("other")));
      group.wipe(2);
      FiveFolders.copy(root.resolve("other"), group.folder(2));
      group.start(0);
      group.start(2);
      try (RemoteMetadata client = group.client()) {
        assertEquals(Set.of("before"), names(client));
      }
      group.kill(0);
      group.wipe(0);
      restore(backup, now.plusSeconds(2), folders(group, 1));
      group.start(0);
      awaitTrouble(group, 0, "other peers belong to a Raft group");
    }
  }

  private static void awaitTrouble(LoopbackGroup group, int place, String what)
      throws InterruptedException {
    while (!group.peer(place).status().trouble().contains(what)) {
      Thread.sleep(10);
    }
  }

  @Test
  void allFoldersOfOneProcessAreRestoredOrNone() throws Exception {
    try (FiveFolders folders = new FiveFolders(root.resolve("folders"))) {
      Path backup;
      try (MetadataServer server = folders.open()) {
        folders.create(server, 5);
        backup = saved(server.backup(folders.cluster(), Instant.now()));
        assertTrue(MetadataServer.holdMetadata(folders.all()));
      }
      Instant time = Instant.now().plusSeconds(1);
      for (int place = 1; place <= 5; place++) {
        folders.wipe(place);
      }
      restore(backup, time, folders.all().subList(0, 4));
      assertTrue(MetadataServer.holdMetadata(folders.all()));
      IOException mixed = assertThrows(IOException.class, folders::open);
      assertTrue(String.valueOf(mixed.getMessage()).contains("not all"), mixed.getMessage());
      assertThrows(IOException.class, () -> restore(backup, time, folders.all()));
      folders.wipe(5);
      restore(backup, time, folders.all().subList(4, 5));
      onlyTheServersUserMayEnter(folders.all().getLast());
      try (MetadataServer server = folders.open()) {
        folders.check(server);
        folders.create(server, 1);
      }
      try (MetadataServer server = folders.open()) {
        folders.check(server);
        assertTrue(server.client().registry().getRestored());
      }
    }
  }

  @Test
  void oneBackupIsMadeAtATimeAndIsOfOneMoment() throws Exception {
    try (FiveFolders folders = new FiveFolders(root.resolve("folders"));
        MetadataServer server = folders.open()) {
      folders.create(server, 3);
      Path backup;
      try (InputStream begun = server.backup(folders.cluster(), Instant.now())) {
        assertThrows(
            MetadataUnavailableException.class,
            () -> server.backup(folders.cluster(), Instant.now()));
        folders.create(server, 3);
        backup = saved(begun);
      }
      long[] buckets = new long[1];
      try (InputStream in = Files.newInputStream(backup)) {
        long unused =
            new BackupReader(in).forEach((key, value) -> buckets[0] += key[0] == 'B' ? 1 : 0);
      }
      assertEquals(3, buckets[0]);
      server.backup(folders.cluster(), Instant.now()).close();
    }
  }

  @Test
  void aClockBehindThatOfTheBackupIsRefused() throws Exception {
    try (FiveFolders folders = new FiveFolders(root.resolve("folders"))) {
      Path backup;
      Instant now = Instant.now();
      try (MetadataServer server = folders.open()) {
        folders.create(server, 1);
        backup = saved(server.backup(folders.cluster(), now));
      }
      Instant clock = now.plusSeconds(10);
      refused("not after that of the backup", backup, now.minusSeconds(5), clock);
      refused("later than now", backup, now.plus(Duration.ofDays(1)), clock);
      Instant later = now.plus(Duration.ofDays(1));
      Instant first = MetadataRestore.prepare(backup, null, later).point().time();
      Instant second = later.plus(Duration.ofMinutes(59));
      assertEquals(first, MetadataRestore.prepare(backup, first, second).point().time());
      refused("leave --time out on the first node", backup, first, second.plusSeconds(120));
      byte[] whole = Files.readAllBytes(backup);
      whole[whole.length / 2] ^= 1;
      Files.write(backup, whole);
      refused("damaged", backup, clock, clock);
    }
  }

  private static void onlyTheServersUserMayEnter(Path restored) throws IOException {
    try (Stream<Path> inside = Files.list(restored)) {
      for (Path folder : inside.filter(Files::isDirectory).toList()) {
        String mode = PosixFilePermissions.toString(Files.getPosixFilePermissions(folder));
        assertEquals("rwx------", mode, folder.toString());
      }
    }
  }

  private static void refused(String why, Path backup, Instant time, Instant now) {
    IOException e =
        assertThrows(IOException.class, () -> MetadataRestore.prepare(backup, time, now));
    assertTrue(String.valueOf(e.getMessage()).contains(why), e.getMessage());
  }

  /** Its clock was wrong, or that of a restore before: the log goes on behind both. */
  @Test
  void aBackupOfALaterTimeCanBeRestored() throws Exception {
    try (FiveFolders folders = new FiveFolders(root.resolve("folders"))) {
      Path backup;
      Instant now = Instant.now();
      Instant future = now.plus(Duration.ofDays(400));
      try (MetadataServer server = folders.open()) {
        folders.create(server, 1);
        backup = saved(server.backup(folders.cluster(), future));
      }
      Instant first = MetadataRestore.prepare(backup, null, now).point().time();
      assertTrue(first.isAfter(future));
      assertEquals(first, MetadataRestore.prepare(backup, first, now).point().time());
      Instant second = MetadataRestore.prepare(backup, null, now.plusSeconds(60)).point().time();
      assertTrue(second.isAfter(first), "each restore has its own");
      refused("leave --time out", backup, first, now.plus(Duration.ofHours(2)));
    }
  }
}
