package dev.ashlar.metadata.consensus;

import dev.ashlar.metadata.consensus.checkpoint.TableExport;
import dev.ashlar.metadata.consensus.folder.FolderStatus;
import dev.ashlar.metadata.consensus.folder.MetadataFolders;
import dev.ashlar.metadata.consensus.folder.PeerIds;
import dev.ashlar.metadata.consensus.network.LocalNetwork;
import dev.ashlar.metadata.consensus.raft.CommitQueue;
import dev.ashlar.metadata.consensus.raft.LeaderCommands;
import dev.ashlar.metadata.consensus.raft.Peer;
import dev.ashlar.metadata.consensus.raft.Peers;
import dev.ashlar.metadata.consensus.raft.RaftSettings;
import dev.ashlar.metadata.consensus.raft.SharedApplyResults;
import dev.ashlar.metadata.consensus.raft.TableStateMachine;
import dev.ashlar.metadata.state.MetadataReads;
import dev.ashlar.metadata.state.apply.NewerVersionException;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The metadata Raft group when all its peers are in this process, one folder each. */
public final class LocalRaftGroup implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LocalRaftGroup.class);
  private static final Duration APPLIED_CHECK = Duration.ofMillis(10);

  private final List<Peer> peers;
  private final MetadataFolders folders;
  private final LeaderCommands commands;
  private final List<TableStateMachine> machines;
  private volatile Peer leader;
  private final ReentrantLock changingReader = new ReentrantLock();

  /** The peer whose tables answer reads. */
  private volatile TableStateMachine reader;

  private LocalRaftGroup(
      MetadataConfig config,
      int knows,
      List<Peer> peers,
      MetadataFolders folders,
      LocalNetwork network) {
    this.peers = peers;
    this.folders = folders;
    this.leader = peers.getFirst();
    // All peers run the same build, so they support the same version.
    this.commands =
        new LeaderCommands(
            config.clock(),
            config.commandTimeout(),
            config.meters(),
            () -> knows,
            this::leader,
            peer -> !refusal().isEmpty()); // then no peer of this process can apply it
    this.machines = peers.stream().map(Peer::machine).toList();
    this.reader = machines.getFirst();
    if (peers.stream().anyMatch(peer -> network.isForgetful(peer.id()))) {
      watchRebuilding(network);
    }
  }

  /**
   * Starts the peers, one per folder; the first one asks for votes first.
   *
   * @param knows the greatest version of metadata that its peers may apply
   */
  public static LocalRaftGroup open(MetadataConfig config, int knows) throws IOException {
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
          make(place, config, knows, folders, group, network, sharedEntries).ifPresent(peers::add);
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
      Peers.closeAll(peers);
      throw e;
    }
    return new LocalRaftGroup(config, knows, List.copyOf(peers), folders, network);
  }

  /** Empty when the peer's files are damaged and the other peers are enough. */
  private static Optional<Peer> make(
      int place,
      MetadataConfig config,
      int knows,
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
              knows));
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
      Peers.closeAll(List.of(peer));
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
                LOG.info("Metadata peer {} is rebuilt.", peer.id());
              } catch (IOException e) {
                LOG.warn(
                    "Metadata peer {} is rebuilt, but its folder cannot record it.", peer.id(), e);
              }
            }
          }
        };
    commands.everyTenth(watch);
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

  /** Commits commands; each blocks its caller. */
  public CommitQueue commands() {
    return commands.queue();
  }

  private Peer leader() {
    Peer last = leader;
    if (!last.isLeader()) {
      last = peers.stream().filter(Peer::isLeader).findFirst().orElse(last);
      leader = last;
    }
    return last;
  }

  // ---- Reads ----

  /**
   * The peer whose tables answer reads now. All peers and clients are in this process, so no lease
   * is needed: a read is linearizable if the tables contain every command answered before it and
   * everything an earlier read has seen. The first is true of a peer that has applied as far as any
   * answer; the second because the reader changes only to a peer that is at least as far as the
   * previous one.
   */
  private TableStateMachine reader() throws MetadataUnavailableException {
    TableStateMachine present = reader;
    if (present.tables().isWhole() && present.appliedIndex() >= answeredIndex()) {
      return present;
    }
    changingReader.lock();
    try {
      long needed = Math.max(answeredIndex(), reader.appliedIndex());
      reader =
          machines.stream()
              .filter(machine -> machine.tables().isOpen())
              .filter(machine -> machine.appliedIndex() >= needed)
              .max(
                  Comparator.comparing((TableStateMachine machine) -> machine.tables().isWhole())
                      .thenComparingLong(TableStateMachine::appliedIndex))
              .orElseThrow(
                  () -> MetadataUnavailableException.refused("no metadata peer is up to date"));
      return reader;
    } finally {
      changingReader.unlock();
    }
  }

  /** The last log entry whose commands any peer has answered. */
  private long answeredIndex() {
    long index = -1;
    for (TableStateMachine machine : machines) {
      index = Math.max(index, machine.answeredIndex());
    }
    return index;
  }

  /** Answers a query from one snapshot that contains every command answered before. */
  public <T> T read(BiFunction<MetadataReads, Table, T> query) throws MetadataUnavailableException {
    TableStateMachine source = reader();
    try {
      return source.tables().read(query);
    } catch (MetadataUnavailableException e) {
      // Its tables turned out damaged or were closed.
      TableStateMachine other = reader();
      if (other.equals(source)) {
        throw MetadataUnavailableException.refused(
            "metadata in " + source.folder() + " is damaged");
      }
      return other.tables().read(query);
    }
  }

  /** The applied rows, with every command answered before. */
  public TableExport export() throws MetadataUnavailableException {
    return reader().tables().export();
  }

  /** The cached small tables, likewise up to date. */
  public MetadataReads memory() throws MetadataUnavailableException {
    return reader().tables().memory();
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
      Peers.checkpointAll(peers, half);
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
      Thread.sleep(APPLIED_CHECK);
    }
  }

  @Override
  public void close() {
    commands.close();
    Peers.closeAll(peers);
    commands.queue().giveUp();
  }
}
