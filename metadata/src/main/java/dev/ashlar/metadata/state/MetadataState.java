package dev.ashlar.metadata.state;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.Catalog;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.state.apply.NewerVersionException;
import dev.ashlar.metadata.state.apply.RefusedCommandException;
import dev.ashlar.metadata.state.apply.Sessions;
import dev.ashlar.metadata.state.blob.Blobs;
import dev.ashlar.metadata.state.blob.DebtLevels;
import dev.ashlar.metadata.state.blob.Folding;
import dev.ashlar.metadata.state.blob.LostShards;
import dev.ashlar.metadata.state.blob.Repairs;
import dev.ashlar.metadata.state.node.ClusterRows;
import dev.ashlar.metadata.state.node.DriveRecalls;
import dev.ashlar.metadata.state.node.Nodes;
import dev.ashlar.metadata.state.object.Buckets;
import dev.ashlar.metadata.state.object.ObjectCommands;
import dev.ashlar.metadata.state.object.ObjectModifications;
import dev.ashlar.metadata.state.object.Uploads;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Overlay;
import dev.ashlar.metadata.table.Rows;
import dev.ashlar.metadata.table.Store;
import dev.ashlar.metadata.table.TableFailureException;
import dev.ashlar.protocol.message.AppliedRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandBatch;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.DedupRow;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.NodeLife;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state machine: the same log entries make the same rows, byte for byte, everywhere. Applied by
 * one thread; time and ids come from the log, nothing from a clock or chance.
 */
public final class MetadataState {
  /** Commands per log entry: the ids that one entry can hand out. */
  public static final int COMMANDS_PER_ENTRY_MAX = 256;

  /** Of tables in which nobody kept count of what is owed. */
  private static final int UNCOUNTED = 1;

  private static final Logger LOG = LoggerFactory.getLogger(MetadataState.class);

  private final Store store;
  private final int knows;
  private final Catalog catalog;
  private final MetadataReads reads;
  private AppliedRow applied;

  /** Null after entries that somebody else executed. */
  private @Nullable Sessions sessions;

  public MetadataState(Store store) {
    this(store, MetadataVersion.KNOWN);
  }

  /**
   * @param knows the latest metadata version that it may apply
   * @throws NewerVersionException when the tables are of a greater one
   */
  public MetadataState(Store store, int knows) {
    this.store = store;
    this.knows = knows;
    this.applied =
        Rows.get(store, Keys.applied(), AppliedRow.parser())
            .orElse(AppliedRow.newBuilder().setVersion(MetadataVersion.FIRST).build());
    if (applied.getVersion() == UNCOUNTED) {
      upgrade();
    }
    if (applied.getVersion() > knows) {
      throw new NewerVersionException("the tables are", applied.getVersion(), knows);
    }
    if (applied.getVersion() < MetadataVersion.FIRST) {
      throw new IllegalStateException("metadata tables of version " + applied.getVersion());
    }
    this.catalog = Catalog.load(store);
    this.sessions = Sessions.load(store);
    this.reads = new MetadataReads(catalog);
  }

  /** The same rows on every peer, wherever in the log it does this. */
  private void upgrade() {
    Overlay table = new Overlay(store);
    DebtLevels.count(table);
    AppliedRow upgraded = applied.toBuilder().setVersion(UNCOUNTED + 1).build();
    table.put(Keys.applied(), upgraded.toByteArray());
    store.write(table.changes());
    applied = upgraded;
  }

  /** How far the tables are. */
  public AppliedRow applied() {
    return applied;
  }

  public MetadataReads reads() {
    return reads;
  }

