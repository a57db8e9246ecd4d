package dev.ashlar.metadata.consensus.raft;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.folder.PeerIds;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.util.CodeInjectionForTesting;
import org.apache.ratis.util.LifeCycle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A peer that is closed while Ratis closes its division, as it does with one that was removed. */
@Timeout(60)
class ClosingPeerTest {
  /** Other tests in this process have no peers of these places. */
  private static final int FIRST_PLACE = 60;

  private static final RaftPeerId SLOW = PeerIds.ofFounder(FIRST_PLACE + 2);

  @TempDir Path root = Path.of("");
  private final CountDownLatch isWritable = new CountDownLatch(1);
  private final CompletableFuture<RaftServer> slow = new CompletableFuture<>();

  private boolean delayLog(Object peer) {
    try {
      if (SLOW.equals(peer)) {
        isWritable.await();
      }
      return true;
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private void keepServer(Object argument) {
    if (argument instanceof RaftServer server && server.getId().equals(SLOW)) {
      slow.complete(server);
    }
  }

  @Test
  void nothingOfAClosedPeerGoesOn() throws Exception {
    CodeInjectionForTesting.put(
        "SegmentedRaftLogWorker.runWorker", (peer, other, arguments) -> delayLog(peer));
    RaftServer.Division division;
    try (LocalPeers peers = new LocalPeers(root, FIRST_PLACE, this::keepServer)) {
      RaftServer server = slow.get();
      division = server.getDivision(server.getGroupIds().iterator().next());
      assertTrue(peers.all().getLast().isAlive());
      Thread.ofPlatform().daemon().start(division::close);
      while (division.getInfo().getLifeCycleState() != LifeCycle.State.CLOSING) {
        Thread.sleep(1);
      }
    } finally {
      isWritable.countDown();
    }
    assertEquals(LifeCycle.State.CLOSED, division.getInfo().getLifeCycleState());
  }
}
