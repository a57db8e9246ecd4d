package dev.ashlar.metadata.consensus.raft;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.ashlar.metadata.consensus.checkpoint.CheckpointKeeper;
import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits;
import dev.ashlar.metadata.consensus.checkpoint.CheckpointPolicy;
import dev.ashlar.metadata.consensus.checkpoint.Checkpoints;
import dev.ashlar.metadata.consensus.checkpoint.DamageMeters;
import dev.ashlar.metadata.consensus.checkpoint.LiveTables;
import dev.ashlar.metadata.consensus.checkpoint.TableLoader;
import dev.ashlar.metadata.consensus.checkpoint.TableLoader.Live;
import dev.ashlar.metadata.consensus.file.DamagedFileException;
import dev.ashlar.metadata.consensus.file.DurableFiles;
import dev.ashlar.metadata.consensus.log.LogSegments;
import dev.ashlar.metadata.state.Applied;
import dev.ashlar.metadata.state.MetadataReads;
import dev.ashlar.metadata.state.MetadataState;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.state.apply.NewerVersionException;
import dev.ashlar.metadata.table.DamagedTablesException;
import dev.ashlar.metadata.table.RocksResources;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.metadata.table.TableFailureException;
import dev.ashlar.protocol.message.AppliedRow;
import dev.ashlar.protocol.message.CommandBatch;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftConfigurationProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftGroupMemberId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.SnapshotInfo;
import org.apache.ratis.statemachine.StateMachineStorage;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.util.LifeCycle;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies the log of a peer to its tables. The live tables are outside of Ratis' directory; they
 * are rebuilt from the latest checkpoint at each start, and whenever they turn out damaged.
 */
public final class TableStateMachine extends BaseStateMachine implements CheckpointKeeper.Peer {
  private static final Logger LOG = LoggerFactory.getLogger(TableStateMachine.class);
  private final Path folder;
  private final CheckpointPolicy policy;
  private final SharedApplyResults sharedEntries;
  private volatile @Nullable Path receiving;
  private final Checkpoints checkpoints = new Checkpoints();
  private final LiveTables tables;
  private final CheckpointKeeper keeper;
  private final DamageMeters meters;

  /** Held while entries are applied and while the tables are replaced. */
  private final ReentrantLock applying = new ReentrantLock();

  private volatile long answeredIndex = -1;
  private volatile int version = MetadataVersion.FIRST;
  private volatile String refusal = "";
  private volatile String failure = "";
  private volatile boolean isClosed;

  /** Called when the placement map, the drives, the peers or the leader have changed. */
  private volatile Runnable clusterListener = () -> {};

  private long announcedEpoch;
  private Map<UUID, DriveId> announcedDrives = Map.of();

  /**
   * @param folder of the peer
   * @param knows the latest metadata version that it may apply
   */
  TableStateMachine(
      Path folder,
      RocksResources resources,
      CheckpointPolicy policy,
      CheckpointLimits limits,
      SharedApplyResults sharedEntries,
      DamageMeters meters,
      int knows) {
    this.folder = folder;
    this.sharedEntries = sharedEntries;
    this.policy = policy;
    this.meters = meters;
    this.keeper = new CheckpointKeeper(this, checkpoints, limits, meters);
    TableLoader loader = new TableLoader(folder, resources, checkpoints, knows);
    this.tables = new LiveTables(folder, loader, keeper::wake);
  }

  @Override
  public void initialize(RaftServer server, RaftGroupId groupId, RaftStorage storage)
      throws IOException {
    getLifeCycle()
        .startAndTransition(
            () -> {
              super.initialize(server, groupId, storage);
              checkpoints.init(storage);
              receiving = storage.getStorageDir().getTmpDir().toPath();
              load();
              LogSegments.dropDamaged(checkpoints.logDirectory(), appliedIndex());
            },
            IOException.class);
  }