  /**
   * Applies one log entry, all of it or (on an exception, which must end this state) nothing. A
   * command at which apply fails for a reason that lies in the command and the rows is refused, by
   * all peers alike; what is thrown is a failure of this peer's tables or machine.
   *
   * @throws NewerVersionException when the entry is of a version that is not known here
   */
  public Applied apply(long term, long logIndex, CommandBatch entry) {
    List<Command> commands = entry.getCommandsList();
    if (entry.getVersion() > knows) {
      throw new NewerVersionException("log entry " + logIndex + " is", entry.getVersion(), knows);
    }
    if (logIndex <= applied.getIndex() || commands.size() > COMMANDS_PER_ENTRY_MAX) {
      throw new IllegalArgumentException(
          commands.size() + " commands at " + logIndex + ", applied " + applied.getIndex());
    }
    Set<Integer> faulty = new HashSet<>();
    while (true) {
      try {
        return execute(term, logIndex, entry, faulty);
      } catch (CommandFault fault) {
        if (versionAfter(entry) < MetadataVersion.REFUSES_FAULTS || !faulty.add(fault.position())) {
          throw fault.reason();
        }
        LOG.error(
            "Metadata command {} of log entry {} is refused as INVALID_COMMAND by every "
                + "peer, because applying it fails. This is a bug: please report it with this "
                + "log.",
            commands.get(fault.position()).getKindCase(),
            logIndex,
            fault.reason());
        forgetUnwritten();
      }
    }
  }

  private int versionAfter(CommandBatch entry) {
    return Math.max(applied.getVersion(), entry.getVersion());
  }

  /** What commands of an entry that was not written have left in memory. */
  private void forgetUnwritten() {
    sessions = null;
    catalog.restore(store);
  }

  /**
   * Executes the commands of an entry and writes what they come to.
   *
   * @param faulty positions of commands that are refused without being executed
   */
  private Applied execute(long term, long logIndex, CommandBatch entry, Set<Integer> faulty) {
    Sessions sessions = sessions();
    Overlay table = new Overlay(store);
    List<CommandResult> results = new ArrayList<>(entry.getCommandsCount());
    DedupRow.Builder answers = DedupRow.newBuilder();
    long logTimeMs = applied.getTimeMs();
    long unbrokenSinceMs = applied.getUnbrokenSinceMs();
    int version = versionAfter(entry);
    for (Command command : entry.getCommandsList()) {
      long beforeMs = logTimeMs;
      logTimeMs = Math.max(logTimeMs, steadyMs(command));
      if (beforeMs > 0 && logTimeMs - beforeMs > NodeLife.DOWN_MS) {
        unbrokenSinceMs = logTimeMs;
      }
      CommandResult result = sessions.answered(command, answers);
      if (result == null) {
        int position = results.size();
        long freshId = logIndex * COMMANDS_PER_ENTRY_MAX + position;
        ApplyContext.Times times =
            new ApplyContext.Times(command.getTimeMs(), logTimeMs, unbrokenSinceMs);
        result =
            faulty.contains(position)
                ? refused(ResultCode.INVALID_COMMAND)
                : execute(
                    new ApplyContext(table, catalog, sessions, times, freshId, version),
                    command,
                    position);
        if (!command.hasRegisterSession()) {
          answers.addSessions(command.getSession());
          answers.addRequests(command.getRequest()).addResults(result);
        }
      }
      results.add(result);
    }
    sessions.keep(table, logIndex, answers.setTimeMs(logTimeMs).build());
    AppliedRow reached =
        applied.toBuilder()
            .setTerm(term)
            .setIndex(logIndex)
            .setTimeMs(logTimeMs)
            .setUnbrokenSinceMs(unbrokenSinceMs)
            .setVersion(version)
            .build();
    table.put(Keys.applied(), reached.toByteArray());
    Applied done = new Applied(applied, reached, table.changes(), results);
    store.write(done.changes());
    applied = reached;
    return done;
  }

  /** Commands of earlier versions have one time only. */
  private static long steadyMs(Command command) {
    return command.getSteadyMs() > 0 ? command.getSteadyMs() : command.getTimeMs();
  }

  /** Whether this state is exactly where the entry was applied elsewhere. */
  public boolean canFollow(Applied elsewhere) {
    return elsewhere.before().equals(applied);
  }

