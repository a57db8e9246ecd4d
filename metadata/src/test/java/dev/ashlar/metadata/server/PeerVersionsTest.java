package dev.ashlar.metadata.server;

import static dev.ashlar.metadata.server.BucketLoad.createBucket;
import static dev.ashlar.metadata.server.BucketLoad.names;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.QuorumPeer;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.message.PeersStatus;
import dev.ashlar.transport.metadata.RemoteMetadata;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Peers of this build beside some of a later one, which knows one version of metadata more. */
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
@Timeout(300)
class PeerVersionsTest {
  private static final int OLD = MetadataVersion.KNOWN;
  private static final int NEW = OLD + 1;

  @TempDir Path root = Path.of("");

  private LoopbackGroup allNew() throws IOException {
    LoopbackGroup group = new LoopbackGroup(root, 3);
    for (int place = 0; place < 3; place++) {
      group.setBuild(place, NEW);
    }
    return group.startAll();
  }

  private static void restart(LoopbackGroup group, int place, int knows) throws Exception {
    group.kill(place);
    group.setBuild(place, knows);
    group.start(place);
  }

  private static void upgrade(LoopbackGroup group, int place) throws Exception {
    restart(group, place, NEW);
    group.awaitMember(place, 0);
  }

  /** What is in use, by the leader of the moment. */
  private static int version(RemoteMetadata client) throws Exception {
    return client.peers().getVersion();
  }

  private static void awaitVersion(RemoteMetadata client, int version) throws Exception {
    while (version(client) != version) {
      Thread.sleep(20);
    }
  }

  private static String awaitRefusal(LoopbackGroup group, int place) throws InterruptedException {
    while (true) {
      QuorumPeer.Status status = group.peer(place).status();
      if (status.trouble().contains("supports " + OLD)) {
        assertFalse(status.isRunning());
        return status.trouble();
      }
      Thread.sleep(10);
    }
  }

  private static void assertNames(String trouble) {
    assertTrue(trouble.contains("version " + NEW), trouble);
    assertTrue(trouble.contains("restart with the newer build"), trouble);
  }

  /** The leader may be the first or the last to be of the new build; none misses a command. */
  @Test
  void theNewVersionIsUsedOnceAllKnowIt() throws Exception {
    try (LoopbackGroup group = new LoopbackGroup(root, 3).startAll();
        RemoteMetadata client = group.client()) {
      BucketLoad load = new BucketLoad(client);
      awaitVersion(client, OLD);
      load.awaitMore(50); // an agreement without an entry ends with the leader's term
      for (int place = 0; place < 3; place++) {
        assertEquals(OLD, version(client), "not while " + place + " is old");
        upgrade(group, place);
        load.awaitMore(100);
      }
      awaitVersion(client, NEW);
      load.awaitMore(100);
      for (PeersStatus.Peer peer : client.peers().getPeersList()) {
        assertEquals(NEW, peer.getKnows(), peer.getId());
      }
      for (int place = 0; place < 3; place++) {
        restart(group, place, NEW);
        group.awaitMember(place, 0);
        load.awaitMore(50);
      }
      assertEquals(load.end(), names(client));
      assertEquals(NEW, version(client), "it stands in what they start from");
    }
  }

  @Test
  void silentPeerHasNotAgreed() throws Exception {
    try (LoopbackGroup group = new LoopbackGroup(root, 3).startAll();
        RemoteMetadata client = group.client()) {
      awaitVersion(client, OLD);
      createBucket(client, "a");
      upgrade(group, 0);
      upgrade(group, 1);
      group.kill(2);
      Thread.sleep(3_000); // it has been asked for more than once
      createBucket(client, "b");
      assertEquals(OLD, version(client));
      group.start(2); // as it was
      group.awaitMember(2, 0);
      createBucket(client, "c");
      assertEquals(OLD, version(client));
      assertEquals(Set.of("a", "b", "c"), names(client));
    }
  }

