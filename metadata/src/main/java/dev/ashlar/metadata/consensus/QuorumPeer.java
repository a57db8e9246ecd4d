package dev.ashlar.metadata.consensus;

import dev.ashlar.metadata.consensus.checkpoint.TableExport;
import dev.ashlar.metadata.consensus.folder.FolderIdentity;
import dev.ashlar.metadata.consensus.folder.FolderIdentity.State;
import dev.ashlar.metadata.consensus.folder.PeerFolder;
import dev.ashlar.metadata.consensus.membership.MembershipChanges;
import dev.ashlar.metadata.consensus.membership.MembershipReport;
import dev.ashlar.metadata.consensus.membership.MembershipWatch;
import dev.ashlar.metadata.consensus.membership.PeerAdmission;
import dev.ashlar.metadata.consensus.membership.PeerAdmission.NotAMemberException;
import dev.ashlar.metadata.consensus.membership.VersionAgreement;
import dev.ashlar.metadata.consensus.network.PeerConfig;
import dev.ashlar.metadata.consensus.network.PeerConnections;
import dev.ashlar.metadata.consensus.network.RunningPeer;
import dev.ashlar.metadata.consensus.raft.ChangeSignal;
import dev.ashlar.metadata.consensus.raft.LeaderCommands;
import dev.ashlar.metadata.consensus.raft.Peer;
import dev.ashlar.metadata.consensus.raft.Peers;
import dev.ashlar.metadata.state.MetadataReads;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.state.apply.NewerVersionException;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.PeersChange;
import dev.ashlar.protocol.message.PeersChangeAnswer;
import dev.ashlar.protocol.message.PeersStatus;
import dev.ashlar.protocol.wire.CallMessage.Method;
import dev.ashlar.protocol.wire.CallMessage.Outcome;
import dev.ashlar.transport.Endpoint;
import dev.ashlar.transport.call.CallAnswer;
import dev.ashlar.transport.call.CallClient;
import dev.ashlar.transport.call.IncomingCall;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The metadata peer of this process, in a Raft group that spans several processes. It takes part as
 * soon as its admission is decided; until then, and while another peer leads, it refuses commands
 * and reads.
 */
public final class QuorumPeer implements AutoCloseable {
  private static final Duration HAND_OVER_MAX = Duration.ofSeconds(5);
  private static final Logger LOG = LoggerFactory.getLogger(QuorumPeer.class);
  private static final Duration LEASE_CHECK = Duration.ofMillis(10);
  private static final Duration NEW_PEER_WAIT = Duration.ofMinutes(1);
  private static final int RAFT_THREADS = 4;
  private static final int RAFT_CALLS_WAITING_MAX = 256;

  private final PeerConfig config;
  private final PeerFolder folder;
  private final PeerConnections others;
  private final VersionAgreement versions;
  private final MembershipChanges changes;
  private final LeaderCommands commands;
  private final ChangeSignal clusterChanges = new ChangeSignal();
  private final Thread starter;
  private final ThreadPoolExecutor raftCalls;
  private volatile @Nullable RunningPeer running;
  private volatile String trouble = "";

  /**
   * The state of the peer.
   *
   * @param standing according to its folder
   * @param isRunning whether it takes part
   * @param leader as far as it knows
   * @param trouble what prevents it from taking part; empty: nothing
   */
  public record Status(
      String standing,
      boolean isRunning,
      boolean isLeader,
      long term,
      long appliedIndex,
      Optional<Endpoint> leader,
      String trouble) {}

  private QuorumPeer(PeerConfig config, PeerFolder folder, Function<Endpoint, CallClient> calls) {
    this.config = config;
    this.folder = folder;
    others = new PeerConnections(config.self(), calls);
    others.add(config.peers());
    versions = new VersionAgreement(config.knows(), others);
    changes = new MembershipChanges(others, versions, NEW_PEER_WAIT);
    commands =
        new LeaderCommands(
            config.clock(),
            Duration.ZERO, // each submitter passes its own deadline
            config.meters(),
            this::versionToWrite,
            this::own,
            peer -> !peer.isLeader()); // the submitters send the same requests to the new leader
    raftCalls =
        new ThreadPoolExecutor(
            RAFT_THREADS,
            RAFT_THREADS,
            1,
            TimeUnit.MINUTES,
            new ArrayBlockingQueue<>(RAFT_CALLS_WAITING_MAX),
            Thread.ofPlatform().name("raft-call-", 0).daemon().factory());
    raftCalls.allowCoreThreadTimeOut(true);
    starter = Thread.ofPlatform().name("metadata-start").daemon().unstarted(this::takePart);
  }

