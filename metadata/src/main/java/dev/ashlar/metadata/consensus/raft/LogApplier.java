package dev.ashlar.metadata.consensus.raft;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.ashlar.metadata.consensus.checkpoint.Checkpoints;
import dev.ashlar.metadata.consensus.checkpoint.DamageMeters;
import dev.ashlar.metadata.consensus.checkpoint.LiveTables;
import dev.ashlar.metadata.consensus.checkpoint.LiveTables.Live;
import dev.ashlar.metadata.consensus.file.DamagedFileException;
import dev.ashlar.metadata.state.MetadataReads;
import dev.ashlar.metadata.state.MetadataState;
import dev.ashlar.metadata.state.MetadataState.Applied;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.state.apply.NewerVersionException;
import dev.ashlar.metadata.table.DamagedTablesException;
import dev.ashlar.metadata.table.TableFailureException;
import dev.ashlar.protocol.message.AppliedRow;
import dev.ashlar.protocol.message.CommandBatch;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.server.raftlog.RaftLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Applies log entries to the tables of a peer. Tables that turn out damaged are rebuilt from a
 * checkpoint and the log after it, and the entry is applied again.
 */
final class LogApplier {
  private static final Logger LOG = LoggerFactory.getLogger(LogApplier.class);
  private final TableStateMachine machine;
  private final LiveTables tables;
  private final SharedApplyResults sharedEntries;
  private final DamageMeters meters;

  /** Held while entries are applied and while the tables are replaced. */
  private final ReentrantLock applying = new ReentrantLock();

  private volatile int version = MetadataVersion.FIRST;
  private volatile long logTimeMs;
  private volatile String refusal = "";
  private volatile String failure = "";
  private long announcedEpoch;
  private Map<UUID, DriveId> announcedDrives = Map.of();

  LogApplier(TableStateMachine machine, SharedApplyResults sharedEntries, DamageMeters meters) {
    this.machine = machine;
    this.tables = machine.tables();
    this.sharedEntries = sharedEntries;
    this.meters = meters;
  }

  /** See {@link TableStateMachine#version}. */
  int version() {
    return version;
  }

  /** See {@link TableStateMachine#logTimeMs}. */
  long logTimeMs() {
    return logTimeMs;
  }

  /** See {@link TableStateMachine#refusal}. */
  String refusal() {
    return refusal;
  }

  /** See {@link TableStateMachine#failure}. */
  String failure() {
    return failure.isEmpty()
        ? tables
            .failedRebuild()
            .map(failed -> PeerFailureText.accountOf(failed, folder(), machine.isOnlyPeer()))
            .orElse("")
        : failure;
  }

  private String folder() {
    return machine.folder().toString();
  }

