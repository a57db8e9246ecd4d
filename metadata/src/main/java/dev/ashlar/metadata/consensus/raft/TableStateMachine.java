package dev.ashlar.metadata.consensus.raft;

import dev.ashlar.metadata.consensus.checkpoint.CheckpointKeeper;
import dev.ashlar.metadata.consensus.checkpoint.CheckpointLimits;
import dev.ashlar.metadata.consensus.checkpoint.Checkpoints;
import dev.ashlar.metadata.consensus.checkpoint.DamageMeters;
import dev.ashlar.metadata.consensus.checkpoint.LiveTables;
import dev.ashlar.metadata.consensus.file.DurableFiles;
import dev.ashlar.metadata.consensus.log.LogSegments;
import dev.ashlar.metadata.state.MetadataState.Applied;
import dev.ashlar.metadata.table.RocksResources;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
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
  private final CheckpointLimits limits;
  private final Runnable requestCheckpoint;
  private final Consumer<Throwable> logFailed;
  private volatile @Nullable Path receiving;
  private final Checkpoints checkpoints = new Checkpoints();
  private final LiveTables tables;
  private final CheckpointKeeper keeper;
  private final LogApplier applier;

  private volatile long answeredIndex = -1;
  private volatile boolean isClosed;

  /** Called when the placement map, the drives, the peers or the leader have changed. */
  private volatile Runnable clusterListener = () -> {};

  /** Applied since the last checkpoint, by the applying thread. */
  private long commands;

  private long bytes;

  /**
   * @param folder of the peer
   * @param requestCheckpoint called when replaying the log since the last checkpoint would take
   *     noticeable time
   * @param logFailed called when the log cannot be written: the peer must not acknowledge any more
   * @param knows the latest metadata version that it may apply
   */
  TableStateMachine(
      Path folder,
      RocksResources resources,
      Runnable requestCheckpoint,
      Consumer<Throwable> logFailed,
      CheckpointLimits limits,
      SharedApplyResults sharedEntries,
      DamageMeters meters,
      int knows) {
    this.folder = folder;
    this.limits = limits;
    this.requestCheckpoint = requestCheckpoint;
    this.logFailed = logFailed;
    this.keeper = new CheckpointKeeper(this, checkpoints, limits, meters);
    this.tables = new LiveTables(folder, resources, checkpoints, knows, keeper::wake);
    this.applier = new LogApplier(this, sharedEntries, meters);
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
              applier.load(checkpoints);
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
    applier.load(checkpoints);
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

  @Override
  public void notifyLogFailed(Throwable cause, @Nullable LogEntryProto entry) {
    logFailed.accept(cause);
  }

  /** Starts the background work on files; called when the log is open. */
  void startKeeping() {
    keeper.start();
  }

  @Override
  public void rebuildIfDamaged() throws IOException, InterruptedException {
    applier.rebuildIfDamaged();
  }

  void requireRunning() throws IOException {
    if (isClosed || !isRunning()) {
      throw new InterruptedIOException(
          "the peer is closing, or installs a checkpoint from the leader");
    }
  }

  RaftServer.Division division() throws IOException {
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
    requestCheckpoint.run();
  }

  @Override
  public Path folder() {
    return folder;
  }

  // ---- Reads ----

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
    return applier.version();
  }

  /** The log's time as far as this peer has applied; 0 if it has applied no command. */
  long logTimeMs() {
    return applier.logTimeMs();
  }

  /** Why this build cannot apply this peer's log or tables; empty: it can. */
  public String refusal() {
    return applier.refusal();
  }

  /**
   * Why this peer stopped while applying or cannot rebuild its tables, with the remedy; empty: no
   * failure.
   */
  @Override
  public String failure() {
    return applier.failure();
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
    Applied applied = applier.apply(entry, proposal);
    commands += applied.results().size();
    bytes += entry.getSerializedSize();
    if (applier.isOfNewVersion(applied)
        || commands >= limits.commandsMax()
        || bytes >= limits.bytesMax()) {
      setTaken();
      requestCheckpoint.run();
    }
    if (proposal != null) {
      answeredIndex = entry.getIndex();
      proposal.applied(applied.results());
    }
    return CompletableFuture.completedFuture(Message.EMPTY);
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

  /**
   * Reports no snapshot to Ratis, so that it keeps its log: {@link CheckpointKeeper} purges it once
   * the checkpoint has a second copy.
   */
  @Override
  public long takeSnapshot() throws IOException {
    applier.takeCheckpoint(checkpoints);
    setTaken();
    keeper.wake();
    return -1;
  }

  private void setTaken() {
    commands = 0;
    bytes = 0;
  }

  /** From now on the tables have applied everything up to here. */
  void setApplied(TermIndex position) {
    setLastAppliedTermIndex(position);
  }

  /** From now on the tables have applied this entry as well. */
  void setApplied(LogEntryProto entry) {
    updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
  }

  /** Called when the placement map or the drives have changed. */
  void announceCluster() {
    clusterListener.run();
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
