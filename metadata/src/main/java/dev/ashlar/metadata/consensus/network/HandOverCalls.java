package dev.ashlar.metadata.consensus.network;

import dev.ashlar.protocol.message.PeerStanding;
import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.protocol.wire.CallMessage.Outcome;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.call.CallAnswer;
import dev.ashlar.transport.call.CallException;
import java.io.IOException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.ratis.proto.RaftProtos.RaftRpcReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionReplyProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The calls with which a leader hands over: one follower asks for votes at once, instead of after
 * an election timeout.
 *
 * <p>The next leader must not commit anything while this one answers reads. So this one gives its
 * lease up first, for good in its term, and only then tells its followers that their promises are
 * over. No clock takes part: it may pause anywhere. A follower believes this only of the leader
 * that it follows, and only in its present term. A term has one leader, so a call that arrives
 * twice or late is either true or refused: it never ends a promise to a later leader.
 */
final class HandOverCalls {
  private static final Logger LOG = LoggerFactory.getLogger(HandOverCalls.class);

  /** A follower that is not released in time delays the election only if its vote is needed. */
  private static final Duration RELEASE_TIMEOUT = Duration.ofMillis(300);

  private static final Duration ELECT_TIMEOUT = Duration.ofSeconds(1);

  private final RaftPeerId self;
  private final PeerConnections others;
  private final LeaderLease lease;
  private final VoteGuard guard;

  /** The voters that know these calls; others would end the connection. */
  private volatile Map<RaftPeerId, Endpoint> able = Map.of();

  /** Fails when the present hand-over is refused. */
  private volatile CompletableFuture<RaftClientReply> refused = new CompletableFuture<>();

  HandOverCalls(RaftPeerId self, PeerConnections others, LeaderLease lease, VoteGuard guard) {
    this.self = self;
    this.others = others;
    this.lease = lease;
    this.guard = guard;
  }

  // ---- The leader ----

  /**
   * The peer that can take over now and has applied the most entries; empty if there is none, or
   * too few peers to elect it.
   */
  Optional<RaftPeerId> successor(RaftMembers members) throws InterruptedException {
    List<PeerStanding> voters =
        others.standings().values().stream()
            .filter(PeerNetwork::isVoter)
            .filter(PeerStanding::getTakesOver)
            .filter(voter -> members.peers().containsKey(PeerNetwork.idOf(voter)))
            .toList();
    able =
        voters.stream()
            .map(PeerNetwork::idOf)
            .distinct()
            .collect(Collectors.toMap(Function.identity(), members.peers()::get));
    refused = new CompletableFuture<>();
    if (members.isChanging()
        || !members.isMajority(id -> id.equals(self) || able.containsKey(id))) {
      return Optional.empty();
    }
    return voters.stream()
        .filter(voter -> voter.getCondition() == PeerStanding.Condition.WHOLE)
        .max(
            Comparator.comparingLong(PeerStanding::getApplied)
                .thenComparingLong(PeerStanding::getCommitted))
        .map(PeerNetwork::idOf);
  }

  /**
   * Called by Ratis when the successor has the whole log. A refusal must not throw, see {@link
   * LocalNetwork#startLeaderElection}.
   */
  StartLeaderElectionReplyProto start(RaftServer leader, StartLeaderElectionRequestProto request) {
    RaftRpcRequestProto asked = request.getServerRequest();
    RaftPeerId successor = RaftPeerId.valueOf(asked.getReplyId());
    Endpoint place = able.get(successor);
    if (place == null) {
      return refusal(asked); // Ratis has chosen by itself
    }
    long term = request.getLeaderLastEntry().getTerm(); // a ready leader's last entry is its own
    lease.giveUp(term);
    try {
      // Its own promise to the leader before; it is about to vote for the next one.
      boolean unused = guard.release(term, () -> leads(leader, self, term), () -> true);
      releaseOthers(successor, request);
      CallAnswer answer =
          others.client(place).call(Method.ELECT, request.toByteArray(), ELECT_TIMEOUT);
      StartLeaderElectionReplyProto reply =
          answer.outcome() == Outcome.DONE
              ? StartLeaderElectionReplyProto.parseFrom(answer.body())
              : refusal(asked);
      if (!reply.getServerReply().getSuccess()) {
        refused.completeExceptionally(new IOException(successor + " refuses: " + answer.text()));
      }
      return reply;
    } catch (IOException | RuntimeException e) {
      refused.completeExceptionally(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return refusal(asked);
  }

  private void releaseOthers(RaftPeerId successor, StartLeaderElectionRequestProto request)
      throws InterruptedException {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      able.forEach(
          (id, place) -> {
            if (!id.equals(successor)) {
              threads.execute(() -> release(place, to(id, request)));
            }
          });
    }
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
  }

  private static StartLeaderElectionRequestProto to(
      RaftPeerId id, StartLeaderElectionRequestProto request) {
    return request.toBuilder()
        .setServerRequest(request.getServerRequest().toBuilder().setReplyId(id.toByteString()))
        .build();
  }

  private void release(Endpoint follower, StartLeaderElectionRequestProto request) {
    try {
      CallAnswer answer =
          others.client(follower).call(Method.RELEASE, request.toByteArray(), RELEASE_TIMEOUT);
      LOG.debug("Metadata peer at {} is released: {}", follower, answer.outcome());
    } catch (CallException e) {
      LOG.debug("Metadata peer at {} does not hear that it is released.", follower, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  static StartLeaderElectionReplyProto refusal(RaftRpcRequestProto asked) {
    return StartLeaderElectionReplyProto.newBuilder()
        .setServerReply(
            RaftRpcReplyProto.newBuilder()
                .setRequestorId(asked.getRequestorId())
                .setReplyId(asked.getReplyId())
                .setRaftGroupId(asked.getRaftGroupId())
                .setCallId(asked.getCallId())
                .setSuccess(false))
        .build();
  }

  /** Fails as soon as the hand-over that {@link #successor} began is refused. */
  CompletableFuture<RaftClientReply> refused() {
    return refused;
  }

  // ---- The followers ----

  /** The leader of this peer's term answers no more reads. */
  void released(RaftServer follower, StartLeaderElectionRequestProto request) throws IOException {
    boolean unused = released(follower, request, () -> true);
  }

  /** Likewise; this peer asks for votes, if its log is as long. */
  StartLeaderElectionReplyProto elect(RaftServer follower, StartLeaderElectionRequestProto request)
      throws IOException {
    guard.checkMayVote();
    return released(follower, request, () -> follower.startLeaderElection(request));
  }

  private <T> T released(
      RaftServer follower, StartLeaderElectionRequestProto request, VoteGuard.Call<T> call)
      throws IOException {
    RaftPeerId leader = RaftPeerId.valueOf(request.getServerRequest().getRequestorId());
    long term = request.getLeaderLastEntry().getTerm();
    return guard.release(term, () -> leads(follower, leader, term), call);
  }

  /** Whether the server is in this term, and knows this peer as its leader. */
  private static boolean leads(RaftServer server, RaftPeerId leader, long term) throws IOException {
    DivisionInfo info = server.getDivision(server.getGroupIds().iterator().next()).getInfo();
    return info.getCurrentTerm() == term && leader.equals(info.getLeaderId());
  }
}
