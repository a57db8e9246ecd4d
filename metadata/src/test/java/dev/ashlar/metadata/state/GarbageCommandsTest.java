package dev.ashlar.metadata.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.MemoryTable;
import dev.ashlar.metadata.state.MetadataState.Applied;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandBatch;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.RegisterSession;
import dev.ashlar.protocol.message.ResultCode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * Commands that make no sense: every kind of command with fields out of range, huge, empty, unknown
 * or contradicting each other, between commands that are right. None is thrown out of apply, and
 * one that is refused changes no row. See {@link SeededRuns}.
 */
class GarbageCommandsTest {
  private static final int RUNS = 20;

  /** A kind that is seldom done or refused is so in one of eight runs. */
  private static final int FIXED_RUNS_MAX = 100;

  private static final int COMMANDS = 1000;

  /** They do what can be done, except as garbage that is no command at all. */
  private static final Set<Command.KindCase> SELDOM_REFUSED =
      EnumSet.of(
          Command.KindCase.REGISTER_SESSION,
          Command.KindCase.END_SESSIONS,
          Command.KindCase.BEGIN_ENCRYPTION,
          Command.KindCase.SET_BALANCE,
          Command.KindCase.SET_ACCOUNT_QUOTA,
          Command.KindCase.ACK_EVENTS,
          Command.KindCase.RECORD_DEBTS,
          Command.KindCase.FORGET_BLOBS);

  /** What a refused command may change: what it was answered, and how far the log is applied. */
  private static final String KEPT_OF_REFUSED = "RSX";

  private static final Command REGISTER =
      Command.newBuilder()
          .setRegisterSession(RegisterSession.getDefaultInstance())
          .setTimeMs(SensibleCommands.NOW.toEpochMilli())
          .build();

  private final Set<Command.KindCase> refusedKinds = EnumSet.noneOf(Command.KindCase.class);
  private final Set<Command.KindCase> doneKinds = EnumSet.noneOf(Command.KindCase.class);

  @Test
  void garbageIsRefusedAndChangesNothing() {
    SeededRuns.repeat(RUNS, this::run);
  }

  /** Of fixed seeds, as many as it takes: what is covered depends on nothing but the code. */
  @Test
  void commandsOfEveryKindAreDoneAndRefused() throws Exception {
    Set<Command.KindCase> all = EnumSet.allOf(Command.KindCase.class);
    all.remove(Command.KindCase.KIND_NOT_SET);
    Set<Command.KindCase> refusable = without(all, SELDOM_REFUSED);
    long seed = 0;
    while (!doneKinds.containsAll(all) || !refusedKinds.containsAll(refusable)) {
      assertTrue(
          seed < FIXED_RUNS_MAX,
          () ->
              "never done: %s, never refused: %s"
                  .formatted(without(all, doneKinds), without(refusable, refusedKinds)));
      run(++seed);
    }
    System.out.println("garbage commands: every kind was done and refused by seeds 1 to " + seed);
  }

  private static Set<Command.KindCase> without(
      Set<Command.KindCase> all, Set<Command.KindCase> some) {
    Set<Command.KindCase> rest = EnumSet.copyOf(all);
    rest.removeAll(some);
    return rest;
  }

  private void run(long seed) throws Exception {
    Random random = new Random(seed);
    SensibleCommands sensible = new SensibleCommands(random);
    MessageMutator mutator = new MessageMutator(random);
    MemoryMetadata metadata = sensible.metadata();
    MemoryTable replayed = copy(metadata.table());
    List<Command> log = new ArrayList<>();
    boolean isTaken = true;
    for (int i = 0; i < COMMANDS; i++) {
      if (!isTaken || !isLive(metadata)) {
        metadata = sensible.restart();
        log.add(REGISTER);
      }
      Command command = metadata.completed(sensible.next());
      Command applied = random.nextInt(3) == 0 ? command : mutator.mutate(command);
      log.add(applied);
      boolean isRefused = apply(metadata, applied) == ResultCode.STALE_REQUEST;
      isTaken = !isRefused || !applied.equals(command); // not after garbage with a huge number
    }
    replay(replayed, log, random);
    assertEquals(rows(metadata.table()), rows(replayed), "by peers that were started again");
  }

  private static boolean isLive(MemoryMetadata metadata) {
    return metadata.table().rows().containsKey(Keys.session(metadata.session()));
  }

  private ResultCode apply(MemoryMetadata metadata, Command command) {
    Applied applied;
    try {
      applied = metadata.applyAsIs(command);
    } catch (RuntimeException | Error e) {
      throw new AssertionError("thrown by " + command, e);
    }
    CommandResult result = applied.results().getFirst();
    if (result.getCode() == ResultCode.OK) {
      doneKinds.add(command.getKindCase());
      return ResultCode.OK;
    }
    if (result.getCode() != ResultCode.STALE_REQUEST) { // that is no matter of the command
      refusedKinds.add(command.getKindCase());
    }
    applied
        .changes()
        .rows()
        .keySet()
        .forEach(
            key ->
                assertTrue(
                    KEPT_OF_REFUSED.indexOf(key[0]) >= 0,
                    () -> result.getCode() + " but wrote " + text(key) + " of " + command));
    return result.getCode();
  }

  private static String text(byte[] key) {
    return new String(key, StandardCharsets.ISO_8859_1);
  }

  /** As a peer would that is started again now and then: what is in memory makes no difference. */
  private static void replay(MemoryTable table, List<Command> log, Random random) {
    MetadataState state = new MetadataState(table, SensibleCommands.VERSION);
    for (Command command : log) {
      if (random.nextInt(50) == 0) {
        state = new MetadataState(table, SensibleCommands.VERSION);
      }
      CommandBatch entry =
          CommandBatch.newBuilder()
              .addCommands(command)
              .setVersion(SensibleCommands.VERSION)
              .build();
      state.apply(1, state.applied().getIndex() + 1, entry);
    }
  }

  private static MemoryTable copy(MemoryTable table) {
    MemoryTable copy = new MemoryTable();
    copy.rows().putAll(table.rows());
    return copy;
  }

  private static List<String> rows(MemoryTable table) {
    HexFormat hex = HexFormat.of();
    return table.rows().entrySet().stream()
        .map(row -> hex.formatHex(row.getKey()) + "=" + hex.formatHex(row.getValue()))
        .toList();
  }
}
