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
import java.util.function.Function;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftPeerId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Hands leadership over before a peer closes. Why that is safe: {@code HandOverCalls}. */
final class HandOver {
  private static final Logger LOG = LoggerFactory.getLogger(HandOver.class);

  private static final Duration STEP_DOWN_MAX = Duration.ofSeconds(1);

  private HandOver() {}

  /**
   * Returns when another peer leads. Where none can take over, this one still leads; where the
   * attempt failed, it has stepped down if it could.
   *
   * @param max how long to wait for the successor; an election would take as long
   */
  static void run(RunningPeer leader, Duration max) {
    try {
      toAnother(leader, max);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      LOG.warn("Metadata peer {} could not hand leadership over", leader.peer().id(), e);
    }
  }

  private static void toAnother(RunningPeer leader, Duration max) throws InterruptedException {
    Peer peer = leader.peer();
    Optional<RaftPeerId> successor = leader.network().successor();
    if (successor.isEmpty()) {
      LOG.info("Metadata peer {} ends as the leader: no other one can take over now.", peer.id());
      return;
    }
    try {
      // Ratis waits on when the successor refuses.
      RaftClientReply reply =
          await(
              peer.handOver(successor.get())
                  .applyToEither(leader.network().refusedHandOver(), Function.identity()),
              max);
      if (reply.isSuccess()) {
        LOG.info("Metadata peer {} has handed leadership to {}.", peer.id(), successor.get());
      } else {
        endWithoutSuccessor(peer, successor.get(), String.valueOf(reply.getException()));
      }
    } catch (IOException | ExecutionException | TimeoutException e) {
      endWithoutSuccessor(peer, successor.get(), e.toString());
    }
  }

  /**
   * A leader that has given up its lease answers no reads, and one that waits for its successor
   * takes no commands: so it steps down, and the others elect one.
   */
  private static void endWithoutSuccessor(Peer peer, RaftPeerId successor, String why)
      throws InterruptedException {
    LOG.warn(
        "Metadata peer {} could not hand leadership to {}; the others elect a leader soon: {}",
        peer.id(),
        successor,
        why);
    try {
      if (peer.isLeader()) {
        RaftClientReply unused = await(peer.stepDown(), STEP_DOWN_MAX);
      }
    } catch (IOException | ExecutionException | TimeoutException e) {
      LOG.warn("Metadata peer {} leads until it closes: {}", peer.id(), e.toString());
    }
  }

  private static RaftClientReply await(CompletableFuture<RaftClientReply> reply, Duration max)
      throws InterruptedException, ExecutionException, TimeoutException {
    return reply.get(max.toNanos(), TimeUnit.NANOSECONDS);
  }
}