  /** All have agreed, and one is of the old build again before the first entry is written. */
  @Test
  void anOldPeerStopsBeforeANewEntryAndGoesOnWithTheNewBuild() throws Exception {
    try (LoopbackGroup group = allNew();
        RemoteMetadata client = group.client()) {
      awaitVersion(client, NEW);
      int old = (group.awaitLeader() + 1) % 3;
      restart(group, old, OLD);
      createBucket(client, "a");
      assertNames(awaitRefusal(group, old));
      createBucket(client, "b");
      restart(group, old, OLD);
      assertNames(awaitRefusal(group, old));
      assertEquals(Set.of("a", "b"), names(client));
      upgrade(group, old);
      group.kill(group.awaitLeader(place -> place != old));
      createBucket(client, "c");
      assertEquals(Set.of("a", "b", "c"), names(client), "it has what came meanwhile");
    }
  }

  @Test
  void anOldPeerStopsBeforeANewCheckpoint() throws Exception {
    try (LoopbackGroup group = allNew();
        RemoteMetadata client = group.client()) {
      awaitVersion(client, NEW);
      createBucket(client, "a");
      int old = (group.awaitLeader() + 1) % 3;
      group.kill(old);
      group.wipe(old);
      group.setBuild(old, OLD);
      group.start(old);
      assertNames(awaitRefusal(group, old));
      createBucket(client, "b");
      restart(group, old, OLD);
      createBucket(client, "c");
      upgrade(group, old);
      group.kill(group.awaitLeader(place -> place != old));
      assertEquals(Set.of("a", "b", "c"), names(client), "it was rebuilt");
    }
  }

  @Test
  void allOfTheOldBuildServeNothingAndLoseNothing() throws Exception {
    try (LoopbackGroup group = allNew();
        RemoteMetadata client = group.client()) {
      awaitVersion(client, NEW);
      createBucket(client, "a");
      long applied = group.peer(group.awaitLeader()).status().appliedIndex();
      for (int place = 0; place < 3; place++) {
        group.awaitMember(place, applied); // so that each meets it without the others
      }
      for (int place = 0; place < 3; place++) {
        group.kill(place);
        group.setBuild(place, OLD);
      }
      for (int place = 0; place < 3; place++) {
        group.start(place);
      }
      for (int place = 0; place < 3; place++) {
        assertNames(awaitRefusal(group, place));
      }
      for (int place = 0; place < 3; place++) {
        restart(group, place, NEW);
      }
      createBucket(client, "b");
      assertEquals(Set.of("a", "b"), names(client));
    }
  }

  @Test
  void anOldPeerIsNotAdded() throws Exception {
    try (LoopbackGroup group = new LoopbackGroup(root, 1)) {
      group.setBuild(0, NEW);
      group.setBuild(1, OLD);
      group.startAll();
      try (RemoteMetadata client = group.client()) {
        awaitVersion(client, NEW);
        createBucket(client, "a");
        int added = group.join();
        String address = group.endpoint(added).toString();
        String refusal = client.changePeers(address, "").getRefusal();
        while (!refusal.contains("supports metadata version " + OLD)) {
          assertFalse(refusal.isEmpty());
          Thread.sleep(20);
          refusal = client.changePeers(address, "").getRefusal();
        }
        assertTrue(refusal.contains("uses " + NEW), refusal);
        restart(group, added, NEW);
        while (!client.changePeers(address, "").getRefusal().isEmpty()) {
          Thread.sleep(20);
        }
        group.awaitMember(added, 0);
      }
    }
  }

  /** Of one process: its peers are all of one build, so the new version is used at once. */
  @Test
  void foldersOfOneProcessAreRefusedByTheOldBuild() throws Exception {
    try (FiveFolders folders = new FiveFolders(root)) {
      try (MetadataServer server = folders.open(OLD)) {
        folders.create(server, 5);
      }
      try (MetadataServer server = folders.open(NEW)) {
        folders.create(server, 5);
      }
      Exception refused = assertThrows(IOException.class, () -> folders.open(OLD));
      assertNames(String.valueOf(refused.getMessage()));
      assertTrue(String.valueOf(refused.getMessage()).contains("tables"));
      for (int place = 1; place <= 5; place++) {
        FiveFolders.delete(folders.raft(place).resolve("sm"));
      }
      refused = assertThrows(IOException.class, () -> folders.open(OLD));
      assertNames(String.valueOf(refused.getMessage()));
      assertTrue(String.valueOf(refused.getMessage()).contains("log entry"));
      try (MetadataServer server = folders.open(NEW)) {
        folders.check(server);
      }
    }
  }
}