  /**
   * Called when a checkpoint was received from the leader: makes it durable before Ratis installs
   * it and purges the log before it. The tables stay open, because the applying thread may be using
   * them; it closes them itself.
   */
  @Override
  public void pause() {
    try {
      DurableFiles.syncTree(Objects.requireNonNull(receiving, "not initialised"));
    } catch (IOException e) {
      throw new UncheckedIOException("the checkpoint that was received is not durable", e);
    }
    if (getLifeCycleState() == LifeCycle.State.PAUSED) {
      return; // Ratis could not install the previous one
    }
    getLifeCycle().transition(LifeCycle.State.PAUSING); // from now on no work on files begins
    checkpoints.files().lock(); // waits until running work has stopped
    try {
      getLifeCycle().transition(LifeCycle.State.PAUSED);
    } finally {
      checkpoints.files().unlock();
    }
  }

  /** Called by the applying thread when a checkpoint of the leader was installed. */
  @Override
  public void reinitialize() throws IOException {
    load();
    clusterListener.run();
    getLifeCycle().transition(LifeCycle.State.STARTING);
    getLifeCycle().transition(LifeCycle.State.RUNNING);
  }

  /** To be called after each change of the placement map, the drives, the peers or the leader. */
  public void setClusterListener(Runnable listener) {
    clusterListener = listener;
  }

  @Override
  public void notifyLeaderChanged(RaftGroupMemberId peer, @Nullable RaftPeerId leader) {
    clusterListener.run();
  }

  @Override
  public void notifyNotLeader(Collection<TransactionContext> pending) throws IOException {
    super.notifyNotLeader(pending);
    clusterListener.run();
  }

  @Override
  public void notifyConfigurationChanged(
      long term, long index, RaftConfigurationProto configuration) {
    clusterListener.run();
  }

  /** Starts the background work on files; called when the log is open. */
  void startKeeping() {
    keeper.start();
  }

  private void load() throws IOException {
    applying.lock();
    try {
      version = tables.load().state().applied().getVersion();
      checkpoints.latest().ifPresent(from -> setLastAppliedTermIndex(from.position()));
    } catch (NewerVersionException e) {
      throw refused(e);
    } catch (InterruptedException e) {
      throw interrupted();
    } finally {
      applying.unlock();
    }
  }

  private static InterruptedIOException interrupted() {
    Thread.currentThread().interrupt();
    return new InterruptedIOException("interrupted while metadata tables were loaded");
  }

  /** Records why Ratis stops this peer. */
  private NewerVersionException refused(NewerVersionException why) {
    refusal = String.valueOf(why.getMessage());
    LOG.error("The metadata peer in {} stops: {}", folder, refusal);
    return why;
  }

  // ---- Damage ----

