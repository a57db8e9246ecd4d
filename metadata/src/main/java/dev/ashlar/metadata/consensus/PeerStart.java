package dev.ashlar.metadata.consensus;

import dev.ashlar.metadata.consensus.FolderIdentity.State;
import dev.ashlar.metadata.consensus.QuorumPeer.Running;
import dev.ashlar.protocol.message.PeerStanding;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** How a peer whose group has others in other processes comes to take part. */
final class PeerStart {
  private static final Logger LOG = LoggerFactory.getLogger(PeerStart.class);
  private static final long ASK_AGAIN_MS = 100;

  private final QuorumPeer.Config config;
  private final PeerFolder folder;
  private final OtherPeers others;
  private final LeaderLease lease;
  private final Consumer<String> waiting;
  private final long startNanos = System.nanoTime();

  /**
   * @param waiting told what it waits for
   */
  PeerStart(
      QuorumPeer.Config config,
      PeerFolder folder,
      OtherPeers others,
      LeaderLease lease,
      Consumer<String> waiting) {
    this.config = config;
    this.folder = folder;
    this.others = others;
    this.lease = lease;
    this.waiting = waiting;
  }

  /** Asks the others until it is clear as what the peer takes part. */
  Admission awaitAdmission() throws InterruptedException, IOException {
    List<PeerStanding> before = List.of();
    while (true) {
      boolean isAskingNeeded = folder.state() != State.MEMBER;
      List<PeerStanding> now = isAskingNeeded ? others.standings() : List.of();
      Optional<Admission> admission =
          Admission.decide(folder.state(), folder.format(), config.peers().size(), before, now);
      if (admission.isPresent() && maySettle(admission.get())) {
        return admission.get();
      }
      before = now;
      tell(now.size());
      Thread.sleep(ASK_AGAIN_MS);
    }
  }

  /**
   * A vote that was given before everything was forgotten may still be on its way to make a leader
   * of a term that nobody knows yet: not after that election has ended.
   */
  private boolean maySettle(Admission admission) throws IOException {
    if (admission.as() != Admission.As.REBUILDING) {
      return true;
    }
    folder.set(State.REBUILDING, admission.group());
    return System.nanoTime() - startNanos > 2 * config.elections().max().toNanos();
  }

  private void tell(int answers) {
    waiting.accept(
        String.format(
            "%s: %d of the %d other metadata peers answer",
            folder.state(), answers, config.peers().size() - 1));
  }

  /** Makes the peer and has it take part. */
  Running start(Admission admission) throws IOException {
    ElectionTimes times = config.elections();
    boolean isFounder = admission.as() == Admission.As.FOUNDER;
    PeerGuard guard = new PeerGuard(times.min(), isFounder);
    if (admission.as() == Admission.As.REBUILDING) {
      guard.setRebuilding(admission.termMin());
      LOG.warn("{} was empty or damaged: it is rebuilt from the others", folder.path());
    }
    PeerNetwork network = new PeerNetwork(others.clients(), times.max(), lease, guard);
    Duration first = isFounder ? Duration.ofMillis(100) : times.min();
    Peer peer =
        new Peer(
            group(),
            config.place(),
            new RaftSettings.Timing(times.min(), times.max(), first, times.max()),
            folder.path(),
            network,
            new SharedEntries(1),
            config.resources(),
            config.checkpoints());
    Running now = new Running(peer, network);
    try {
      if (isFounder) {
        folder.set(State.MEMBER, admission.group());
      } else if (admission.as() == Admission.As.MEMBER) {
        folder.setState(State.MEMBER);
      }
      peer.start();
    } catch (IOException | RuntimeException e) {
      peer.close();
      throw e;
    }
    return now;
  }

  private RaftGroup group() {
    List<RaftPeer> members = new ArrayList<>();
    for (int place = 0; place < config.peers().size(); place++) {
      members.add(RaftPeer.newBuilder().setId(Peer.idAt(place)).build());
    }
    return RaftGroup.valueOf(RaftGroupId.valueOf(config.clusterId()), members);
  }

  /**
   * Returns when the peer holds what was committed, with its vote. A leader that has committed an
   * entry of its term knows all that was committed before.
   */
  void awaitRebuilt(Running now, Admission admission) throws InterruptedException, IOException {
    long target = -1;
    while (target < 0 || !now.peer().holds(target)) {
      if (target < 0) {
        target =
            others.standings().stream()
                .filter(other -> other.getLeads() && other.getTerm() >= admission.termMin())
                .mapToLong(PeerStanding::getCommitted)
                .findFirst()
                .orElse(-1);
      }
      Thread.sleep(ASK_AGAIN_MS);
    }
    folder.setState(State.MEMBER);
    now.network().setMember();
    LOG.info("metadata in {} is rebuilt", folder.path());
  }
}