  /**
   * @throws IOException when the folder belongs to another peer or is damaged
   */
  public static QuorumPeer open(PeerConfig config, Function<Endpoint, CallClient> calls)
      throws IOException {
    PeerFolder folder =
        PeerFolder.open(
            config.folder(),
            config.clusterId(),
            config.joins() ? FolderIdentity.NO_PLACE : config.peers().indexOf(config.self()),
            config.joins() ? 0 : config.peers().size());
    QuorumPeer peer = new QuorumPeer(config, folder, calls);
    peer.starter.start();
    return peer;
  }

  // ---- Start ----

  private void takePart() {
    try {
      while (!takesPartUntilRemoved()) {
        LOG.info("The metadata peer in {} is waiting to be added again.", folder.path());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // closed
    } catch (NotAMemberException e) {
      trouble = String.valueOf(e.getMessage());
      LOG.error("The metadata peer in {} does NOT take part: {}", folder.path(), trouble);
    } catch (IOException | RuntimeException e) {
      Optional<NewerVersionException> newer = NewerVersionException.in(e);
      trouble = String.valueOf(newer.<Throwable>map(known -> known).orElse(e).getMessage());
      if (newer.isPresent()) {
        return; // logged already
      }
      LOG.error(
          "The metadata peer in {} does NOT take part: {}. If a majority of the other "
              + "peers is intact, empty the folder to rebuild it from them. Never empty the "
              + "folder of the only peer.",
          folder.path(),
          trouble,
          e);
    }
  }

  /**
   * Returns whether this peer was removed from the Raft group; otherwise it has to be started
   * again.
   */
  private boolean takesPartUntilRemoved()
      throws InterruptedException, IOException, NotAMemberException {
    PeerStartup start = new PeerStartup(config, folder, others, this::tell);
    PeerAdmission admission = start.awaitAdmission();
    RunningPeer now = start.start(admission);
    now.peer().machine().setClusterListener(clusterChanges::signal);
    running = now;
    clusterChanges.signal();
    trouble = "";
    if (admission.as() == PeerAdmission.As.REBUILDING) {
      start.awaitRebuilt(now, admission);
    }
    boolean isRemoved =
        new MembershipWatch(config, folder, others, now, versions, changes).isRemovedAtTheEnd();
    running = null;
    if (isRemoved) {
      trouble = "removed from the Raft group: stop this process and empty its folder";
      LOG.warn("Metadata peer in {}: {}.", folder.path(), trouble);
      folder.setState(State.REMOVED);
    }
    Peers.closeAll(List.of(now.peer()));
    return isRemoved;
  }

  private void tell(String now) {
    if (!now.equals(trouble)) {
      LOG.info("Metadata is waiting: {}", now);
      trouble = now;
    }
  }

  // ---- Calls from other peers ----

  /** Answers the calls that only peers make. */
  public void serve(IncomingCall call) {
    RunningPeer now = running;
    if (call.method() == Method.STANDING) {
      call.answer(MembershipReport.standing(config, folder, now));
    } else if (now == null) {
      call.answer(CallAnswer.because(Outcome.REFUSED, "the peer does not take part yet"));
    } else {
      try {
        raftCalls.execute(() -> now.network().serve(call));
      } catch (RejectedExecutionException e) {
        call.answer(CallAnswer.because(Outcome.OVERLOADED, "too many calls are waiting"));
      }
    }
  }

  // ---- Commands ----

  /**
   * Commits a command that already has its session and request number. Blocks the caller.
   *
   * @throws MetadataUnavailableException also when this peer loses leadership meanwhile
   */
  public CommandResult submit(Command.Builder command, long deadlineNanos)
      throws MetadataUnavailableException, NotLeaderException {
    RunningPeer now = running();
    if (!now.peer().isLeader()) {
      throw new NotLeaderException(leader(now));
    }
    return commands.queue().submit(command, deadlineNanos);
  }

  private int versionToWrite() {
    Peer peer = own();
    return peer == null ? MetadataVersion.FIRST : versions.toWrite(peer);
  }

  private @Nullable Peer own() {
    RunningPeer now = running;
    return now == null ? null : now.peer();
  }

  // ---- Reads ----

  /** Answers a query from one snapshot that contains every command answered before. */
  public <T> T read(BiFunction<MetadataReads, Table, T> query, long deadlineNanos)
      throws MetadataUnavailableException, NotLeaderException {
    return awaitLease(deadlineNanos).machine().tables().read(query);
  }

  /** The cached small tables, likewise up to date. */
  public MetadataReads memory(long deadlineNanos)
      throws MetadataUnavailableException, NotLeaderException {
    return awaitLease(deadlineNanos).machine().tables().memory();
  }

  /** The applied rows, with every command answered before, if this peer leads. */
  public TableExport export(long deadlineNanos)
      throws MetadataUnavailableException, NotLeaderException {
    return awaitLease(deadlineNanos).machine().tables().export();
  }

  /**
   * Returns when this peer is the leader and no other can be. Everything answered by earlier
   * leaders was committed before its first entry, which it has applied; everything it answered
   * itself it has applied as well.
   */
  private Peer awaitLease(long deadlineNanos)
      throws MetadataUnavailableException, NotLeaderException {
    RunningPeer now = running();
    Peer peer = now.peer();
    while (true) {
      long term = peer.term();
      if (peer.isLeaderReady() && isHeld(now, term) && peer.term() == term) {
        return peer;
      }
      if (!peer.isLeader()) {
        throw new NotLeaderException(leader(now));
      }
      if (System.nanoTime() - deadlineNanos > 0) {
        throw MetadataUnavailableException.refused("too few followers confirm this leader");
      }
      try {
        if (isHeld(now, term)) {
          Thread.sleep(LEASE_CHECK); // earlier entries are still being applied
        } else {
          now.lease().awaitHeld(term, LEASE_CHECK);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw MetadataUnavailableException.refused("interrupted");
      }
    }
  }

  /** A peer that is alone in its group takes part in every election, also while it adds another. */
  private static boolean isHeld(RunningPeer now, long term) {
    return now.lease().isHeld(term) || now.network().members().isOnly(now.peer().id());
  }

  private RunningPeer running() throws NotLeaderException {
    RunningPeer now = running;
    if (now == null) {
      throw new NotLeaderException(Optional.empty());
    }
    return now;
  }

  private static Optional<Endpoint> leader(RunningPeer now) {
    return now.peer().leader().flatMap(id -> now.network().members().endpoint(id));
  }

  public Status status() {
    RunningPeer now = running;
    if (now == null) {
      return new Status(folder.state().name(), false, false, 0, -1, Optional.empty(), trouble);
    }
    Peer peer = now.peer();
    boolean isIn = now.network().members().contains(peer.id());
    return new Status(
        folder.state().name(),
        peer.isAlive() && !peer.machine().tables().isDamaged() && isIn,
        peer.isLeaderReady(),
        peer.term(),
        peer.machine().appliedIndex(),
        leader(now),
        !peer.isAlive() || peer.machine().tables().isDamaged()
            ? peer.failure()
            : isIn ? trouble : "waiting to be added: ashlar admin metadata add " + config.self());
  }

  /** Counts the changes of the placement map, the drives, the peers and the leader. */
  public ChangeSignal clusterChanges() {
    return clusterChanges;
  }

  // ---- The group ----

  /** The addresses of the peers in the Raft group, as far as this one knows. */
  public List<Endpoint> peers() {
    RunningPeer now = running;
    return now == null ? List.of() : List.copyOf(now.network().members().peers().values());
  }

  /** The Raft group and the state of each peer, if this one leads. */
  public PeersStatus peersStatus(long deadlineNanos)
      throws MetadataUnavailableException, NotLeaderException, InterruptedException {
    Peer leader = awaitLease(deadlineNanos);
    return MembershipReport.of(
        running(), leader, others.standings(), changes, config.knows(), versions.toWrite(leader));
  }

  /**
   * Begins a change of the Raft group, if this peer leads.
   *
   * @return the refusal, or the change as it begins
   */
  public PeersChangeAnswer change(PeersChange change, long deadlineNanos)
      throws MetadataUnavailableException, NotLeaderException, InterruptedException {
    awaitLease(deadlineNanos);
    try {
      return PeersChangeAnswer.newBuilder().setChange(changes.begin(change, running())).build();
    } catch (MembershipChanges.RefusedException e) {
      return PeersChangeAnswer.newBuilder().setRefusal(String.valueOf(e.getMessage())).build();
    }
  }

  /**
   * Takes a checkpoint and purges the log before it. A failure only makes the next start slower.
   */
  public void checkpoint(Duration wait) {
    Peer peer = own();
    try {
      Peers.checkpointAll(peer == null ? List.of() : List.of(peer), wait);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Called before the end: from now on this peer votes, but does not become leader. */
  public void setEnding() {
    RunningPeer now = running;
    if (now != null) {
      now.network().setEnding();
    }
  }

  /**
   * Hands leadership to another peer, if this one leads and another can: the others need not miss
   * this one first. Called before the end. Commands and reads wait meanwhile, and are then sent on.
   */
  public void handOver() {
    RunningPeer now = running;
    if (now == null || !now.peer().isLeaderReady()) {
      return;
    }
    Thread thread =
        Thread.ofPlatform()
            .daemon()
            .name("metadata-hand-over")
            .start(() -> HandOver.run(now, config.elections().min()));
    try {
      // Ratis may write its term and vote meanwhile, to a drive that hangs.
      if (!thread.join(HAND_OVER_MAX)) {
        LOG.warn("Metadata peer {} ends although its hand-over hangs.", now.peer().id());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    clusterChanges.signal();
    commands.close();
    starter.interrupt();
    try {
      starter.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Peer peer = own();
    Peers.closeAll(peer == null ? List.of() : List.of(peer));
    others.close();
    raftCalls.shutdownNow();
    commands.queue().giveUp();
  }
}
