package dev.ashlar.metadata.state;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.Catalog;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.state.apply.NewerVersionException;
import dev.ashlar.metadata.state.apply.RefusedCommandException;
import dev.ashlar.metadata.state.apply.Sessions;
import dev.ashlar.metadata.state.apply.UsageCounts;
import dev.ashlar.metadata.state.blob.Blobs;
import dev.ashlar.metadata.state.blob.Debts;
import dev.ashlar.metadata.state.blob.Folding;
import dev.ashlar.metadata.state.blob.Repairs;
import dev.ashlar.metadata.state.identity.AccessKeyCommands;
import dev.ashlar.metadata.state.identity.AccountCommands;
import dev.ashlar.metadata.state.identity.IdentityCommands;
import dev.ashlar.metadata.state.node.ClusterRows;
import dev.ashlar.metadata.state.node.EncryptionUse;
import dev.ashlar.metadata.state.node.Nodes;
import dev.ashlar.metadata.state.node.Profiles;
import dev.ashlar.metadata.state.object.BucketSettings;
import dev.ashlar.metadata.state.object.MoveJobCommands;
import dev.ashlar.metadata.state.object.ObjectCommands;
import dev.ashlar.metadata.state.object.ObjectFactCommands;
import dev.ashlar.metadata.state.object.ObjectModifications;
import dev.ashlar.metadata.state.object.ObjectMoves;
import dev.ashlar.metadata.state.object.Outbox;
import dev.ashlar.metadata.state.object.Uploads;
import dev.ashlar.metadata.table.Changes;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Overlay;
import dev.ashlar.metadata.table.Store;
import dev.ashlar.metadata.table.TableFailureException;
import dev.ashlar.protocol.message.AppliedRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandBatch;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.DedupRow;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.NodeLiveness;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The metadata state machine: the same log entries create the same rows, byte for byte, on every
 * peer. Applied by one thread. Times and ids come from the log, never from a clock or a random
 * number.
 */
public final class MetadataState {
  /** Commands per log entry: the ids that one entry can hand out. */
  public static final int COMMANDS_PER_ENTRY_MAX = 256;

  /** The version of tables without debt levels. */
  private static final int UNCOUNTED = 1;

  private static final Logger LOG = LoggerFactory.getLogger(MetadataState.class);

  private final Store store;
  private final int knows;
  private final Catalog catalog;
  private final MetadataReads reads;
  private AppliedRow applied;

  /** Null after entries that another peer of this process has executed. */
  private @Nullable Sessions sessions;

  /**
   * The result of applying a log entry, which is the same on every peer.
   *
   * @param before the position of the tables before it
   * @param reached their position after it
   * @param results one per command
   */
  public record Applied(
      AppliedRow before, AppliedRow reached, Changes changes, List<CommandResult> results) {}

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
        store
            .row(Keys.applied(), AppliedRow.parser())
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

  /** Creates the same rows on every peer, at whatever log entry it happens. */
  private void upgrade() {
    Overlay table = new Overlay(store);
    Debts.countAll(table);
    AppliedRow upgraded = applied.toBuilder().setVersion(UNCOUNTED + 1).build();
    table.put(Keys.applied(), upgraded.toByteArray());
    store.write(table.changes());
    applied = upgraded;
  }

  /** The position of the tables in the log. */
  public AppliedRow applied() {
    return applied;
  }

  public MetadataReads reads() {
    return reads;
  }

  /**
   * Applies one log entry completely, or not at all if it throws, after which this object must not
   * be used. If applying a command fails because of the command and the rows, every peer refuses
   * it; an exception means that this peer's tables or machine failed.
   *
   * @throws NewerVersionException when this build does not support the version of the entry
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
        if (versionAfter(entry) < MetadataVersion.REFUSES_FAULTS || !faulty.add(fault.position)) {
          throw fault.reason;
        }
        LOG.error(
            "Metadata command {} of log entry {} is refused as INVALID_COMMAND by every "
                + "peer, because applying it fails. This is a bug: please report it with this "
                + "log.",
            commands.get(fault.position).getKindCase(),
            logIndex,
            fault.reason);
        forgetUnwritten();
      }
    }
  }

  private int versionAfter(CommandBatch entry) {
    return Math.max(applied.getVersion(), entry.getVersion());
  }

  /** Reverts what commands of an unwritten entry have changed in memory. */
  private void forgetUnwritten() {
    sessions = null;
    catalog.restore(store);
  }

