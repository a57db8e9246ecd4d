package dev.ashlar.metadata.consensus.raft;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.consensus.LocalRaftGroup;
import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits;
import dev.ashlar.metadata.consensus.network.LocalNetwork;
import dev.ashlar.metadata.server.TestResources;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.table.RocksResources;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Peers of one process whose votes take longer than the first peer waits at its start. A vote has
 * to be synced; the answer to a pre-vote has not, and is fast.
 */
class SlowVotesTest {
  private static final int PEERS = 3;
  private static final long VOTE_MS = 100;

  @TempDir Path root = Path.of("");

  /** Ratis gives each round of the first election the time of that wait. */
  @Test
  @Timeout(60)
  void aLeaderIsElected() throws Exception {
    List<Peer> peers = new ArrayList<>();
    try (TestResources resources = new TestResources()) {
      try {
        List<RaftPeer> members = LocalRaftGroup.members(PEERS);
        RaftGroup group = RaftGroup.valueOf(RaftGroupId.valueOf(UUID.randomUUID()), members);
        Peer.Network network = withSlowVotes(new LocalNetwork());
        SharedApplyResults shared = new SharedApplyResults(PEERS);
        for (int place = 0; place < PEERS; place++) {
          peers.add(peer(group, members.get(place), place == 0, network, shared, resources.get()));
        }
        for (Peer peer : peers.reversed()) {
          peer.start();
        }
        while (peers.stream().noneMatch(Peer::isLeaderReady)) {
          Thread.sleep(10);
        }
        assertTrue(peers.stream().mapToLong(Peer::term).max().orElseThrow() <= 3);
      } finally {
        Peer.closeAll(peers);
      }
    }
  }

  private Peer peer(
      RaftGroup group,
      RaftPeer self,
      boolean isFirst,
      Peer.Network network,
      SharedApplyResults shared,
      RocksResources resources)
      throws Exception {
    return new Peer(
        group,
        self.getId(),
        RaftSettings.Timing.embedded(isFirst, false),
        root.resolve(self.getId().toString()),
        network,
        shared,
        resources,
        CheckpointLimits.DEFAULT,
        new SimpleMeterRegistry(),
        MetadataVersion.KNOWN);
  }

  private static Peer.Network withSlowVotes(LocalNetwork network) {
    return (Peer.Network)
        Proxy.newProxyInstance(
            Peer.Network.class.getClassLoader(),
            new Class<?>[] {Peer.Network.class},
            (proxy, method, arguments) -> {
              boolean isVote =
                  arguments != null
                      && arguments[0] instanceof RequestVoteRequestProto request
                      && !request.getPreVote();
              if (isVote) {
                Thread.sleep(VOTE_MS);
              }
              try {
                return method.invoke(network, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }
}
