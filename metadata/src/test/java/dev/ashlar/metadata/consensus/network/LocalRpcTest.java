package dev.ashlar.metadata.consensus.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.ashlar.metadata.consensus.LocalRaftGroup;
import dev.ashlar.metadata.consensus.folder.PeerIds;
import java.io.IOException;
import java.lang.reflect.Proxy;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerRpc;
import org.junit.jupiter.api.Test;

class LocalRpcTest {
  private static final RaftPeerId LEADER = PeerIds.ofFounder(2);
  private static final RaftPeerId CANDIDATE = PeerIds.ofFounder(0);

  private final LocalNetwork network = new LocalNetwork();

  private StartLeaderElectionReplyProto handOver() throws IOException {
    Parameters parameters = new Parameters();
    network.put(parameters);
    RaftServer leader =
        (RaftServer)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {RaftServer.class},
                (proxy, method, arguments) -> {
                  throw new UnsupportedOperationException(method.getName());
                });
    RaftServerRpc rpc = new LocalRpc().newFactory(parameters).newRaftServerRpc(leader);
    return rpc.startLeaderElection(
        StartLeaderElectionRequestProto.newBuilder()
            .setServerRequest(
                RaftRpcRequestProto.newBuilder()
                    .setRequestorId(LEADER.toByteString())
                    .setReplyId(CANDIDATE.toByteString()))
            .build());
  }

  /** Ratis takes a call that fails at once for one that goes on, and refuses all commands. */
  @Test
  void whoIsBeingRebuiltDeclinesToLeadWithoutAFailure() throws IOException {
    network.setForgetful(CANDIDATE);
    StartLeaderElectionReplyProto reply = handOver();
    assertFalse(reply.getServerReply().getSuccess());
    assertEquals(LEADER.toByteString(), reply.getServerReply().getRequestorId());
    assertEquals(CANDIDATE.toByteString(), reply.getServerReply().getReplyId());
  }

  @Test
  void whoDoesNotRunDeclinesLikewise() throws IOException {
    assertFalse(handOver().getServerReply().getSuccess());
  }

  /** Else it would be handed the lead also while it is being rebuilt. */
  @Test
  void nobodyIsPreferredAsLeader() {
    assertEquals(
        1, LocalRaftGroup.members(5).stream().map(RaftPeer::getPriority).distinct().count());
  }
}
