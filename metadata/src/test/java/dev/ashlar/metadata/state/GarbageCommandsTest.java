package dev.ashlar.metadata.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.MemoryTable;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.protocol.message.Command;
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
  private static final int RUNS = 30;
  private static final int COMMANDS = 1000;

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
    boolean isUsual = SeededRuns.repeat(RUNS, this::run);
    if (isUsual) {
      Set<Command.KindCase> all = EnumSet.allOf(Command.KindCase.class);
      all.remove(Command.KindCase.KIND_NOT_SET);
      assertTrue(doneKinds.containsAll(all), "each kind of command was done: " + doneKinds);
      all.removeAll(
          EnumSet.of(
              Command.KindCase.REGISTER_SESSION,
              Command.KindCase.END_SESSIONS,
              Command.KindCase.SET_BALANCE));
      assertTrue(refusedKinds.containsAll(all), "each that can be was refused: " + refusedKinds);
    }
  }

  private void run(long seed) throws Exception {
    Random random = new Random(seed);
    SensibleCommands sensible = new SensibleCommands(random);
    MessageMutator mutator = new MessageMutator(random);
    MemoryMetadata metadata = sensible.metadata();
    MemoryTable replayed = copy(metadata.table());
    List<Command> log = new ArrayList<>();
    for (int i = 0; i < COMMANDS; i++) {
      if (!isLive(metadata)) {
        metadata = sensible.restart();
        log.add(REGISTER);
      }
      Command command = metadata.completed(sensible.next());
      Command applied = random.nextInt(3) == 0 ? command : mutator.mutate(command);
      log.add(applied);
      apply(metadata, applied);
    }
    replay(replayed, log, random);
    assertEquals(rows(metadata.table()), rows(replayed), "by peers that were started again");
  }

  private static boolean isLive(MemoryMetadata metadata) {
    return metadata.table().rows().containsKey(Keys.session(metadata.session()));
  }

  private void apply(MemoryMetadata metadata, Command command) {
    Applied applied;
    try {
      applied = metadata.applyAsIs(command);
    } catch (RuntimeException | Error e) {
      throw new AssertionError("thrown by " + command, e);
    }
    CommandResult result = applied.results().getFirst();
    if (result.getCode() == ResultCode.OK) {
      doneKinds.add(command.getKindCase());
      return;
    }
    refusedKinds.add(command.getKindCase());
    applied
        .changes()
        .rows()
        .keySet()
        .forEach(
            key ->
                assertTrue(
                    KEPT_OF_REFUSED.indexOf(key[0]) >= 0,
                    () -> result.getCode() + " but wrote " + text(key) + " of " + command));
  }

  private static String text(byte[] key) {
    return new String(key, StandardCharsets.ISO_8859_1);
  }

  /** As a peer would that is started again now and then: what is in memory makes no difference. */
  private static void replay(MemoryTable table, List<Command> log, Random random) {
    MetadataState state = new MetadataState(table);
    for (Command command : log) {
      if (random.nextInt(50) == 0) {
        state = new MetadataState(table);
      }
      state.apply(1, state.applied().getIndex() + 1, MemoryMetadata.entry(command));
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
