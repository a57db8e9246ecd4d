package dev.ashlar.metadata.memory;

import dev.ashlar.metadata.state.MetadataState;
import dev.ashlar.metadata.state.MetadataState.Applied;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.client.QueryingMetadataClient;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandBatch;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.MetadataAnswer;
import dev.ashlar.protocol.message.MetadataQuery;
import dev.ashlar.protocol.message.PgMapRow;
import dev.ashlar.protocol.message.PgRow;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.message.RegisterSession;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;

/** The real apply and reads over a sorted map, without Raft. Safe for concurrent use. */
public final class MemoryMetadata extends QueryingMetadataClient {
  private final ReentrantLock lock;
  private final MemoryTable table;
  private final MetadataState state;
  private final Clock clock;
  private final long session;
  private int version;
  private long requests;
  private boolean unavailable;
  private boolean isOlder;
  private BiConsumer<Command, Applied> observer = (command, applied) -> {};

  public MemoryMetadata(Clock clock) {
    this(new MemoryTable(), clock);
  }

  /** Goes on with what an earlier one left in the table, as a restarted process does. */
  public MemoryMetadata(MemoryTable table, Clock clock) {
    this(table, clock, MetadataVersion.KNOWN);
  }

  /** The same in a group in which this version is in use, or a later one that the table is of. */
  public MemoryMetadata(MemoryTable table, Clock clock, int version) {
    this(new ReentrantLock(), table, state(table, version), clock, version);
  }

  /**
   * Of a build that knows this version, even if the build under test does not have it in use yet.
   */
  private static MetadataState state(MemoryTable table, int version) {
    return new MetadataState(table, Math.max(version, MetadataVersion.KNOWN));
  }

  private MemoryMetadata(
      ReentrantLock lock, MemoryTable table, MetadataState state, Clock clock, int version) {
    this.lock = lock;
    this.table = table;
    this.state = state;
    this.clock = clock;
    this.version = version;
    this.session =
        apply(Command.newBuilder().setRegisterSession(RegisterSession.getDefaultInstance()))
            .getSession();
  }

  /** From now on it answers as a build before queries about access to buckets. */
  public void answerAsOlder() {
    isOlder = true;
  }

  /** Another client of the same group, with a session of its own. */
  public MemoryMetadata anotherClient() {
    return new MemoryMetadata(lock, table, state, clock, version);
  }

  /** Of a group in which this version is in use, as long as there are older builds. */
  public static MemoryMetadata ofVersion(int version, Clock clock) {
    return new MemoryMetadata(new MemoryTable(), clock, version);
  }

  /** From the next command on the newest version is in use. */
  public void raiseVersion() {
    locked(() -> version = MetadataVersion.KNOWN);
  }

  /** With this many drives of incarnation 1 and a map of this many PGs over them. */
  public static MemoryMetadata withDrives(Profile profile, int drives, int pgCount) {
    return withDrives(MetadataVersion.KNOWN, profile, drives, pgCount);
  }

  /** The same in a group in which this version is in use. */
  public static MemoryMetadata withDrives(int version, Profile profile, int drives, int pgCount) {
    MemoryMetadata metadata = ofVersion(version, Clock.systemUTC());
    metadata.apply(
        Command.newBuilder().setPutDrives(drives(profile, sequentialIds(drives), pgCount)));
    return metadata;
  }

  /** Drives with ids (0, 1), (0, 2) and so on. */
  public static List<UUID> sequentialIds(int drives) {
    List<UUID> ids = new ArrayList<>();
    for (int i = 1; i <= drives; i++) {
      ids.add(new UUID(0, i));
    }
    return ids;
  }

  /** Registers these drives with incarnation 1; PG p has slot s on drive (p + s) mod n. */
  public static PutDrives.Builder drives(Profile profile, List<UUID> ids, int pgCount) {
    List<DriveRow> rows =
        ids.stream()
            .map(
                id ->
                    DriveRow.newBuilder()
                        .setDriveHigh(id.getMostSignificantBits())
                        .setDriveLow(id.getLeastSignificantBits())
                        .setIncarnation(1)
                        .build())
            .toList();
    PgMapRow.Builder map = PgMapRow.newBuilder().setEpoch(1).setProfile(profile.toMessage());
    for (int pg = 0; pg < pgCount; pg++) {
      PgRow.Builder slots = PgRow.newBuilder().setPg(pg);
      for (int slot = 0; slot < profile.shards(); slot++) {
        slots.addSlots(rows.get((pg + slot) % rows.size()));
      }
      map.addPgs(slots);
    }
    return PutDrives.newBuilder().addAllDrives(rows).setPgMap(map);
  }

  /** From now on every call is refused (or, with false, works again). */
  public void setUnavailable(boolean nothingWorks) {
    locked(() -> unavailable = nothingWorks);
  }

  /** Shows this observer every command from now on, and what it came to. */
  public void observe(BiConsumer<Command, Applied> newObserver) {
    locked(() -> observer = newObserver);
  }

  /** The rows, to look into or to restart from. */
  public MemoryTable table() {
    return table;
  }

  @Override
  public long session() {
    return session;
  }

  @Override
  public CommandResult submit(Command.Builder command) throws MetadataUnavailableException {
    checkAvailable();
    return apply(command);
  }

  /** Commits a command that nothing refuses. */
  public void require(Command.Builder command) {
    ResultCode code = apply(command).getCode();
    if (code != ResultCode.OK) {
      throw new AssertionError(code + " for " + command);
    }
  }

  /** Executes log entries of others, as a follower in the same process does. */
  public void follow(Applied elsewhere) {
    locked(() -> state.follow(elsewhere));
  }

  /** A log entry. */
  public static CommandBatch entry(Command... commands) {
    return CommandBatch.newBuilder()
        .addAllCommands(List.of(commands))
        .setVersion(MetadataVersion.KNOWN)
        .build();
  }

  private CommandResult apply(Command.Builder command) {
    lock.lock();
    try {
      return applyAsIs(completed(command)).results().getFirst();
    } finally {
      lock.unlock();
    }
  }

  /** The command with this client's session, its next request number and the time. */
  public Command completed(Command.Builder command) {
    lock.lock();
    try {
      if (!command.hasRegisterSession()) {
        command.setSession(session).setRequest(++requests);
      }
      return command.setTimeMs(clock.millis()).build();
    } finally {
      lock.unlock();
    }
  }

  /** Applies a command exactly as it is, whoever it claims to be from. */
  public Applied applyAsIs(Command command) {
    lock.lock();
    try {
      long index = state.applied().getIndex() + 1;
      CommandBatch entry = entry(command).toBuilder().setVersion(version).build();
      Applied applied = state.apply(1, index, entry);
      observer.accept(command, applied);
      return applied;
    } finally {
      lock.unlock();
    }
  }

  private void locked(Runnable action) {
    lock.lock();
    try {
      action.run();
    } finally {
      lock.unlock();
    }
  }

  private void checkAvailable() throws MetadataUnavailableException {
    lock.lock();
    try {
      if (unavailable) {
        throw MetadataUnavailableException.refused("metadata is switched off");
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  protected MetadataAnswer ask(MetadataQuery.Builder query) throws MetadataUnavailableException {
    checkAvailable();
    if (isOlder) {
      query.clearConfig().clearSomeBuckets();
    }
    lock.lock();
    try {
      return state.reads().answer(table, query.build());
    } finally {
      lock.unlock();
    }
  }

  @Override
  public PlacementMap placement() {
    return state.reads().placement().orElseThrow();
  }

  @Override
  public Map<UUID, DriveId> drives() {
    return state.reads().drives();
  }
}