  /** Loads the tables from the latest intact checkpoint. */
  void load(Checkpoints checkpoints) throws IOException {
    applying.lock();
    try {
      AppliedRow applied = tables.load().state().applied();
      version = applied.getVersion();
      logTimeMs = applied.getTimeMs();
      checkpoints.latest().ifPresent(from -> machine.setApplied(from.position()));
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
    LOG.error("The metadata peer in {} stops: {}", machine.folder(), refusal);
    return why;
  }

  // ---- Entries ----

  /** Applies an entry; throws if this peer must stop, after which {@link #failure} says why. */
  Applied apply(LogEntryProto entry, @Nullable Proposal proposal) {
    applying.lock();
    try {
      Applied applied = applyOrStop(entry, proposal);
      machine.setApplied(entry);
      return applied;
    } finally {
      applying.unlock();
    }
  }

  private Applied applyOrStop(LogEntryProto entry, @Nullable Proposal proposal) {
    try {
      return applyRebuilding(entry, proposal);
    } catch (NewerVersionException e) {
      throw refused(e);
    } catch (RuntimeException | Error e) {
      failure = PeerFailureText.account(entry.getIndex(), folder(), machine.isOnlyPeer(), e);
      LOG.error("The metadata peer stops: {}", failure);
      throw e;
    }
  }

  private Applied applyRebuilding(LogEntryProto entry, @Nullable Proposal proposal) {
    try {
      return applyOnce(entry, proposal);
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
    return applyOnce(entry, proposal);
  }

  private Applied applyOnce(LogEntryProto entry, @Nullable Proposal proposal) {
    MetadataState state = tables.get().state();
    Applied applied = sharedEntries.find(entry.getTerm(), entry.getIndex());
    if (applied != null && state.canFollow(applied)) {
      state.follow(applied);
    } else {
      CommandBatch batch = proposal != null ? proposal.batch() : parse(entry);
      applied = state.apply(entry.getTerm(), entry.getIndex(), batch);
      sharedEntries.publish(applied);
    }
    logTimeMs = applied.reached().getTimeMs();
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

  /** The map of drives is replaced, never changed, so comparing it with itself costs nothing. */
  private void announceCluster(MetadataReads reads) {
    long epoch = reads.placement().map(PlacementMap::epoch).orElse(0L);
    Map<UUID, DriveId> drives = reads.drives();
    boolean isChanged = epoch != announcedEpoch || !drives.equals(announcedDrives);
    announcedEpoch = epoch;
    announcedDrives = drives;
    if (isChanged) {
      machine.announceCluster();
    }
  }

  /**
   * Whether the entry has begun a new version. A checkpoint is then taken, so that even builds that
   * ignore the version of entries refuse to run on it.
   */
  boolean isOfNewVersion(Applied applied) {
    AppliedRow reached = applied.reached();
    if (reached.getVersion() <= version) {
      return false;
    }
    version = reached.getVersion();
    LOG.info(
        "Metadata in {} has version {} from log entry {} on.",
        machine.folder(),
        version,
        reached.getIndex());
    return true;
  }

  // ---- Damage and checkpoints ----

  /** Rebuilds damaged tables from a checkpoint and the log after it. */
  void rebuildIfDamaged() throws IOException, InterruptedException {
    applying.lockInterruptibly();
    try {
      long startNanos = System.nanoTime();
      long target = machine.appliedIndex();
      boolean isRebuilt =
          tables.rebuildIfDamaged(
              (next, from) ->
                  replay(next, from.map(c -> c.position().getIndex()).orElse(-1L), target));
      if (isRebuilt) {
        meters.rebuilt().increment();
        LOG.info(
            "Metadata tables in {} are rebuilt up to entry {} in {} ms.",
            machine.folder(),
            target,
            TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos));
      }
    } finally {
      applying.unlock();
    }
  }

  private void replay(Live next, long after, long target) throws IOException {
    machine.requireRunning();
    RaftLog log = machine.division().getRaftLog();
    for (long index = after + 1; index <= target; index++) {
      LogEntryProto entry = log.get(index);
      machine.requireRunning();
      if (entry == null) {
        throw new DamagedFileException("log entry " + index + " is missing");
      }
      if (entry.hasStateMachineLogEntry()) {
        Applied unused = next.state().apply(entry.getTerm(), index, parse(entry));
      }
    }
  }

  /** Takes a checkpoint of what is applied, unless there is one already. */
  void takeCheckpoint(Checkpoints checkpoints) throws IOException {
    applying.lock();
    try {
      var failed = tables.failedRebuild();
      if (failed.isPresent()) { // retried in the background
        throw new IOException("no checkpoint of damaged tables: " + failed.get().why());
      }
      rebuildIfDamaged();
      TermIndex position = machine.getLastAppliedTermIndex();
      boolean isTaken =
          checkpoints.latest().filter(latest -> latest.position().equals(position)).isPresent();
      if (position.getIndex() > 0 && !isTaken) {
        checkpoints.take(position, tables.get().table()::checkpoint);
      }
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
  }
}
