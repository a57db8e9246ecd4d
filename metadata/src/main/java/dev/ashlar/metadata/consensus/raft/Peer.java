package dev.ashlar.metadata.consensus.raft;

import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits;
import dev.ashlar.metadata.consensus.checkpoint.DamageMeters;
import dev.ashlar.metadata.consensus.folder.MetadataFolders;
import dev.ashlar.metadata.consensus.folder.PeerIds;
import dev.ashlar.metadata.consensus.log.LogMark;
import dev.ashlar.metadata.table.RocksResources;
import dev.ashlar.protocol.message.PeerStanding;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftClientAsynchronousProtocol;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.SetConfigurationRequest;
import org.apache.ratis.protocol.SnapshotManagementRequest;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.RaftServerProtocol;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.util.LifeCycle;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A Raft peer of this process: its Ratis server, state machine and folder. */
public final class Peer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Peer.class);
  private static final long CHECKPOINT_TIMEOUT_MS = 600_000;
  private static final long STEP_DOWN_TIMEOUT_MS = 5000;
  private static final long HAND_OVER_TIMEOUT_MS = 60_000;
  private static final long CLOSING_POLL_MS = 10;

  /** For the division, once the server is closed. Less than the wait for all peers of a process. */
  private static final Duration CLOSING_MAX = Duration.ofSeconds(8);

  private final ClientId client = ClientId.randomId();
  private final AtomicLong calls = new AtomicLong();
  private final RaftGroup group;
  private final Network network;
  private final RaftPeerId id;
  private final TableStateMachine machine;
  private final RaftServer server;
  private final RaftServer.Division division;
  private final PeerDurability durability;
  private final LogMark mark;
  private final MarkRaiser raiser;
  private final LeadershipWatch leadership;

  private final AtomicBoolean isStopping = new AtomicBoolean();

  private final Thread marker;
  private final PeerGauges gauges;

  /**
   * @param group the initial members; those in the log take precedence
   * @param folder holds {@code raft} (Ratis' log and the checkpoints) and {@code live} (the tables)
   * @param network how it reaches the other peers
   * @param knows the latest metadata version that it may apply
   */
  public Peer(
      RaftGroup group,
      RaftPeerId id,
      RaftSettings.Timing timing,
      Path folder,
      Network network,
      SharedApplyResults sharedEntries,
      RocksResources resources,
      CheckpointLimits limits,
      MeterRegistry meters,
      int knows)
      throws IOException {
    this.group = group;
    this.network = network;
    this.mark = new LogMark(folder);
    this.raiser = new MarkRaiser(id, mark, this::acknowledgedIndex);
    this.marker = Thread.ofPlatform().name("metadata-mark").daemon().unstarted(this::keepMark);
    this.id = id;
    this.leadership = new LeadershipWatch(this, network, timing.max());
    DamageMeters damage = DamageMeters.in(meters);
    this.machine =
        new TableStateMachine(
            folder,
            resources,
            this::requestCheckpoint,
            this::logFailed,
            limits,
            sharedEntries,
            damage,
            knows);
    Path raft = Files.createDirectories(MetadataFolders.raftDirectory(folder));
    RaftProperties properties = RaftSettings.of(raft, new PeerRpc(), timing, limits.entriesKept());
    this.server =
        RaftServer.newBuilder()
            .setServerId(id)
            .setGroup(group)
            .setOption(RaftStorage.StartupOption.RECOVER) // formats a directory that is not there
            .setProperties(properties)
            .setParameters(PeerRpc.parameters(network))
            .setStateMachine(machine)
            .build();
    try {
      this.division = server.getDivision(group.getGroupId());
      this.durability =
          new PeerDurability(folder, division, () -> stop("it cannot make its vote durable"));
      network.set(id, durability);
      this.gauges = new PeerGauges(this, meters);
    } catch (IOException | RuntimeException e) {
      server.close();
      throw e;
    }
  }

  /** How Ratis' calls reach other peers. */
  public interface Network extends RaftServerProtocol {
    /** What this peer has to make durable before it answers others. */
    void set(RaftPeerId peer, PeerDurability durability);

    /** These peers belong to the Raft group, or soon will. */
    void add(Collection<RaftPeer> peers);

    /** The peer can be called from now on. */
    void join(RaftServer server) throws IOException;

    /** The peer is about to close: no caller must wait for its reply. */
    void leave(RaftServer server);

    /**
     * Whether another peer with intact tables could be elected now, with this one's vote.
     *
     * @param committed the other peer must know that everything up to this entry is committed
     */
    boolean canAnotherLead(RaftPeerId peer, long committed) throws InterruptedException;

    /** Whether the peer may ask for votes; it grants its own vote in any case. */
    void setCandidate(RaftPeerId peer, boolean isCandidate);
  }

  public void start() throws IOException {
    server.start();
    marker.start();
    machine.startKeeping();
  }

  /** On its own thread, so that no commit waits for it. */
  private void keepMark() {
    try {
      while (true) {
        Thread.sleep(MarkRaiser.INTERVAL);
        raiser.raise();
        leadership.look();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // closed
    }
  }

  /** The last entry that is committed and durable on this peer. */
  private long acknowledgedIndex() {
    RaftLog raftLog = division.getRaftLog();
    return Math.min(
        raftLog.getLastCommittedIndex(),
        Math.max(raftLog.getFlushIndex(), raftLog.getSnapshotIndex()));
  }

  /** Sets the log mark after a rebuild from the others: its earlier value no longer applies. */
  public void resetMark() throws IOException {
    mark.set(acknowledgedIndex());
  }

  public RaftPeerId id() {
    return id;
  }

  /** The place among the folders of a process that runs all peers, from 0. */
  public int place() {
    return PeerIds.placeOf(id);
  }

  /** False once Ratis has stopped it because its log or its tables failed. */
  public boolean isAlive() {
    return division.getInfo().isAlive();
  }

  /** What it can do at present. */
  public PeerStanding.Condition condition() {
    if (!isAlive()) {
      return PeerStanding.Condition.STOPPED;
    }
    return machine.tables().isWhole()
        ? PeerStanding.Condition.WHOLE
        : PeerStanding.Condition.DAMAGED;
  }

  /** Why it has stopped or cannot read its tables. */
  public String failure() {
    if (!machine.refusal().isEmpty()) {
      return machine.refusal();
    }
    if (!machine.failure().isEmpty()) {
      return machine.failure();
    }
    return machine.tables().isDamaged()
        ? "its tables are damaged and have to be rebuilt: " + machine.tables().damage()
        : "its Raft server has stopped";
  }

  public TableStateMachine machine() {
    return machine;
  }

  public boolean isLeader() {
    return division.getInfo().isAlive() && division.getInfo().isLeader();
  }

  public long term() {
    return division.getInfo().getCurrentTerm();
  }

  /** Empty while there is no leader or this peer does not know it. */
  public Optional<RaftPeerId> leader() {
    return Optional.ofNullable(division.getInfo().getLeaderId());
  }

  public boolean isLeaderReady() {
    return isLeader() && division.getInfo().isLeaderReady();
  }

  public long committedIndex() {
    return division.getRaftLog().getLastCommittedIndex();
  }

  /** How many committed entries this peer has not applied yet. */
  long unapplied() {
    return Math.max(0, committedIndex() - machine.appliedIndex());
  }

  /** Whether everything up to this index is durable and applied on this peer. */
  public boolean holds(long index) {
    RaftLog raftLog = division.getRaftLog();
    return machine.tables().isOpen()
        && machine.appliedIndex() >= index
        && Math.max(raftLog.getFlushIndex(), raftLog.getSnapshotIndex()) >= index;
  }

  /** Appends the proposal to the log, if this is the leader; runs on the caller's thread. */
  public CompletableFuture<RaftClientReply> propose(Proposal proposal) throws IOException {
    durability.syncTerm(term());
    RaftClientRequest request =
        RaftClientRequest.newBuilder()
            .setClientId(client)
            .setServerId(id)
            .setGroupId(group.getGroupId())
            .setCallId(calls.incrementAndGet())
            .setMessage(proposal)
            .setType(RaftClientRequest.writeRequestType())
            .build();
    // Submitted to the division: the server would pass the request to a thread pool first.
    return ((RaftClientAsynchronousProtocol) division).submitClientRequestAsync(request);
  }

  /** The present members, according to this peer's log. */
  public RaftConfiguration configuration() {
    return division.getRaftConf();
  }

  /**
   * Changes the members, if the present ones are still the given ones. New peers receive the log or
   * a checkpoint before they can vote.
   *
   * @return done when the new configuration is committed
   */
  public CompletableFuture<RaftClientReply> setPeers(List<RaftPeer> present, List<RaftPeer> next)
      throws IOException {
    return server.setConfigurationAsync(
        new SetConfigurationRequest(
            client,
            id,
            group.getGroupId(),
            calls.incrementAndGet(),
            SetConfigurationRequest.Arguments.newBuilder()
                .setMode(SetConfigurationRequest.Mode.COMPARE_AND_SET)
                .setServersInCurrentConf(present)
                .setListenersInCurrentConf(List.of())
                .setServersInNewConf(next)
                .setListenersInNewConf(List.of())
                .build()));
  }

  /** Ends this peer's leadership, if it leads: the others elect a leader when they miss one. */
  public CompletableFuture<RaftClientReply> stepDown() throws IOException {
    return transfer(null, STEP_DOWN_TIMEOUT_MS);
  }

  /**
   * Lets this follower ask for votes as soon as it has the whole log. The leader takes no commands
   * from now on, unless it is elected again. (Or a minute later: Ratis does not cancel the timer of
   * a transfer, and it would end the next one.)
   *
   * @return succeeds when the other one leads
   */
  public CompletableFuture<RaftClientReply> handOver(RaftPeerId successor) throws IOException {
    return transfer(successor, HAND_OVER_TIMEOUT_MS);
  }

  private CompletableFuture<RaftClientReply> transfer(@Nullable RaftPeerId successor, long maxMs)
      throws IOException {
    return server.transferLeadershipAsync(
        new TransferLeadershipRequest(
            client, id, group.getGroupId(), calls.incrementAndGet(), successor, maxMs));
  }

  /** Requests a checkpoint, which the applying thread takes soon. */
  void requestCheckpoint() {
    checkpoint().exceptionally(failure -> null); // further commands request the next one
  }

  CompletableFuture<RaftClientReply> checkpoint() {
    return server.snapshotManagementAsync(
        SnapshotManagementRequest.newCreate(
            client, id, group.getGroupId(), calls.incrementAndGet(), CHECKPOINT_TIMEOUT_MS, 1));
  }

  /** The only peer goes on reading; Ratis has closed its log, so that it accepts no commands. */
  private void logFailed(Throwable cause) {
    if (!machine.isOnlyPeer()) {
      stop("it cannot write its log: " + cause);
    }
  }

  /** Stops this peer, because it can no longer keep its promises; the others continue. */
  private void stop(String why) {
    if (!isStopping.getAndSet(true)) {
      LOG.error("Metadata peer {} stops because {}. Check the drive and restart.", id, why);
      Thread.ofPlatform().daemon().name("metadata-stop").start(division::close);
    }
  }

  @Override
  public void close() throws IOException {
    gauges.close();
    network.leave(server);
    if (marker.isAlive()) {
      marker.interrupt();
      raiser.raise();
    }
    server.close();
    awaitDivision();
    machine.close(); // Ratis does not close it if the log could not be opened
  }

  /**
   * Ratis closes the division of a removed peer on a thread of its own, and so does {@link #stop}.
   * The server does not wait for that: the division would still write, and hold the lock of its
   * folder.
   */
  private void awaitDivision() {
    long deadline = System.nanoTime() + CLOSING_MAX.toNanos();
    try {
      while (division.getInfo().getLifeCycleState() == LifeCycle.State.CLOSING) {
        if (System.nanoTime() > deadline) {
          LOG.warn("Metadata peer {} is still closing its log after {}.", id, CLOSING_MAX);
          return;
        }
        Thread.sleep(CLOSING_POLL_MS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
