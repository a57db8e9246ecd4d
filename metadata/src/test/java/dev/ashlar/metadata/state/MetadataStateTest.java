package dev.ashlar.metadata.state;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.MemoryTable;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.memory.TestProfiles;
import dev.ashlar.metadata.state.MetadataState.Applied;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.state.apply.NewerVersionException;
import dev.ashlar.metadata.state.apply.Sessions;
import dev.ashlar.metadata.table.Changes;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Store;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.CommandBatch;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.DeleteBucket;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.message.RegisterSession;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.Profile;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class MetadataStateTest {
  private static final Profile PROFILE = new Profile(4, 2, 16384);

  /** That a later build may know. */
  private static final int NEXT = MetadataVersion.KNOWN + 1;

  private final MemoryTable table = new MemoryTable();
  private MetadataState state = new MetadataState(table);
  private final long session = apply(register()).getFirst().getSession();

  private static Command register() {
    return Command.newBuilder()
        .setTimeMs(1000)
        .setRegisterSession(RegisterSession.getDefaultInstance())
        .build();
  }

  private List<CommandResult> apply(Command... commands) {
    return state.apply(1, state.applied().getIndex() + 1, MemoryMetadata.entry(commands)).results();
  }

  private Command create(String name, long request, long timeMs) {
    return TestBlobs.createBucket(name)
        .setSession(session)
        .setRequest(request)
        .setTimeMs(timeMs)
        .build();
  }

  private ResultCode code(Command command) {
    return apply(command).getFirst().getCode();
  }

  @Test
  void aRetryIsAnsweredAsTheFirstTry() {
    assertEquals(ResultCode.OK, code(create("a", 1, 2000)));
    assertEquals(ResultCode.OK, code(create("a", 1, 2000)));
    assertEquals(ResultCode.BUCKET_ALREADY_OWNED_BY_YOU, code(create("a", 2, 2000)));
    state = new MetadataState(table);
    assertEquals(ResultCode.OK, code(create("a", 1, 2000)));
    List<CommandResult> both = apply(create("b", 3, 2000), create("b", 3, 2000));
    assertEquals(both.get(0), both.get(1));
  }

  @Test
  void aLateFirstTryIsStillExecuted() {
    assertEquals(ResultCode.OK, code(create("b", 2, 2000)));
    assertEquals(ResultCode.OK, code(create("a", 1, 2000)));
    assertEquals(2, state.reads().buckets().size());
  }

  /** Rule 13: after its row has expired a retry is refused, also behind a restart. */
  @Test
  void anExpiredRetryIsRefused() {
    assertEquals(ResultCode.OK, code(create("a", 1, 2000)));
    assertEquals(ResultCode.OK, code(create("b", 2, 2000 + Sessions.KEEP_MS)));
    assertEquals(ResultCode.OK, code(create("a", 1, 2000)));
    assertEquals(ResultCode.OK, code(create("c", 3, 2001 + Sessions.KEEP_MS)));
    assertEquals(ResultCode.STALE_REQUEST, code(create("a", 1, 2000)));
    state = new MetadataState(table);
    assertEquals(ResultCode.STALE_REQUEST, code(create("a", 1, 2000)));
    assertEquals(ResultCode.OK, code(create("b", 2, 2000)));
  }

  @Test
  void keptAnswersAreBounded() {
    long request = 0;
    for (int entry = 0; entry < 2 + Sessions.KEEP_REQUESTS_MAX / 200; entry++) {
      List<Command> commands = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        commands.add(create("same", ++request, 2000));
      }
      apply(commands.toArray(new Command[0]));
    }
    assertEquals(ResultCode.STALE_REQUEST, code(create("same", 1, 2000)));
    byte[] from = Keys.table('R');
    int rows = table.rows().subMap(from, Keys.behind(from)).size();
    assertEquals(Sessions.KEEP_REQUESTS_MAX / 200, rows);
  }

  @Test
  void theSameLogMakesTheSameBytes() throws Exception {
    List<Command> log = recorded();
    MemoryTable once = new MemoryTable();
    MetadataState oneByOne = new MetadataState(once);
    MemoryTable again = new MemoryTable();
    long index = 1;
    for (Command command : log) {
      oneByOne.apply(3, index, MemoryMetadata.entry(command));
      new MetadataState(again)
          .apply(3, index, MemoryMetadata.entry(command)); // restarts before each
      index++;
    }
    assertEquals(once.rows().size(), again.rows().size());
    for (Map.Entry<byte[], byte[]> row : once.rows().entrySet()) {
      assertArrayEquals(row.getValue(), again.get(row.getKey()));
    }
  }

  /** A reader must not find a blob in the tables whose profile the catalog does not have. */
  @Test
  void followerHasTheMapBeforeTheRows() {
    MemoryMetadata leader = MemoryMetadata.withDrives(PROFILE, 6, 2);
    MemoryTable followed = new MemoryTable();
    leader.table().rows().forEach(followed.rows()::put);
    List<Integer> profiles = new ArrayList<>();
    MetadataState[] follower = new MetadataState[1];
    Store observed =
        new Store() {
          @Override
          public byte @Nullable [] get(byte[] key) {
            return followed.get(key);
          }

          @Override
          public Cursor cursor(byte[] from, byte[] to) {
            return followed.cursor(from, to);
          }

          @Override
          public void write(Changes changes) {
            profiles.add(follower[0].reads().placement().orElseThrow().profiles().size());
            followed.write(changes);
          }
        };
    follower[0] = new MetadataState(observed);
    leader.observe((command, applied) -> follower[0].follow(applied));
    leader.require(TestProfiles.add(leader, "HOT", PROFILE, 2));
    assertEquals(List.of(2), profiles);
  }

  /** Peers of a process take over each other's work, whichever of them did it. */
  @Test
  void followingPeerHasTheSameBytes() throws Exception {
    List<Command> log = new ArrayList<>(recorded());
    log.add(
        log.getLast().toBuilder()
            .setRequest(log.size())
            .setDeleteBucket(DeleteBucket.newBuilder().setName("empty"))
            .build());
    MemoryTable oneTable = new MemoryTable();
    MemoryTable otherTable = new MemoryTable();
    MetadataState one = new MetadataState(oneTable);
    MetadataState other = new MetadataState(otherTable);
    long index = -1;
    for (Command command : log) {
      index += 2; // entries of Raft's own lie between
      boolean turn = index / 100 % 2 == 0;
      Applied applied = (turn ? one : other).apply(3, index, MemoryMetadata.entry(command));
      assertEquals(ResultCode.OK, applied.results().getFirst().getCode());
      MetadataState follower = turn ? other : one;
      assertTrue(follower.canFollow(applied));
      follower.follow(applied);
      assertFalse(follower.canFollow(applied));
    }
    assertEquals(oneTable.rows().size(), otherTable.rows().size());
    for (Map.Entry<byte[], byte[]> row : oneTable.rows().entrySet()) {
      assertArrayEquals(row.getValue(), otherTable.get(row.getKey()));
    }
    assertEquals(one.reads().buckets(), other.reads().buckets());
    assertEquals(one.reads().drives(), other.reads().drives());
    assertEquals(one.reads().placement(), other.reads().placement());
    assertEquals(1, one.reads().buckets().size());
  }

  private static CommandBatch entryOf(int version, Command... commands) {
    return MemoryMetadata.entry(commands).toBuilder().setVersion(version).build();
  }

  /** Also a command that is not known here is in such an entry: nothing of it may be applied. */
  @Test
  void anEntryOfAVersionThatIsNotKnownIsNotApplied() {
    state = new MetadataState(table, NEXT - 1);
    List<String> before = rows();
    long index = state.applied().getIndex() + 1;
    CommandBatch entry = entryOf(NEXT, create("a", 1, 2000));
    NewerVersionException refused =
        assertThrows(NewerVersionException.class, () -> state.apply(1, index, entry));
    String message = String.valueOf(refused.getMessage());
    assertTrue(message.contains("log entry " + index + " is of metadata version " + NEXT), message);
    assertTrue(message.contains("supports " + (NEXT - 1)), message);
    assertEquals(before, rows());
    state = new MetadataState(table, NEXT);
    assertEquals(
        ResultCode.OK, state.apply(1, index, entry).results().getFirst().getCode(), "by the newer");
    assertEquals(NEXT, state.applied().getVersion());
  }

  @Test
  void versionInUseStaysInUse() {
    state = new MetadataState(table, NEXT);
    assertEquals(MetadataVersion.KNOWN, state.applied().getVersion());
    applyOf(NEXT, create("a", 1, 2000));
    applyOf(0, create("b", 2, 2000));
    applyOf(MetadataVersion.FIRST, create("c", 3, 2000));
    assertEquals(NEXT, state.applied().getVersion());
    assertEquals(NEXT, new MetadataState(table, NEXT).applied().getVersion());
    NewerVersionException refused =
        assertThrows(NewerVersionException.class, () -> new MetadataState(table, NEXT - 1));
    String message = String.valueOf(refused.getMessage());
    assertTrue(message.contains("tables are of metadata version " + NEXT), message);
  }

  private void applyOf(int version, Command command) {
    long index = state.applied().getIndex() + 1;
    Applied applied = state.apply(1, index, entryOf(version, command));
    assertEquals(ResultCode.OK, applied.results().getFirst().getCode());
  }

  /** As builds wrote them that did not tell: the commands and nothing else. */
  @Test
  void entriesFromBeforeTheyToldAreApplied() throws Exception {
    byte[] commands = create("a", 1, 2000).toByteArray();
    byte[] written =
        ByteBuffer.allocate(2 + commands.length)
            .put((byte) 0x0A) // field 1, bytes
            .put((byte) commands.length)
            .put(commands)
            .array();
    assertTrue(commands.length < 128, "its length is one byte");
    CommandBatch entry = CommandBatch.parseFrom(written);
    long index = state.applied().getIndex() + 1;
    assertEquals(ResultCode.OK, state.apply(1, index, entry).results().getFirst().getCode());
    assertEquals(MetadataVersion.KNOWN, state.applied().getVersion());
  }

  /** What a newer build sends too early, and a build that knows it, come to the same. */
  @Test
  void aCommandThatIsNotKnownIsRefusedWhileTheOlderVersionIsInUse() throws Exception {
    byte[] unknown = {(byte) 0xC2, (byte) 0x3E, 0}; // field 1000, no bytes
    Command newer =
        Command.newBuilder()
            .mergeFrom(unknown)
            .setSession(session)
            .setRequest(1)
            .setTimeMs(2000)
            .build();
    assertEquals(ResultCode.INVALID_COMMAND, code(newer));
  }

  private List<String> rows() {
    return table.rows().entrySet().stream()
        .map(row -> Arrays.toString(row.getKey()) + Arrays.toString(row.getValue()))
        .toList();
  }

  /** A session, drives, a bucket, objects, an overwrite, a deletion. */
  private static List<Command> recorded() throws Exception {
    MemoryMetadata shadow = new MemoryMetadata(Clock.systemUTC());
    List<Command.Builder> commands = new ArrayList<>();
    commands.add(Command.newBuilder().setRegisterSession(RegisterSession.getDefaultInstance()));
    List<UUID> ids = MemoryMetadata.sequentialIds(6);
    PutDrives.Builder drives = MemoryMetadata.drives(PROFILE, ids, 4);
    commands.add(Command.newBuilder().setPutDrives(drives));
    shadow.submit(Command.newBuilder().setPutDrives(drives));
    commands.add(TestBlobs.createBucket("b"));
    commands.add(TestBlobs.createBucket("empty"));
    for (int i = 0; i < 300; i++) {
      BlobId id = new BlobId(shadow.session(), i);
      commands.add(
          i % 5 == 4
              ? TestBlobs.delete("b", "k" + i % 20)
              : TestBlobs.put("b", "k" + i % 23, TestBlobs.acknowledged(shadow, id, 100 + i)));
    }
    List<Command> log = new ArrayList<>();
    for (Command.Builder command : commands) {
      long number = log.size();
      if (number > 0) {
        command.setSession(shadow.session()).setRequest(number);
      }
      log.add(command.setTimeMs(5000 + number * 1000).build());
    }
    return log;
  }
}