  /**
   * Executes the commands of an entry and writes the resulting rows.
   *
   * @param faulty positions of commands that are refused without being executed
   */
  private Applied execute(long term, long logIndex, CommandBatch entry, Set<Integer> faulty) {
    Sessions sessions = sessions();
    Overlay table = new Overlay(store);
    UsageCounts usage = new UsageCounts(table, catalog);
    List<CommandResult> results = new ArrayList<>(entry.getCommandsCount());
    DedupRow.Builder answers = DedupRow.newBuilder();
    long logTimeMs = applied.getTimeMs();
    long unbrokenSinceMs = applied.getUnbrokenSinceMs();
    int version = versionAfter(entry);
    if (version >= MetadataVersion.KEEPS_VERSIONS) {
      table.watch(usage);
    }
    for (Command command : entry.getCommandsList()) {
      long beforeMs = logTimeMs;
      logTimeMs = Math.max(logTimeMs, steadyMs(command));
      if (beforeMs > 0 && logTimeMs - beforeMs > NodeLiveness.DOWN_MS) {
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
                    new ApplyContext(
                        table, catalog, sessions, usage, command, times, freshId, version),
                    command,
                    position);
        if (!command.hasRegisterSession()) {
          answers.addSessions(command.getSession());
          answers.addRequests(command.getRequest()).addResults(result);
        }
      }
      results.add(result);
    }
    usage.write();
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

  /** The steady time of a command; commands of old builds have only one time. */
  private static long steadyMs(Command command) {
    return command.getSteadyMs() > 0 ? command.getSteadyMs() : command.getTimeMs();
  }

  /** Whether this state is exactly where another peer was before it applied the entry. */
  public boolean canFollow(Applied elsewhere) {
    return elsewhere.before().equals(applied);
  }

