package dev.ashlar.metadata.consensus;

import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits;
import dev.ashlar.metadata.consensus.checkpoint.UnreadableTablesException;
import dev.ashlar.metadata.consensus.folder.FolderStatus;
import dev.ashlar.metadata.consensus.folder.MetadataFolders;
import dev.ashlar.metadata.consensus.folder.PeerIds;
import dev.ashlar.metadata.consensus.network.LocalNetwork;
import dev.ashlar.metadata.consensus.raft.CommitQueue;
import dev.ashlar.metadata.consensus.raft.Peer;
import dev.ashlar.metadata.consensus.raft.Proposal;
import dev.ashlar.metadata.consensus.raft.RaftSettings;
import dev.ashlar.metadata.consensus.raft.SharedApplyResults;
import dev.ashlar.metadata.consensus.raft.TableStateMachine;
import dev.ashlar.metadata.state.MetadataReads;
import dev.ashlar.metadata.state.apply.NewerVersionException;
import dev.ashlar.metadata.table.RocksResources;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandResult;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The metadata Raft group when all its peers are in this process, one folder each. */
public final class LocalRaftGroup implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(LocalRaftGroup.class);
  private static final long RETRY_MS = 10;
  private static final long WATCH_MS = 100;

  private final List<Peer> peers;
  private final MetadataFolders folders;
  private final CommitQueue queue;
  private final ReadSource reads;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("metadata-timer").factory());
  private volatile Peer leader;
  private volatile boolean closed;

  private LocalRaftGroup(
      Config config, List<Peer> peers, MetadataFolders folders, LocalNetwork network) {
    this.peers = peers;
    this.folders = folders;
    this.leader = peers.getFirst();
    // All peers run the same build, so they support the same version.
    this.queue =
        new CommitQueue(
            config.clock(), config.timeout(), config.meters(), config::knows, this::propose);
    this.reads = new ReadSource(peers.stream().map(Peer::machine).toList());
    every(WATCH_MS, queue::wakeExpired);
    if (peers.stream().anyMatch(peer -> network.isForgetful(peer.id()))) {
      watchRebuilding(network);
    }
  }

  /**
   * @param folders one per peer, in an order that never changes; the first peer asks for votes
   *     first
   * @param notMounted the folders that are not mounted at present
   * @param timeout the longest time a command may wait
   * @param knows the greatest version of metadata that its peers may apply
   */
  public record Config(
      UUID clusterId,
      List<Path> folders,
      Set<Path> notMounted,
      RocksResources resources,
      MeterRegistry meters,
      CheckpointLimits checkpoints,
      Clock clock,
      Duration timeout,
      int knows) {}

  /** Whether any of these folders belongs to a Raft group that was started before. */
  public static boolean holdMetadata(List<Path> folders) {
    return MetadataFolders.holdMetadata(folders);
  }

  public static LocalRaftGroup open(Config config) throws IOException {
    MetadataFolders folders =
        new MetadataFolders(config.clusterId(), config.folders(), config.notMounted());
    folders.prepare();
    RaftGroup group =
        RaftGroup.valueOf(
            RaftGroupId.valueOf(config.clusterId()), members(config.folders().size()));
    LocalNetwork network = new LocalNetwork();
    SharedApplyResults sharedEntries = new SharedApplyResults(config.folders().size());
    List<Peer> peers = new ArrayList<>();
    try {
      for (int place = 0; place < config.folders().size(); place++) {
        if (!folders.isLeftOut(place)) {
          make(place, config, folders, group, network, sharedEntries).ifPresent(peers::add);
        }
      }
      folders.peersAreMade();
      for (Peer peer :
          List.copyOf(peers).reversed()) { // the peer that asks for votes first starts last
        if (!start(peer, folders)) {
          peers.remove(peer);
        }
      }
    } catch (IOException | RuntimeException e) {
      Peer.closeAll(peers);
      throw e;
    }
    return new LocalRaftGroup(config, List.copyOf(peers), folders, network);
  }

  /** Empty when the peer's files are damaged and the other peers are enough. */
  private static Optional<Peer> make(
      int place,
      Config config,
      MetadataFolders folders,
      RaftGroup group,
      LocalNetwork network,
      SharedApplyResults sharedEntries)
      throws IOException {
    if (folders.isRebuilding(place)) {
      network.setForgetful(PeerIds.ofFounder(place));
    }
    try {
      return Optional.of(
          new Peer(
              group,
              PeerIds.ofFounder(place),
              RaftSettings.Timing.embedded(
                  place == folders.firstMember(), config.folders().size() == 1),
              config.folders().get(place),
              network,
              sharedEntries,
              config.resources(),
              config.checkpoints(),
              config.meters(),
              config.knows()));
    } catch (IOException | RuntimeException e) {
      requireKnown(e);
      folders.leaveOut(place, e);
      return Optional.empty();
    }
  }

  /** Data written by a newer build is not damage, and all folders contain it. */
  private static void requireKnown(Exception failure) throws IOException {
    Optional<NewerVersionException> newer = NewerVersionException.in(failure);
    if (newer.isPresent()) {
      throw new IOException(newer.get().getMessage(), failure);
    }
  }

  private static boolean start(Peer peer, MetadataFolders folders) throws IOException {
    try {
      peer.start();
      return true;
    } catch (IOException | RuntimeException e) {
      Peer.closeAll(List.of(peer));
      requireKnown(e);
      folders.leaveOut(peer.place(), e);
      return false;
    }
  }

  /** All have the same priority, so that no leader hands over to a peer that is being rebuilt. */
  public static List<RaftPeer> members(int count) {
    List<RaftPeer> members = new ArrayList<>();
    for (int place = 0; place < count; place++) {
      members.add(
          RaftPeer.newBuilder()
              .setId(PeerIds.ofFounder(place))
              .setAddress("in-process:" + (place + 1))
              .build());
    }
    return members;
  }

  /**
   * Returns the vote to rebuilt peers once they hold everything that was committed without them.
   */
  private void watchRebuilding(LocalNetwork network) {
    Map<RaftPeerId, Long> targets = new HashMap<>();
    Runnable watch =
        () -> {
          for (Peer peer : peers) {
            if (network.isForgetful(peer.id()) && hasCaughtUp(peer, targets)) {
              try {
                peer.resetMark();
                folders.setMember(peer.place());
                network.setMember(peer.id());
                log.info("Metadata peer {} is rebuilt.", peer.id());
              } catch (IOException e) {
                log.warn(
                    "Metadata peer {} is rebuilt, but its folder cannot record it.", peer.id(), e);
              }
            }
          }
        };
    every(WATCH_MS, watch);
  }

  private void every(long millis, Runnable task) {
    var unused = timer.scheduleWithFixedDelay(task, millis, millis, TimeUnit.MILLISECONDS);
  }

  /**
   * A ready leader has committed an entry of its term, and so knows everything committed before it.
   */
  private boolean hasCaughtUp(Peer peer, Map<RaftPeerId, Long> targets) {
    Long target = targets.get(peer.id());
    if (target == null) {
      peers.stream()
          .filter(Peer::isLeaderReady)
          .findFirst()
          .ifPresent(ready -> targets.put(peer.id(), ready.committedIndex()));
      return false;
    }
    return peer.holds(target);
  }

  /** Commits a command. Blocks the caller. */
  public CommandResult submit(Command.Builder command) throws MetadataUnavailableException {
    return queue.submit(command);
  }

  /** All commands that follow belong to this session. */
  public void setSession(long session) {
    queue.setSession(session);
  }

  private void propose(Proposal proposal) {
    Peer target = leader;
    if (!target.isLeader()) {
      target = findLeader();
    }
    try {
      var unused =
          target
              .propose(proposal)
              .whenComplete(
                  (reply, failure) -> {
                    if (failure != null || !reply.isSuccess()) {
                      retry(proposal, failure != null ? failure : reply.getException());
                    }
                  });
    } catch (IOException | RuntimeException e) {
      retry(proposal, e);
    }
  }

  private Peer findLeader() {
    leader = peers.stream().filter(Peer::isLeader).findFirst().orElse(leader);
    return leader;
  }

  /** Proposes the same requests again: apply recognises those that did reach the log. */
  private void retry(Proposal proposal, Throwable reason) {
    log.debug("Proposal not accepted: {}", reason.toString());
    if (!refusal().isEmpty()) {
      proposal.abandon(); // no peer of this process can apply it
    } else if (!closed && proposal.isWanted()) {
      var unused = timer.schedule(() -> propose(proposal), RETRY_MS, TimeUnit.MILLISECONDS);
    }
  }

  /** Answers a query from one snapshot that contains every command answered before. */
  public <T> T read(BiFunction<MetadataReads, Table, T> query) throws MetadataUnavailableException {
    TableStateMachine source = reads.current();
    try {
      return source.read(query);
    } catch (UnreadableTablesException e) {
      return readElsewhere(source, query);
    }
  }

  /** Reads from another peer after the tables of this one turned out damaged or were closed. */
  private <T> T readElsewhere(TableStateMachine left, BiFunction<MetadataReads, Table, T> query)
      throws MetadataUnavailableException {
    TableStateMachine source = reads.current();
    try {
      if (!source.equals(left)) {
        return source.read(query);
      }
      throw MetadataUnavailableException.refused("metadata in " + left.folder() + " is damaged");
    } catch (UnreadableTablesException e) {
      throw MetadataUnavailableException.refused(String.valueOf(e.getMessage()));
    }
  }

  /** The cached small tables, likewise up to date. */
  public MetadataReads memory() throws MetadataUnavailableException {
    try {
      return reads.current().memory();
    } catch (UnreadableTablesException e) {
      throw MetadataUnavailableException.refused(String.valueOf(e.getMessage()));
    }
  }

  /** The sum of the peers' applied indices: it grows while any peer applies its log. */
  public long appliedIndices() {
    return peers.stream().mapToLong(peer -> peer.machine().appliedIndex()).sum();
  }

  /** Why this build cannot apply the content of the folders; empty: it can. */
  public String refusal() {
    return peers.stream()
        .map(peer -> peer.machine().refusal())
        .filter(refusal -> !refusal.isEmpty())
        .findFirst()
        .orElse("");
  }

  /** The present state of each folder. */
  public List<FolderStatus> folders() {
    List<FolderStatus> statuses = new ArrayList<>(folders.statuses());
    for (Peer peer : peers) {
      FolderStatus status = statuses.get(peer.place());
      if (!peer.isAlive() || peer.machine().tables().isDamaged()) {
        statuses.set(
            peer.place(),
            new FolderStatus(status.folder(), FolderStatus.Standing.LEFT_OUT, peer.failure()));
      }
    }
    return statuses;
  }

  /**
   * Takes a checkpoint of every running peer, with everything committed, and purges the log before
   * it. A failure, or one that takes longer than {@code wait}, only makes the next start slower.
   */
  public void checkpoint(Duration wait) {
    Duration half = wait.dividedBy(2);
    try {
      awaitAllApplied(half);
      Peer.checkpointAll(peers, half);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Followers learn of the last commits with the next heartbeat only. */
  private void awaitAllApplied(Duration wait) throws InterruptedException {
    long end = System.nanoTime() + wait.toNanos();
    long committed = peers.stream().mapToLong(Peer::committedIndex).max().orElse(-1);
    while (System.nanoTime() < end
        && peers.stream()
            .anyMatch(peer -> peer.isAlive() && peer.machine().appliedIndex() < committed)) {
      Thread.sleep(RETRY_MS);
    }
  }

  @Override
  public void close() {
    closed = true;
    queue.close();
    timer.shutdownNow();
    Peer.closeAll(peers);
    queue.giveUp();
  }
}