  /** Rebuilds damaged tables from a checkpoint and the log after it. */
  @Override
  public void rebuildIfDamaged() throws IOException, InterruptedException {
    applying.lockInterruptibly();
    try {
      long startNanos = System.nanoTime();
      long target = appliedIndex();
      boolean isRebuilt =
          tables.rebuildIfDamaged(
              (next, from) ->
                  replay(next, from.map(c -> c.position().getIndex()).orElse(-1L), target));
      if (isRebuilt) {
        meters.rebuilt().increment();
        LOG.info(
            "Metadata tables in {} are rebuilt up to entry {} in {} ms.",
            folder,
            target,
            TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos));
      }
    } finally {
      applying.unlock();
    }
  }

  private void replay(Live next, long after, long target) throws IOException {
    requireRunning();
    RaftLog log = division().getRaftLog();
    for (long index = after + 1; index <= target; index++) {
      LogEntryProto entry = log.get(index);
      requireRunning();
      if (entry == null) {
        throw new DamagedFileException("log entry " + index + " is missing");
      }
      if (entry.hasStateMachineLogEntry()) {
        Applied unused = next.state().apply(entry.getTerm(), index, parse(entry));
      }
    }
  }

  private void requireRunning() throws IOException {
    if (isClosed || !isRunning()) {
      throw new InterruptedIOException(
          "the peer is closing, or installs a checkpoint from the leader");
    }
  }

  private RaftServer.Division division() throws IOException {
    RaftServer own = getServer().getNow(null);
    if (own == null) {
      throw new IOException("the metadata peer of " + folder + " is not initialised");
    }
    return own.getDivision(getGroupId());
  }

  /** Returns false while the log is not open yet. */
  @Override
  public boolean purgeLog(long upTo) throws IOException {
    RaftLog log = division().getRaftLog();
    if (!log.isOpened()) {
      return false;
    }
    var unused = log.purge(upTo);
    return true;
  }

  @Override
  public LiveTables tables() {
    return tables;
  }

  /** False while, among others, a checkpoint of the leader's takes the place of its own. */
  @Override
  public boolean isRunning() {
    return getLifeCycleState() == LifeCycle.State.RUNNING;
  }

  @Override
  public void requestCheckpoint() {
    policy.request();
  }

  @Override
  public Path folder() {
    return folder;
  }

  // ---- Reads ----

  /** See {@link LiveTables#read}. */
  public <T> T read(BiFunction<MetadataReads, Table, T> query) {
    return tables.read(query);
  }

  /** The cached small tables. */
  public MetadataReads memory() {
    return tables.get().state().reads();
  }

  public long appliedIndex() {
    return getLastAppliedTermIndex().getIndex();
  }

  /**
   * The last entry that is both applied and durable on this peer; entries may be committed by
   * others before they are durable here.
   */
  @Override
  public long writtenIndex() throws IOException {
    return Math.min(appliedIndex(), division().getRaftLog().getFlushIndex());
  }

  /** The metadata version in use, as far as this peer has applied. */
  public int version() {
    return version;
  }

  /** Why this build cannot apply this peer's log or tables; empty: it can. */
  public String refusal() {
    return refusal;
  }

  /**
   * Why this peer stopped while applying or cannot rebuild its tables, with the remedy; empty: no
   * failure.
   */
  @Override
  public String failure() {
    return failure.isEmpty()
        ? tables
            .failedRebuild()
            .map(failed -> PeerFailureText.accountOf(failed, folder.toString(), isOnlyPeer()))
            .orElse("")
        : failure;
  }

  /** The last log entry whose commands this peer has answered; only a leader answers. */
  public long answeredIndex() {
    return answeredIndex;
  }

  @Override
  public TransactionContext startTransaction(RaftClientRequest request) {
    return TransactionContext.newBuilder()
        .setStateMachine(this)
        .setClientRequest(request)
        .setLogData(request.getMessage().getContent())
        .setStateMachineContext(request.getMessage())
        .build();
  }

  /**
   * Throws when a row or entry is damaged, when the tables can be neither written nor rebuilt, and
   * when an entry needs a newer build: Ratis then stops this peer, which must not answer any more.
   */
  @Override
  public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
    LogEntryProto entry = transaction.getLogEntry();
    Proposal proposal = transaction.getStateMachineContext() instanceof Proposal own ? own : null;
    Applied applied;
    applying.lock();
    try {
      applied = applyOrStop(entry, proposal);
      updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
    } finally {
      applying.unlock();
    }
    policy.applied(entry.getSerializedSize(), applied.results().size());
    follow(applied.reached());
    if (proposal != null) {
      answeredIndex = entry.getIndex();
      proposal.applied(applied.results());
    }
    return CompletableFuture.completedFuture(Message.EMPTY);
  }

  /** The map of drives is replaced, never changed, so comparing it with itself costs nothing. */
  private void announceCluster(MetadataReads reads) {
    long epoch = reads.placement().map(PlacementMap::epoch).orElse(0L);
    Map<UUID, DriveId> drives = reads.drives();
    boolean isChanged = epoch != announcedEpoch || !drives.equals(announcedDrives);
    announcedEpoch = epoch;
    announcedDrives = drives;
    if (isChanged) {
      clusterListener.run();
    }
  }

  /**
   * Takes a checkpoint at a new version, so that even builds that ignore the version of entries
   * refuse to run on it.
   */
  private void follow(AppliedRow reached) {
    if (reached.getVersion() > version) {
      version = reached.getVersion();
      LOG.info(
          "Metadata in {} has version {} from log entry {} on.",
          folder,
          version,
          reached.getIndex());
      policy.takeNow();
    }
  }

  private Applied applyOrStop(LogEntryProto entry, @Nullable Proposal proposal) {
    try {
      return applyRebuilding(entry, proposal);
    } catch (NewerVersionException e) {
      throw refused(e);
    } catch (RuntimeException | Error e) {
      failure = PeerFailureText.account(entry.getIndex(), folder.toString(), isOnlyPeer(), e);
      LOG.error("The metadata peer stops: {}", failure);
      throw e;
    }
  }

  /**
   * Whether this is the only peer; true if that is unknown, so that its copy is not given up by
   * mistake.
   */
  boolean isOnlyPeer() {
    try {
      return division().getRaftConf().getAllPeers().size() <= 1;
    } catch (IOException e) {
      LOG.debug("The number of peers is not known.", e);
      return true;
    }
  }

  private Applied applyRebuilding(LogEntryProto entry, @Nullable Proposal proposal) {
    try {
      return apply(entry, proposal);
    } catch (DamagedTablesException e) {
      tables.setDamaged(String.valueOf(e.getMessage()));
    }
    try {
      rebuildIfDamaged();
    } catch (IOException e) {
      throw new TableFailureException("metadata tables cannot be rebuilt: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      throw new TableFailureException(
          "interrupted while metadata tables were rebuilt", interrupted());
    }
    return apply(entry, proposal);
  }

  private Applied apply(LogEntryProto entry, @Nullable Proposal proposal) {
    MetadataState state = tables.get().state();
    Applied applied = sharedEntries.find(entry.getTerm(), entry.getIndex());
    if (applied != null && state.canFollow(applied)) {
      state.follow(applied);
    } else {
      CommandBatch batch = proposal != null ? proposal.batch() : parse(entry);
      applied = state.apply(entry.getTerm(), entry.getIndex(), batch);
      sharedEntries.publish(applied);
    }
    announceCluster(state.reads());
    return applied;
  }

  private static CommandBatch parse(LogEntryProto entry) {
    try {
      return CommandBatch.parseFrom(
          entry.getStateMachineLogEntry().getLogData().asReadOnlyByteBuffer());
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("damaged log entry " + entry.getIndex(), e);
    }
  }

  /**
   * Reports no snapshot to Ratis, so that it keeps its log: {@link CheckpointKeeper} purges it once
   * the checkpoint has a second copy.
   */
  @Override
  public long takeSnapshot() throws IOException {
    applying.lock();
    try {
      var failed = tables.failedRebuild();
      if (failed.isPresent()) { // retried in the background
        throw new IOException("no checkpoint of damaged tables: " + failed.get().why());
      }
      rebuildIfDamaged();
      takeCheckpoint();
    } catch (DamagedTablesException e) {
      tables.setDamaged(String.valueOf(e.getMessage()));
      throw new IOException("no checkpoint of damaged tables", e);
    } catch (TableFailureException e) {
      throw new IOException("taking a checkpoint failed and will be retried: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      throw interrupted();
    } finally {
      applying.unlock();
    }
    policy.taken();
    keeper.wake();
    return -1;
  }

  private void takeCheckpoint() throws IOException, InterruptedException {
    TermIndex position = getLastAppliedTermIndex();
    boolean isTaken =
        checkpoints.latest().filter(latest -> latest.position().equals(position)).isPresent();
    if (position.getIndex() > 0 && !isTaken) {
      checkpoints.take(position, tables.get().table()::checkpoint);
    }
  }

  @Override
  public StateMachineStorage getStateMachineStorage() {
    return checkpoints;
  }

  @Override
  public @Nullable SnapshotInfo getLatestSnapshot() {
    return checkpoints.getLatestSnapshot();
  }

  @Override
  public void close() {
    isClosed = true;
    keeper.close();
    getLifeCycle().checkStateAndClose(tables::close);
  }
}