  /**
   * Takes over the result of a log entry from another peer: the same as {@link #apply}, but
   * cheaper.
   */
  public void follow(Applied elsewhere) {
    if (!canFollow(elsewhere)) {
      throw new IllegalArgumentException(
          "at " + applied.getIndex() + ", the entry at " + elsewhere.before().getIndex());
    }
    sessions = null;
    // As apply does: a reader that finds a blob in the tables finds its profile in the catalog.
    catalog.follow(elsewhere.changes());
    store.write(elsewhere.changes());
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
      boolean isForAnotherGroup =
          command.getGroup() != 0 && context.version() >= MetadataVersion.KEEPS_VERSIONS;
      ApplyContext.require(!isForAnotherGroup, ResultCode.INVALID_COMMAND);
      return dispatch(context, command);
    } catch (RefusedCommandException refusal) {
      if (context.table().writes() != writesBefore) {
        throw new CommandFault(
            position,
            new IllegalStateException("the command was refused after it had written", refusal));
      }
      return refused(refusal.code());
    } catch (TableFailureException e) {
      throw e; // concerns this peer only
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
      case CREATE_BUCKET -> ObjectCommands.createBucket(context, command.getCreateBucket());
      case DELETE_BUCKET -> ObjectCommands.deleteBucket(context, command.getDeleteBucket());
      case PUT_OBJECT -> ObjectCommands.put(context, command.getPutObject());
      case MODIFY_OBJECT -> ObjectModifications.modify(context, command.getModifyObject());
      case FOLD_BLOB -> Folding.fold(context, command.getFoldBlob());
      case DELETE_OBJECTS -> ObjectCommands.delete(context, command.getDeleteObjects());
      case COPY_OBJECT -> ObjectCommands.copy(context, command.getCopyObject());
      case MOVE_OBJECT -> ObjectMoves.move(context, command.getMoveObject());
      case BEGIN_MOVE -> MoveJobCommands.begin(context, command.getBeginMove());
      case SAVE_MOVE -> MoveJobCommands.save(context, command.getSaveMove());
      case CREATE_UPLOAD -> Uploads.create(context, command.getCreateUpload());
      case PUT_PART -> Uploads.putPart(context, command.getPutPart());
      case COPY_PART -> Uploads.copyPart(context, command.getCopyPart());
      case COMPLETE_UPLOAD -> Uploads.complete(context, command.getCompleteUpload());
      case ABORT_UPLOAD -> Uploads.abort(context, command.getAbortUpload());
      case FORGET_BLOBS -> Blobs.forget(context, command.getForgetBlobs());
      case PUT_CREDENTIAL -> AccessKeyCommands.putCredential(context, command.getPutCredential());
      case PUT_DRIVES -> ClusterRows.putDrives(context, command.getPutDrives());
      case REGISTER_NODE ->
          Nodes.register(context, command.getSession(), command.getRegisterNode());
      case NODE_HEARTBEAT ->
          Nodes.heartbeat(context, command.getSession(), command.getNodeHeartbeat());
      case RECORD_DEBTS -> Repairs.recordDebts(context, command.getRecordDebts());
      case SETTLE_DRIVE -> Repairs.settleDrive(context, command.getSettleDrive());
      case MOVE_SLOTS -> ClusterRows.moveSlots(context, command.getMoveSlots());
      case ADD_PROFILE -> Profiles.add(context, command.getAddProfile());
      case REMOVE_PROFILE -> Profiles.remove(context, command.getRemoveProfile());
      case SET_DEFAULT_PROFILE -> Profiles.setDefault(context, command.getSetDefaultProfile());
      case SET_BALANCE -> ClusterRows.setBalance(context, command.getSetBalance());
      case BEGIN_ENCRYPTION -> EncryptionUse.begin(context, command.getBeginEncryption());
      case REPAIR_BLOB -> Repairs.repair(context, command.getRepairBlob());
      case RECALL_DRIVES -> ClusterRows.recall(context, command.getRecallDrives());
      case RECORD_LOST_SHARDS -> Repairs.recordLosses(context, command.getRecordLostShards());
      case SET_BUCKET_VERSIONING ->
          BucketSettings.setVersioning(context, command.getSetBucketVersioning());
      case SET_BUCKET_LOCK -> BucketSettings.setLock(context, command.getSetBucketLock());
      case SET_BUCKET_QUOTA -> BucketSettings.setQuota(context, command.getSetBucketQuota());
      case SET_BUCKET_STORAGE_CLASS ->
          BucketSettings.setStorageClass(context, command.getSetBucketStorageClass());
      case SET_ACCOUNT_QUOTA ->
          BucketSettings.setAccountQuota(context, command.getSetAccountQuota());
      case ACK_EVENTS -> Outbox.acknowledge(context, command.getAckEvents());
      case COUNT_USAGE -> BucketSettings.countUsage(context, command.getCountUsage());
      case PUT_BUCKET_DOCUMENT ->
          BucketSettings.putDocument(context, command.getPutBucketDocument());
      case SET_OBJECT_FACTS -> ObjectFactCommands.set(context, command.getSetObjectFacts());
      case RENAME_OBJECT -> ObjectCommands.rename(context, command.getRenameObject());
      case PUT_ACCOUNT -> AccountCommands.put(context, command.getPutAccount());
      case DELETE_ACCOUNT -> AccountCommands.delete(context, command.getDeleteAccount());
      case PUT_IDENTITY -> IdentityCommands.put(context, command.getPutIdentity());
      case DELETE_IDENTITY -> IdentityCommands.delete(context, command.getDeleteIdentity());
      case PUT_ACCESS_KEY -> AccessKeyCommands.put(context, command.getPutAccessKey());
      case DELETE_ACCESS_KEY -> AccessKeyCommands.delete(context, command.getDeleteAccessKey());
      case KIND_NOT_SET -> throw new RefusedCommandException(ResultCode.INVALID_COMMAND);
    };
  }

  /**
   * Apply failed at a command because of a bug or of input that no check expected. It fails in the
   * same way on every peer with the same rules and rows.
   */
  private static final class CommandFault extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final int position;
    private final RuntimeException reason;

    /**
     * @param position of the command in its log entry, from 0
     */
    CommandFault(int position, RuntimeException reason) {
      super("command " + position, reason, false, false);
      this.position = position;
      this.reason = reason;
    }
  }
}
