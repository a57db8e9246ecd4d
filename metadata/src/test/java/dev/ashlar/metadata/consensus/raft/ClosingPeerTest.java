package dev.ashlar.metadata.consensus.raft;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.folder.PeerIds;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.util.LifeCycle;
import org.junit.jupiter.api.AfterEach;
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
  private final HeldLog log = new HeldLog(SLOW);
  private final CompletableFuture<RaftServer> slow = new CompletableFuture<>();

  @AfterEach
  void release() {
    log.release();
  }

  private void keepServer(Object argument) {
    if (argument instanceof RaftServer server && server.getId().equals(SLOW)) {
      slow.complete(server);
    }
  }

  @Test
  void nothingOfAClosedPeerGoesOn() throws Exception {
    RaftServer.Division division;
    try (LocalPeers peers = new LocalPeers(root, FIRST_PLACE, this::keepServer)) {
      RaftServer server = slow.get();
      division = server.getDivision(server.getGroupIds().iterator().next());
      assertTrue(peers.all().getLast().isAlive());
      Thread.ofPlatform().daemon().start(division::close);
      while (division.getInfo().getLifeCycleState() != LifeCycle.State.CLOSING) {
        Thread.sleep(1);
      }
    }
    assertEquals(LifeCycle.State.CLOSED, division.getInfo().getLifeCycleState());
  }
}
