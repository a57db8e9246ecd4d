package dev.ashlar.metadata.consensus;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.ashlar.metadata.state.Applied;
import dev.ashlar.metadata.state.MetadataReads;
import dev.ashlar.metadata.state.MetadataState;
import dev.ashlar.metadata.state.MetadataVersion;
import dev.ashlar.metadata.state.NewerVersionException;
import dev.ashlar.metadata.table.RocksResources;
import dev.ashlar.metadata.table.RocksTable;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.AppliedRow;
import dev.ashlar.protocol.message.CommandBatch;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
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
 * Applies the log of one peer to its tables. The live tables lie outside of Ratis' directory and
 * are made anew from the latest checkpoint at each start.
 */
final class TableStateMachine extends BaseStateMachine {
  private static final Logger LOG = LoggerFactory.getLogger(TableStateMachine.class);
  private final Path liveDirectory;
  private final RocksResources resources;
  private final CheckpointPolicy policy;
  private final SharedEntries sharedEntries;
  private final int knows;
  private volatile @Nullable Path receiving;
  private final Checkpoints checkpoints = new Checkpoints();
  private volatile @Nullable Live live;
  private volatile long answeredIndex = -1;
  private volatile int version = MetadataVersion.FIRST;
  private volatile String refusal = "";
  private volatile String failure = "";

  /** Tables and the state over them, which are replaced together. */
  private record Live(RocksTable table, MetadataState state) {}

