package dev.ashlar.metadata.consensus;

import dev.ashlar.metadata.consensus.folder.FolderIdentity.State;
import dev.ashlar.metadata.consensus.folder.PeerFolder;
import dev.ashlar.metadata.consensus.folder.PeerIds;
import dev.ashlar.metadata.consensus.membership.PeerAdmission;
import dev.ashlar.metadata.consensus.membership.PeerAdmission.NotAMemberException;
import dev.ashlar.metadata.consensus.network.ElectionTimes;
import dev.ashlar.metadata.consensus.network.LeaderLease;
import dev.ashlar.metadata.consensus.network.PeerConfig;
import dev.ashlar.metadata.consensus.network.PeerConnections;
import dev.ashlar.metadata.consensus.network.PeerNetwork;
import dev.ashlar.metadata.consensus.network.RaftMembers;
import dev.ashlar.metadata.consensus.network.RunningPeer;
import dev.ashlar.metadata.consensus.network.VoteGuard;
import dev.ashlar.metadata.consensus.raft.Peer;
import dev.ashlar.metadata.consensus.raft.RaftSettings;
import dev.ashlar.metadata.consensus.raft.SharedApplyResults;
import dev.ashlar.protocol.message.PeerStanding;
import dev.ashlar.transport.Endpoint;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts a peer of a Raft group that spans several processes: admission, start, rebuild. */
final class PeerStartup {
  private static final Logger LOG = LoggerFactory.getLogger(PeerStartup.class);
  private static final long ASK_AGAIN_MS = 100;

  private final PeerConfig config;
  private final PeerFolder folder;
  private final PeerConnections others;
  private final Consumer<String> waiting;
  private final long startNanos = System.nanoTime();

  /**
   * @param waiting receives a description of what the peer is waiting for
   */
  PeerStartup(
      PeerConfig config, PeerFolder folder, PeerConnections others, Consumer<String> waiting) {
    this.config = config;
    this.folder = folder;
    this.others = others;
    this.waiting = waiting;
  }

  /** Asks the other peers until the role of this one is decided. */
  PeerAdmission awaitAdmission() throws InterruptedException, IOException, NotAMemberException {
    Collection<PeerStanding> before = List.of();
    while (true) {
      boolean isAskingNeeded = folder.state() != State.MEMBER && folder.state() != State.JOINING;
      Collection<PeerStanding> now = isAskingNeeded ? others.standings().values() : List.of();
      Optional<PeerAdmission> admission = PeerAdmission.decide(candidate(), before, now);
      if (admission.isPresent() && maySettle(admission.get())) {
        return admission.get();
      }
      // Peers may have been added since this process was configured.
      now.forEach(other -> others.add(RaftMembers.of(other.getMembers()).endpoints()));
      before = now;
      tell(now);
      Thread.sleep(ASK_AGAIN_MS);
    }
  }

  private PeerAdmission.Candidate candidate() {
    return new PeerAdmission.Candidate(
        folder.state(),
        folder.id(),
        folder.format(),
        config.self(),
        config.joins(),
        config.peers());
  }

  /**
   * A vote given before the folder lost its content may still elect a leader in a term that no peer
   * knows yet. So the decision waits until such an election must have ended.
   */
  private boolean maySettle(PeerAdmission admission) throws IOException {
    if (admission.as() != PeerAdmission.As.REBUILDING) {
      return true;
    }
    folder.set(State.REBUILDING, admission.id(), admission.group());
    return System.nanoTime() - startNanos > 2 * config.elections().max().toNanos();
  }

  private void tell(Collection<PeerStanding> said) {
    int answers = said.size();
    if (folder.state() == State.FORMATTING && !PeerAdmission.areOfOneRestore(candidate(), said)) {
      waiting.accept(
          "the metadata folders of the peers were not filled by the same restore from a backup:"
              + " empty all of them and restore again, everywhere with the same file and --time");
      return;
    }
    waiting.accept(
        folder.state() == State.FORMATTING && config.joins()
            ? String.format(
                "needs a majority of the Raft group to join; %d metadata peers answer", answers)
            : String.format("%s: %d other metadata peers answer", folder.state(), answers));
  }

