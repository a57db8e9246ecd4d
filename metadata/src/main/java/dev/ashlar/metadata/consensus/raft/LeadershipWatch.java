package dev.ashlar.metadata.consensus.raft;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps a peer whose tables cannot be rebuilt from leading while another peer can lead: as the
 * leader it would refuse requests for damaged parts. It still votes and stores the log. Ratis' own
 * pause of elections is not used, because a peer whose election timeout passes during a pause never
 * asks for votes again.
 */
final class LeadershipWatch {
  private static final Logger LOG = LoggerFactory.getLogger(LeadershipWatch.class);

  /**
   * The shortest interval between two attempts to step down; it doubles, because the others may
   * elect this peer each time.
   */
  private static final long REST_MIN_NANOS = TimeUnit.SECONDS.toNanos(10);

  private static final long REST_MAX_NANOS = TimeUnit.HOURS.toNanos(1);

  /** After this many election timeouts without a leader, this peer asks for votes nevertheless. */
  private static final int LEADERLESS_MAX = 4;

  private final Peer peer;
  private final Peer.Network network;
  private final long leaderlessMaxNanos;
  private boolean isCandidate = true;
  private long committed = -1;
  private long ledNanos = System.nanoTime();
  private long steppedDownNanos;
  private long restNanos;

  /**
   * @param electionMax the longest time an undisturbed election takes
   */
  LeadershipWatch(Peer peer, Peer.Network network, Duration electionMax) {
    this.peer = peer;
    this.network = network;
    this.leaderlessMaxNanos = electionMax.multipliedBy(LEADERLESS_MAX).toNanos();
  }

  /** Called about once a second, by one thread. */
  void look() throws InterruptedException {
    try {
      if (peer.isAlive()) {
        boolean isToLead = mayLead();
        setCandidate(isToLead);
        if (!isToLead && peer.isLeader()) {
          stepDown();
        }
      }
    } catch (IOException | RuntimeException e) {
      LOG.warn("Metadata peer {} cannot determine whether another peer can lead.", peer.id(), e);
    }
  }

  private boolean mayLead() throws InterruptedException {
    long now = System.nanoTime();
    if (peer.leader().isPresent()) {
      ledNanos = now;
    }
    long committedBefore = committed;
    committed = peer.committedIndex();
    boolean isReadable =
        peer.machine().tables().failedRebuild().filter(failed -> failed.isLasting()).isEmpty();
    if (isReadable) {
      restNanos = 0;
      return true;
    }
    // A peer behind the leader would not be elected. A follower may be behind itself.
    long needed = peer.isLeader() ? committedBefore : -1;
    return now - ledNanos > leaderlessMaxNanos || !network.canAnotherLead(peer.id(), needed);
  }

  private void setCandidate(boolean isCandidateNow) {
    network.setCandidate(peer.id(), isCandidateNow);
    if (isCandidateNow != isCandidate) {
      isCandidate = isCandidateNow;
      if (isCandidateNow) {
        LOG.warn("Metadata peer {} may lead again.", peer.id());
      } else {
        LOG.error("Metadata peer {} gives up leadership: {}", peer.id(), peer.failure());
      }
    }
  }

  private void stepDown() throws IOException {
    long now = System.nanoTime();
    if (restNanos > 0 && now - steppedDownNanos < restNanos) {
      return;
    }
    restNanos = Math.clamp(2 * restNanos, REST_MIN_NANOS, REST_MAX_NANOS);
    steppedDownNanos = now;
    var unused =
        peer.stepDown()
            .whenComplete(
                (reply, failure) -> {
                  if (failure != null || !reply.isSuccess()) {
                    LOG.warn("Metadata peer {} still leads: {} {}", peer.id(), reply, failure);
                  }
                });
  }
}
