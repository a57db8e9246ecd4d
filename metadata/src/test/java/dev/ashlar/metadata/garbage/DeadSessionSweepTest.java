package dev.ashlar.metadata.garbage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.metadata.memory.MemoryTable;
import dev.ashlar.metadata.memory.TestBlobs;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.protocol.client.ManualClock;
import dev.ashlar.protocol.message.BalanceRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.RegisterNode;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SetBalance;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Exactly what sessions left that have ended goes, and nothing of one that lives. */
class DeadSessionSweepTest {
  private final MemoryTable table = new MemoryTable();
  private final MemoryMetadata first = new MemoryMetadata(table, new ManualClock(1_000));
  private final FakeDrive drive = new FakeDrive(new DriveId(new UUID(0, 1), 1));

  private BlobId written(long session, long sequence) {
    BlobId id = new BlobId(session, sequence);
    drive.blobs().add(id);
    return id;
  }

  private static void register(MemoryMetadata process, String name) throws Exception {
    NodeRow node = NodeRow.newBuilder().setName(name).setGateway(true).build();
    ResultCode code =
        process
            .submit(Command.newBuilder().setRegisterNode(RegisterNode.newBuilder().setNode(node)))
            .getCode();
    assertEquals(ResultCode.OK, code);
  }

  @Test
  void remainsOfAGatewayAreDeletedOnceAnotherHasItsName() throws Exception {
    List<UUID> ids = MemoryMetadata.sequentialIds(3);
    first.submit(
        Command.newBuilder().setPutDrives(MemoryMetadata.drives(new Profile(2, 1, 16384), ids, 1)));
    first.submit(TestBlobs.createBucket("b"));
    register(first, "g-1");
    MemoryMetadata other = new MemoryMetadata(table, new ManualClock(1_000));
    register(other, "g-2");
    BlobId committed = written(first.session(), 1);
    first.submit(TestBlobs.put("b", "k", TestBlobs.acknowledged(first, committed, 100_000)));
    written(first.session(), 2);
    BlobId inProgress = written(other.session(), 1);
    DeadSessionSweep sweep = new DeadSessionSweep(other, Duration.ofSeconds(10));

    LiveSessions before = LiveSessions.of(other.registry());
    assertEquals(0, sweep.sweep(drive, before.newest(), before::isDead));
    assertEquals(3, drive.blobs().size());

    MemoryMetadata again = new MemoryMetadata(table, new ManualClock(1_000));
    register(again, "g-1");
    BlobId ofNew = written(again.session(), 1);
    LiveSessions live = LiveSessions.of(other.registry());
    assertEquals(Set.of(first.session()), live.endedSince(before));
    assertEquals(1, sweep.sweep(drive, live.newest(), live::isDead));
    assertEquals(List.of(committed, inProgress, ofNew), List.copyOf(drive.blobs()));
  }

  /** What it does not know may be of later metadata, which an operator still has. */
  @Test
  void nothingIsDeletedWhileMetadataIsRestored() throws Exception {
    written(first.session(), 1);
    LiveSessions none = new LiveSessions(Set.of(), first.session() + 1);
    DeadSessionSweep sweep = new DeadSessionSweep(first, Duration.ofSeconds(10));
    BalanceRow restored = BalanceRow.newBuilder().setRestored(true).build();
    table.rows().put(Keys.balance(), restored.toByteArray());
    assertEquals(0, sweep.sweep(drive, none.newest(), none::isDead));
    first.require(Command.newBuilder().setSetBalance(SetBalance.getDefaultInstance()));
    assertEquals(1, sweep.sweep(drive, none.newest(), none::isDead));
  }

  /** It may have begun after the list was made. */
  @Test
  void aSessionThatIsYoungerThanTheListIsNotDead() {
    LiveSessions live = new LiveSessions(Set.of(5L, 9L), 9);
    assertTrue(live.isDead(4));
    assertFalse(live.isDead(5));
    assertTrue(live.isDead(8));
    assertFalse(live.isDead(9));
    assertFalse(live.isDead(10));
  }
}