  /** Takes over what a log entry came to elsewhere; the same as {@link #apply}, but cheaper. */
  public void follow(Applied elsewhere) {
    if (!canFollow(elsewhere)) {
      throw new IllegalArgumentException(
          "at " + applied.getIndex() + ", the entry at " + elsewhere.before().getIndex());
    }
    sessions = null;
    store.write(elsewhere.changes());
    catalog.follow(elsewhere.changes());
    applied = elsewhere.reached();
  }

  private Sessions sessions() {
    Sessions present = sessions;
    if (present == null) {
      present = Sessions.load(store);
      sessions = present;
    }
    return present;
  }

  private static CommandResult execute(ApplyContext context, Command command, int position) {
    long writesBefore = context.table().writes();
    try {
      return dispatch(context, command);
    } catch (RefusedCommandException refusal) {
      if (context.table().writes() != writesBefore) {
        throw new CommandFault(
            position,
            new IllegalStateException("the command was refused after it had written", refusal));
      }
      return refused(refusal.code());
    } catch (TableFailureException e) {
      throw e; // of this peer alone
    } catch (RuntimeException e) {
      throw new CommandFault(position, e);
    }
  }

  private static CommandResult refused(ResultCode code) {
    return CommandResult.newBuilder().setCode(code).build();
  }

  private static CommandResult dispatch(ApplyContext context, Command command) {
    return switch (command.getKindCase()) {
      case REGISTER_SESSION -> context.sessions().register(context);
      case END_SESSIONS -> context.sessions().end(context, command.getEndSessions());
      case CREATE_BUCKET -> Buckets.create(context, command.getCreateBucket());
      case DELETE_BUCKET -> Buckets.delete(context, command.getDeleteBucket());
      case PUT_OBJECT -> ObjectCommands.put(context, command.getPutObject());
      case MODIFY_OBJECT -> ObjectModifications.modify(context, command.getModifyObject());
      case FOLD_BLOB -> Folding.fold(context, command.getFoldBlob());
      case DELETE_OBJECTS -> ObjectCommands.delete(context, command.getDeleteObjects());
      case COPY_OBJECT -> ObjectCommands.copy(context, command.getCopyObject());
      case CREATE_UPLOAD -> Uploads.create(context, command.getCreateUpload());
      case PUT_PART -> Uploads.putPart(context, command.getPutPart());
      case COPY_PART -> Uploads.copyPart(context, command.getCopyPart());
      case COMPLETE_UPLOAD -> Uploads.complete(context, command.getCompleteUpload());
      case ABORT_UPLOAD -> Uploads.abort(context, command.getAbortUpload());
      case FORGET_BLOBS -> Blobs.forget(context, command.getForgetBlobs());
      case PUT_CREDENTIAL -> ClusterRows.putCredential(context, command.getPutCredential());
      case PUT_DRIVES -> ClusterRows.putDrives(context, command.getPutDrives());
      case REGISTER_NODE ->
          Nodes.register(context, command.getSession(), command.getRegisterNode());
      case NODE_HEARTBEAT ->
          Nodes.heartbeat(context, command.getSession(), command.getNodeHeartbeat());
      case RECORD_DEBTS -> Repairs.recordDebts(context, command.getRecordDebts());
      case SETTLE_DRIVE -> Repairs.settleDrive(context, command.getSettleDrive());
      case MOVE_SLOTS -> ClusterRows.moveSlots(context, command.getMoveSlots());
      case SET_BALANCE -> ClusterRows.setBalance(context, command.getSetBalance());
      case REPAIR_BLOB -> Repairs.repair(context, command.getRepairBlob());
      case RECALL_DRIVES -> DriveRecalls.recall(context, command.getRecallDrives());
      case RECORD_LOST_SHARDS -> LostShards.record(context, command.getRecordLostShards());
      case KIND_NOT_SET -> throw new RefusedCommandException(ResultCode.INVALID_COMMAND);
    };
  }
}
