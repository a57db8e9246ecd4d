package dev.ashlar.metadata.consensus.raft;

import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits;
import dev.ashlar.metadata.consensus.checkpoint.CheckpointPolicy;
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
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.conf.Parameters;
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
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.RaftStorage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One Raft peer of this process, with its folder. */
public final class Peer implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Peer.class);
  private static final Duration CLOSE_MAX = Duration.ofSeconds(10);
  private static final Duration MARK_INTERVAL = Duration.ofSeconds(1);
  private static final long CHECKPOINT_TIMEOUT_MS = 600_000;
  private static final long STEP_DOWN_TIMEOUT_MS = 5000;

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
  private final LeadershipWatch leadership;

  /** Why the last attempt to raise the mark failed; empty after one that succeeded. */
  private volatile String markTrouble = "";

  private final Thread marker;

  /**
   * @param group as it begins; what the log says of it comes first
   * @param folder holds {@code raft} (Ratis' log and the checkpoints) and {@code live} (the tables)
   * @param network its way to the others
   * @param knows the greatest version of metadata that it may apply
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
    this.marker = Thread.ofPlatform().name("metadata-mark").daemon().unstarted(this::keepMark);
    this.id = id;
    this.leadership = new LeadershipWatch(this, network, timing.max());
    CheckpointPolicy policy =
        new CheckpointPolicy(limits.commandsMax(), limits.bytesMax(), this::requestCheckpoint);
    this.machine =
        new TableStateMachine(
            folder, resources, policy, limits, sharedEntries, DamageMeters.in(meters), knows);
    Path raft = Files.createDirectories(MetadataFolders.raftDirectory(folder));
    RaftProperties properties = RaftSettings.of(raft, network.rpc(), timing);
    Parameters parameters = new Parameters();
    network.put(parameters);
    this.server =
        RaftServer.newBuilder()
            .setServerId(id)
            .setGroup(group)
            .setOption(RaftStorage.StartupOption.RECOVER) // formats a directory that is not there
            .setProperties(properties)
            .setParameters(parameters)
            .setStateMachine(machine)
            .build();
    try {
      this.division = server.getDivision(group.getGroupId());
      this.durability = new PeerDurability(folder, division, this::stop);
      network.set(id, durability);
    } catch (IOException | RuntimeException e) {
      server.close();
      throw e;
    }
  }

  /** How Ratis' calls get from one peer to another. */
  public interface Network {
    RpcType rpc();

    /** Hands itself to what Ratis makes of the type. */
    void put(Parameters parameters);

    /** What this peer of the process has to make durable before it tells others. */
    void set(RaftPeerId peer, PeerDurability durability);

    /** These are, or are about to be, of the group. */
    void add(Collection<RaftPeer> peers);

    /** The peer can be called from now on. */
    void join(RaftServer server) throws IOException;

    /** The peer is about to close: nobody must wait for a reply that will not come. */
    void leave(RaftServer server);

    /**
     * Whether another peer whose tables are whole could be elected now, with this one's vote.
     *
     * @param committed the entry up to which it has to know that all is committed
     */
    boolean canAnotherLead(RaftPeerId peer, long committed) throws InterruptedException;

    /** Whether the peer may ask for votes; it gives its own in any case. */
    void setCandidate(RaftPeerId peer, boolean isCandidate);
  }

  public void start() throws IOException {
    server.start();
    marker.start();
    machine.startKeeping();
  }

  /** Beside the log, so that no commit waits for it. */
  private void keepMark() {
    try {
      while (true) {
        Thread.sleep(MARK_INTERVAL);
        raiseMark();
        leadership.look();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // closed
    }
  }

  private void raiseMark() {
    try {
      mark.raise(acknowledgedIndex());
      markTrouble = "";
    } catch (IOException | RuntimeException e) {
      String trouble = e.toString();
      if (!trouble.equals(markTrouble)) {
        log.warn(
            "Metadata peer {} cannot record the end of its log and retries every {} ms: "
                + "{}. Until it succeeds, the loss of the log's end may go unnoticed.",
            id,
            MARK_INTERVAL.toMillis(),
            trouble);
      }
      markTrouble = trouble;
    }
  }

  /** What is committed and durable here. */
  private long acknowledgedIndex() {
    RaftLog raftLog = division.getRaftLog();
    return Math.min(
        raftLog.getLastCommittedIndex(),
        Math.max(raftLog.getFlushIndex(), raftLog.getSnapshotIndex()));
  }

  /** The others have rebuilt it: what it held before says nothing any more. */
  public void resetMark() throws IOException {
    mark.set(acknowledgedIndex());
  }

  public RaftPeerId id() {
    return id;
  }

  /** Among the folders of a process that has them all, from 0. */
  public int place() {
    return PeerIds.placeOf(id);
  }

  /** False once Ratis has stopped it, because its log or its tables failed. */
  public boolean isAlive() {
    return division.getInfo().isAlive();
  }

  /** What it can do now. */
  public PeerStanding.Condition condition() {
    if (!isAlive()) {
      return PeerStanding.Condition.STOPPED;
    }
    return machine.tables().isWhole()
        ? PeerStanding.Condition.WHOLE
        : PeerStanding.Condition.DAMAGED;
  }

  /** Why it is not alive any more, or cannot read its tables. */
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

  /** Empty while there is none, or it is not known here. */
  public Optional<RaftPeerId> leader() {
    return Optional.ofNullable(division.getInfo().getLeaderId());
  }

  public boolean isLeaderReady() {
    return isLeader() && division.getInfo().isLeaderReady();
  }

  public long committedIndex() {
    return division.getRaftLog().getLastCommittedIndex();
  }

  /** Whether everything up to this index is durable here and applied. */
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
    // The division's own entrance: the server's would pass the request to a pool first.
    return ((RaftClientAsynchronousProtocol) division).submitClientRequestAsync(request);
  }

  /** Who decides now, as far as this peer's log goes. */
  public RaftConfiguration configuration() {
    return division.getRaftConf();
  }

  /**
   * Has others decide from now on, if those that do are the ones of the present configuration. New
   * ones get the log, or a checkpoint, before they count.
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

  /** Has another be elected, if this peer leads; it follows then. */
  CompletableFuture<RaftClientReply> stepDown() throws IOException {
    return server.transferLeadershipAsync(
        new TransferLeadershipRequest(
            client,
            id,
            group.getGroupId(),
            calls.incrementAndGet(),
            null, // whoever is elected
            STEP_DOWN_TIMEOUT_MS));
  }

  /** Takes a checkpoint soon, on the thread that applies. */
  void requestCheckpoint() {
    checkpoint().exceptionally(failure -> null); // the next request comes with further commands
  }

  private CompletableFuture<RaftClientReply> checkpoint() {
    return server.snapshotManagementAsync(
        SnapshotManagementRequest.newCreate(
            client, id, group.getGroupId(), calls.incrementAndGet(), CHECKPOINT_TIMEOUT_MS, 1));
  }

  /**
   * Takes a checkpoint of each that runs and lets go of the log before it. One that takes longer
   * than this, or fails, is not waited for: only the next start is slower then.
   */
  public static void checkpointAll(List<Peer> peers, Duration wait) throws InterruptedException {
    CompletableFuture<?>[] replies =
        peers.stream()
            .filter(Peer::isAlive)
            .map(Peer::checkpoint)
            .toArray(CompletableFuture<?>[]::new);
    try {
      CompletableFuture.allOf(replies).get(wait.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException e) {
      log.warn(
          "Not every metadata folder has a new checkpoint; the next start replays the " + "log: {}",
          e.toString());
    }
  }

  /** It cannot keep its word any more; others go on. */
  private void stop() {
    log.error(
        "Metadata peer {} stops because it cannot make its vote durable. Check the "
            + "drive and restart.",
        id);
    Thread.ofPlatform().daemon().name("metadata-stop").start(division::close);
  }

  @Override
  public void close() throws IOException {
    network.leave(server);
    if (marker.isAlive()) {
      marker.interrupt();
      raiseMark();
    }
    server.close();
    machine.close(); // Ratis forgets it when the log could not be opened
  }

  /**
   * At once, because each takes up to a second to notice. One that hangs is left to itself: Ratis
   * 3.3 waits for ever when a log is closed while it is about to evict from its cache, and what was
   * acknowledged is synced.
   */
  public static void closeAll(List<Peer> peers) {
    List<Thread> closers =
        peers.stream()
            .map(peer -> Thread.ofPlatform().daemon().start(() -> closeLogged(peer)))
            .toList();
    long end = System.nanoTime() + CLOSE_MAX.toNanos();
    for (Thread closer : closers) {
      try {
        if (!closer.join(Duration.ofNanos(Math.max(1, end - System.nanoTime())))) {
          log.warn("A metadata peer did not close within {}.", CLOSE_MAX);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  private static void closeLogged(Peer peer) {
    try {
      peer.close();
    } catch (IOException e) {
      log.warn("Closing metadata peer {} failed.", peer.id(), e);
    }
  }
}