  /** Creates and starts the peer. */
  RunningPeer start(PeerAdmission admission) throws IOException {
    ElectionTimes times = config.elections();
    boolean isFounder = admission.as() == PeerAdmission.As.FOUNDER;
    VoteGuard guard = new VoteGuard(times.min(), isFounder);
    if (admission.as() == PeerAdmission.As.REBUILDING) {
      guard.setRebuilding(admission.termMin());
      LOG.warn(
          "Metadata folder {} was empty or damaged; it is being rebuilt from the other peers.",
          folder.path());
    }
    RaftGroup group = group(admission);
    LeaderLease lease = new LeaderLease(admission.id(), times.min());
    PeerNetwork network =
        new PeerNetwork(admission.id(), others, config.peers(), times.max(), lease, guard);
    network.add(group.getPeers());
    Duration first = isFounder ? Duration.ofMillis(100) : times.min();
    Peer peer =
        new Peer(
            group,
            admission.id(),
            new RaftSettings.Timing(times.min(), times.max(), first, times.max()),
            folder.path(),
            network,
            new SharedApplyResults(1),
            config.resources(),
            config.checkpoints(),
            config.meters(),
            config.knows());
    network.follow(peer::configuration);
    try {
      record(admission);
      peer.start();
    } catch (IOException | RuntimeException e) {
      peer.close();
      throw e;
    }
    return new RunningPeer(peer, network, lease);
  }

  /** Records the role: the files exist, and the peer has not run yet. */
  private void record(PeerAdmission admission) throws IOException {
    switch (admission.as()) {
      case FOUNDER -> folder.set(State.MEMBER, admission.id(), admission.group());
      case MEMBER -> folder.setState(State.MEMBER);
      case JOINING -> folder.set(State.JOINING, admission.id(), List.of());
      case REBUILDING -> {} // recorded once it holds everything committed
    }
  }

  /** The initial members; those in the peer's log take precedence. */
  private RaftGroup group(PeerAdmission admission) {
    List<RaftPeer> members =
        switch (admission.as()) {
          case FOUNDER -> RaftMembers.toRaft(founders());
          case MEMBER ->
              PeerIds.placeOf(admission.id()) < 0 ? List.of() : RaftMembers.toRaft(founders());
          case JOINING -> List.of(); // it asks for no votes before it is added
          case REBUILDING -> RaftMembers.toRaft(admission.members().peers());
        };
    return RaftGroup.valueOf(RaftGroupId.valueOf(config.clusterId()), members);
  }

  private Map<RaftPeerId, Endpoint> founders() {
    Map<RaftPeerId, Endpoint> founders = new LinkedHashMap<>();
    config.peers().forEach(peer -> founders.put(PeerIds.ofFounder(founders.size()), peer));
    return founders;
  }

  /**
   * Returns when the peer holds everything committed and has its vote back. A leader that has
   * committed an entry of its term knows everything committed before.
   */
  void awaitRebuilt(RunningPeer now, PeerAdmission admission)
      throws InterruptedException, IOException {
    long target = -1;
    while (target < 0 || !now.peer().holds(target)) {
      if (target < 0) {
        target =
            others.standings().values().stream()
                .filter(other -> other.getLeads() && other.getTerm() >= admission.termMin())
                .mapToLong(PeerStanding::getCommitted)
                .findFirst()
                .orElse(-1);
      }
      Thread.sleep(ASK_AGAIN_MS);
    }
    now.peer().resetMark();
    folder.setState(State.MEMBER);
    now.network().setMember();
    LOG.info("Metadata in {} is rebuilt.", folder.path());
  }
}
