package dev.ashlar.metadata.consensus;

import dev.ashlar.metadata.consensus.network.RunningPeer;
import dev.ashlar.metadata.consensus.raft.Peer;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftPeerId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Hands leadership over before a peer closes. Why that is safe: {@code HandOverCalls}. */
final class HandOver {
  private static final Logger LOG = LoggerFactory.getLogger(HandOver.class);

  /** Ratis ends a transfer itself; this is for a server that fails meanwhile. */
  private static final Duration GRACE = Duration.ofSeconds(1);

  private HandOver() {}

  /**
   * Returns when another peer leads, or none will for this peer's asking.
   *
   * @param max after which an election timeout would be no slower
   */
  static void run(RunningPeer leader, Duration max) throws InterruptedException {
    Peer peer = leader.peer();
    long term = peer.term();
    Optional<RaftPeerId> successor = leader.network().successor();
    if (successor.isEmpty()) {
      LOG.info("Metadata peer {} ends as the leader: no other one can take over now.", peer.id());
      return;
    }
    try {
      RaftClientReply reply = await(peer.handOver(successor.get(), max), max.plus(GRACE));
      if (reply.isSuccess()) {
        LOG.info("Metadata peer {} has handed leadership to {}.", peer.id(), successor.get());
        return;
      }
      failed(peer, successor.get(), String.valueOf(reply.getException()));
    } catch (IOException | ExecutionException | TimeoutException e) {
      failed(peer, successor.get(), e.toString());
    }
    endLeadershipWithoutLease(leader, term);
  }

  private static void failed(Peer peer, RaftPeerId successor, String why) {
    LOG.warn(
        "Metadata peer {} could not hand leadership to {}; the others elect a leader soon: {}",
        peer.id(),
        successor,
        why);
  }

  /** A leader without its lease answers no reads, so another one is better, even if later. */
  private static void endLeadershipWithoutLease(RunningPeer leader, long term)
      throws InterruptedException {
    Peer peer = leader.peer();
    if (!leader.lease().isGivenUp(term) || !peer.isLeader() || peer.term() != term) {
      return;
    }
    try {
      RaftClientReply unused = await(peer.stepDown(), GRACE);
    } catch (IOException | ExecutionException | TimeoutException e) {
      LOG.warn("Metadata peer {} still leads without its lease.", peer.id(), e);
    }
  }

  private static RaftClientReply await(CompletableFuture<RaftClientReply> reply, Duration max)
      throws InterruptedException, ExecutionException, TimeoutException {
    return reply.get(max.toNanos(), TimeUnit.NANOSECONDS);
  }
}
