package dev.ashlar.metadata.consensus.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.ashlar.metadata.consensus.LocalRaftGroup;
import dev.ashlar.metadata.consensus.folder.PeerIds;
import java.io.IOException;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.junit.jupiter.api.Test;

class LocalNetworkTest {
  private static final RaftPeerId LEADER = PeerIds.ofFounder(2);
  private static final RaftPeerId CANDIDATE = PeerIds.ofFounder(0);

  private final LocalNetwork network = new LocalNetwork();

  private StartLeaderElectionReplyProto handOver() throws IOException {
    return network.startLeaderElection(
        StartLeaderElectionRequestProto.newBuilder()
            .setServerRequest(
                RaftRpcRequestProto.newBuilder()
                    .setRequestorId(LEADER.toByteString())
                    .setReplyId(CANDIDATE.toByteString()))
            .build());
  }

  /** Ratis mistakes a call that fails at once for a running one, and refuses all commands. */
  @Test
  void aPeerThatIsBeingRebuiltDeclinesToLeadWithoutAFailure() throws IOException {
    network.setForgetful(CANDIDATE);
    StartLeaderElectionReplyProto reply = handOver();
    assertFalse(reply.getServerReply().getSuccess());
    assertEquals(LEADER.toByteString(), reply.getServerReply().getRequestorId());
    assertEquals(CANDIDATE.toByteString(), reply.getServerReply().getReplyId());
  }

  @Test
  void aPeerThatDoesNotRunDeclinesLikewise() throws IOException {
    assertFalse(handOver().getServerReply().getSuccess());
  }

  /** Otherwise leadership would be handed to a peer that is being rebuilt. */
  @Test
  void nobodyIsPreferredAsLeader() {
    assertEquals(
        1, LocalRaftGroup.members(5).stream().map(RaftPeer::getPriority).distinct().count());
  }
}