  /**
   * @param knows the greatest version of metadata that it may apply
   */
  TableStateMachine(
      Path liveDirectory,
      RocksResources resources,
      CheckpointPolicy policy,
      SharedEntries sharedEntries,
      int knows) {
    this.sharedEntries = sharedEntries;
    this.knows = knows;
    this.liveDirectory = liveDirectory;
    this.resources = resources;
    this.policy = policy;
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
            },
            IOException.class);
  }

  /**
   * A checkpoint was received from the leader: it is made durable before Ratis gives it its name
   * and lets go of the log before it. The tables stay open: the thread that applies may be at work,
   * and closes them itself.
   */
  @Override
  public void pause() {
    try {
      Syncs.tree(Objects.requireNonNull(receiving, "not initialised"));
    } catch (IOException e) {
      throw new UncheckedIOException("the checkpoint that was received is not durable", e);
    }
    getLifeCycle().transition(LifeCycle.State.PAUSING);
    getLifeCycle().transition(LifeCycle.State.PAUSED);
  }

  /** A checkpoint was installed by the leader. Called by the thread that applies. */
  @Override
  public void reinitialize() throws IOException {
    load();
    getLifeCycle().transition(LifeCycle.State.STARTING);
    getLifeCycle().transition(LifeCycle.State.RUNNING);
  }

  private void load() throws IOException {
    closeTables();
    Checkpoints.deleteTree(liveDirectory);
    Files.createDirectories(liveDirectory);
    checkpoints.reload();
    Optional<Checkpoints.Checkpoint> latest = checkpoints.latest();
    if (latest.isPresent()) {
      Checkpoints.restore(latest.get(), liveDirectory);
    }
    RocksTable table = new RocksTable(liveDirectory, resources);
    try {
      MetadataState state = new MetadataState(table, knows);
      live = new Live(table, state);
      version = state.applied().getVersion();
    } catch (NewerVersionException e) {
      table.close();
      throw refused(e);
    } catch (RuntimeException e) {
      table.close();
      throw e;
    }
    latest.ifPresent(checkpoint -> setLastAppliedTermIndex(checkpoint.position()));
  }

  private String folder() {
    return String.valueOf(liveDirectory.getParent());
  }

  /** Ratis stops this peer for it. */
  private NewerVersionException refused(NewerVersionException why) {
    refusal = String.valueOf(why.getMessage());
    LOG.error("metadata in {} stops: {}", liveDirectory.getParent(), refusal);
    return why;
  }

  private Live live() {
    Live present = live;
    if (present == null) {
      throw new IllegalStateException("the metadata tables of " + getId() + " are closed");
    }
    return present;
  }

  /** Answers a query from one snapshot of what is applied. */
  <T> T read(BiFunction<MetadataReads, Table, T> query) {
    Live present = live();
    MetadataReads reads = present.state().reads();
    return present.table().read(snapshot -> query.apply(reads, snapshot));
  }

  /** The small tables, kept in memory. */
  MetadataReads memory() {
    return live().state().reads();
  }

  boolean isOpen() {
    return live != null;
  }

  long appliedIndex() {
    return getLastAppliedTermIndex().getIndex();
  }

  /** Of metadata, in use as far as this peer has applied. */
  int version() {
    return version;
  }

  /** Why this build cannot apply what this peer has; empty: it can. */
  String refusal() {
    return refusal;
  }

  /** What ended this peer while it applied, and what to do; empty: nothing did. */
  String failure() {
    return failure;
  }

  /** The last log entry whose commands this peer has answered; only a leader answers. */
  long answeredIndex() {
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
   * Throws when a row or entry is damaged or the tables cannot be written: Ratis then stops this
   * peer, which must not answer any more. Likewise when an entry needs a newer build.
   */
  @Override
  public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
    LogEntryProto entry = transaction.getLogEntry();
    Proposal proposal = transaction.getStateMachineContext() instanceof Proposal own ? own : null;
    Applied applied = applyOrStop(entry, proposal);
    updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
    policy.applied(entry.getSerializedSize(), applied.results().size());
    follow(applied.reached());
    if (proposal != null) {
      answeredIndex = entry.getIndex();
      proposal.applied(applied.results());
    }
    return CompletableFuture.completedFuture(Message.EMPTY);
  }

  /**
   * The checkpoint makes sure that also builds from before entries told their version refuse what
   * they do not know.
   */
  private void follow(AppliedRow reached) {
    if (reached.getVersion() > version) {
      version = reached.getVersion();
      LOG.info(
          "metadata in {} is of version {} from log entry {} on",
          liveDirectory.getParent(),
          version,
          reached.getIndex());
      policy.takeNow();
    }
  }

  private Applied applyOrStop(LogEntryProto entry, @Nullable Proposal proposal) {
    try {
      return apply(entry, proposal);
    } catch (NewerVersionException e) {
      throw refused(e);
    } catch (RuntimeException | Error e) {
      failure = ApplyFailure.account(entry.getIndex(), folder(), isOnlyPeer(), e);
      LOG.error("metadata peer stops: {}", failure);
      throw e;
    }
  }

  /** As far as is known: a copy is not to be given up because the others could not be counted. */
  private boolean isOnlyPeer() {
    try {
      RaftServer own = getServer().getNow(null);
      return own == null || own.getDivision(getGroupId()).getRaftConf().getAllPeers().size() <= 1;
    } catch (IOException e) {
      LOG.debug("how many peers there are is not known", e);
      return true;
    }
  }

  private Applied apply(LogEntryProto entry, @Nullable Proposal proposal) {
    MetadataState state = live().state();
    Applied elsewhere = sharedEntries.find(entry.getTerm(), entry.getIndex());
    if (elsewhere != null && state.canFollow(elsewhere)) {
      state.follow(elsewhere);
      return elsewhere;
    }
    CommandBatch batch = proposal != null ? proposal.batch() : parse(entry);
    Applied own = state.apply(entry.getTerm(), entry.getIndex(), batch);
    sharedEntries.publish(own);
    return own;
  }

  private static CommandBatch parse(LogEntryProto entry) {
    try {
      return CommandBatch.parseFrom(
          entry.getStateMachineLogEntry().getLogData().asReadOnlyByteBuffer());
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalStateException("damaged log entry " + entry.getIndex(), e);
    }
  }

  @Override
  public long takeSnapshot() throws IOException {
    TermIndex position = getLastAppliedTermIndex();
    Optional<Checkpoints.Checkpoint> latest = checkpoints.latest();
    if (position.getIndex() <= 0
        || (latest.isPresent() && latest.get().position().equals(position))) {
      return latest.map(checkpoint -> checkpoint.position().getIndex()).orElse(-1L);
    }
    live().table().checkpoint(checkpoints.begin(position));
    checkpoints.finish(position);
    policy.taken();
    return position.getIndex();
  }

  @Override
  public StateMachineStorage getStateMachineStorage() {
    return checkpoints;
  }

  @Override
  public @Nullable SnapshotInfo getLatestSnapshot() {
    return checkpoints.getLatestSnapshot();
  }

  private void closeTables() {
    Live present = live;
    live = null;
    if (present != null) {
      present.table().close();
    }
  }

  @Override
  public void close() {
    getLifeCycle().checkStateAndClose(this::closeTables);
  }
}
