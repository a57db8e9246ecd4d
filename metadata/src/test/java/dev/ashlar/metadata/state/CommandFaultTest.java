package dev.ashlar.metadata.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.MemoryTable;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.state.MetadataState.Applied;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.table.Changes;
import dev.ashlar.metadata.table.Store;
import dev.ashlar.metadata.table.TableFailureException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandBatch;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.MoveSlots;
import dev.ashlar.protocol.message.RegisterSession;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.Profile;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A command at which apply fails, as it does at a drive's standing that no build knows. */
class CommandFaultTest {
  private static final int BEFORE = MetadataVersion.REFUSES_FAULTS - 1;
  private static final int UNKNOWN_STANDING = 4096;

  private final MemoryMetadata metadata = MemoryMetadata.withDrives(new Profile(2, 1, 16384), 4, 4);
  private final MemoryTable table = metadata.table();

  private Command faulty() {
    return metadata.completed(
        Command.newBuilder()
            .setMoveSlots(
                MoveSlots.newBuilder()
                    .setBaseEpoch(metadata.placement().epoch())
                    .addDrives(
                        DriveRow.newBuilder().setDriveLow(1).setStandingValue(UNKNOWN_STANDING))));
  }

  private Command bucket(String name) {
    return metadata.completed(TestBlobs.createBucket(name));
  }

  private static Applied apply(MetadataState state, int version, Command... commands) {
    CommandBatch entry =
        CommandBatch.newBuilder().addAllCommands(List.of(commands)).setVersion(version).build();
    return state.apply(1, state.applied().getIndex() + 1, entry);
  }

  /** The others of its entry are done, and the state goes on, in memory as in its rows. */
  @Test
  void faultyCommandAloneIsRefused() {
    MetadataState state = new MetadataState(table);
    Command faulty = faulty();
    Applied applied =
        apply(state, MetadataVersion.KNOWN, bucket("a"), faulty, bucket("b"), faulty());
    assertEquals(
        List.of(
            ResultCode.OK, ResultCode.INVALID_COMMAND, ResultCode.OK, ResultCode.INVALID_COMMAND),
        applied.results().stream().map(CommandResult::getCode).toList());
    assertEquals(2, state.reads().buckets().size());
    assertEquals(
        ResultCode.INVALID_COMMAND,
        apply(state, MetadataVersion.KNOWN, faulty).results().getFirst().getCode(),
        "as it was answered");
    assertEquals(
        ResultCode.BUCKET_ALREADY_OWNED_BY_YOU,
        apply(state, MetadataVersion.KNOWN, bucket("a")).results().getFirst().getCode());
    MetadataState again = new MetadataState(table);
    assertEquals(state.reads().buckets(), again.reads().buckets());
    assertEquals(state.reads().drives(), again.reads().drives());
  }

  /** The same on a peer that executes, one that follows, and one that is started again. */
  @Test
  void allPeersComeToTheSame() {
    MemoryTable second = copy();
    MetadataState executes = new MetadataState(table);
    MetadataState follows = new MetadataState(second);
    for (int i = 0; i < 3; i++) {
      Applied applied = apply(executes, MetadataVersion.KNOWN, bucket("b" + i), faulty());
      follows.follow(applied);
    }
    assertEquals(rows(table), rows(second));
    assertEquals(executes.reads().buckets(), follows.reads().buckets());
  }

  /** Peers of builds that do not refuse it stop there: none may go on with other rows. */
  @Test
  void whileTheOlderVersionIsInUseItStopsThePeer() {
    MemoryTable old = new MemoryTable();
    MetadataState state = new MetadataState(old);
    Command register =
        Command.newBuilder().setRegisterSession(RegisterSession.getDefaultInstance()).build();
    long session = apply(state, BEFORE, register).results().getFirst().getSession();
    Command drives =
        Command.newBuilder()
            .setSession(session)
            .setRequest(1)
            .setPutDrives(
                MemoryMetadata.drives(new Profile(2, 1, 16384), MemoryMetadata.sequentialIds(4), 4))
            .build();
    assertEquals(ResultCode.OK, apply(state, BEFORE, drives).results().getFirst().getCode());
    Map<String, String> before = rows(old);
    Command faulty = faulty().toBuilder().setSession(session).setRequest(2).build();
    assertThrows(IllegalArgumentException.class, () -> apply(state, BEFORE, faulty));
    assertEquals(before, rows(old));
    MetadataState again = new MetadataState(old);
    assertThrows(IllegalArgumentException.class, () -> apply(again, BEFORE, faulty));
    MetadataState raised = new MetadataState(old);
    assertEquals(
        ResultCode.INVALID_COMMAND,
        apply(raised, MetadataVersion.KNOWN, faulty).results().getFirst().getCode());
  }

  /** What fails on one peer only must not be refused there: the others carry it out. */
  @Test
  void aFailureOfThePeersTablesIsNoRefusal() {
    FailingStore store = new FailingStore(table);
    MetadataState state = new MetadataState(store);
    Map<String, String> before = rows(table);
    store.fails = true;
    assertThrows(TableFailureException.class, () -> apply(state, MetadataVersion.KNOWN, faulty()));
    assertEquals(before, rows(table));
  }

  private MemoryTable copy() {
    MemoryTable copy = new MemoryTable();
    copy.rows().putAll(table.rows());
    return copy;
  }

  private static Map<String, String> rows(MemoryTable table) {
    Map<String, String> rows = new TreeMap<>();
    table.rows().forEach((key, value) -> rows.put(Arrays.toString(key), text(value)));
    return rows;
  }

  private static String text(byte[] value) {
    return Arrays.toString(value);
  }

  /** A drive that cannot be read any more. */
  private static final class FailingStore implements Store {
    private final MemoryTable rows;
    private boolean fails;

    FailingStore(MemoryTable rows) {
      this.rows = rows;
    }

    @Override
    public byte @Nullable [] get(byte[] key) {
      if (fails) {
        throw new TableFailureException("cannot be read", new IllegalStateException("EIO"));
      }
      return rows.get(key);
    }

    @Override
    public Cursor cursor(byte[] from, byte[] to) {
      return rows.cursor(from, to);
    }

    @Override
    public void write(Changes changes) {
      rows.write(changes);
    }
  }
}
