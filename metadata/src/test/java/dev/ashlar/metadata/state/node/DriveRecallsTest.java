package dev.ashlar.metadata.state.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.message.RecallDrives;
import dev.ashlar.protocol.message.RecalledDrive;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.Profile;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Drives that were replaced and take their places again, as metadata has it. */
class DriveRecallsTest {
  private static final UUID FIRST = new UUID(0, 1);
  private static final UUID SECOND = new UUID(0, 2);

  private final MemoryMetadata metadata =
      MemoryMetadata.withDrives(new Profile(4, 2, 16384), 6, 12);

  private DriveRow row(UUID drive) throws Exception {
    return metadata.registry().getDrivesList().stream()
        .filter(row -> DriveId.idOf(row).equals(drive))
        .findFirst()
        .orElseThrow();
  }

  private void put(DriveRow.Builder row) {
    metadata.require(Command.newBuilder().setPutDrives(PutDrives.newBuilder().addDrives(row)));
  }

  private void isThere(UUID drive, long incarnation) {
    put(new DriveId(drive, incarnation).toMessage().toBuilder());
  }

  private void isAbsent(UUID drive) throws Exception {
    put(row(drive).toBuilder().setAbsent(true));
  }

  private ResultCode recall(DriveRow... rows) throws Exception {
    RecallDrives.Builder command = RecallDrives.newBuilder();
    for (DriveRow row : rows) {
      command.addDrives(
          RecalledDrive.newBuilder()
              .setDriveHigh(row.getDriveHigh())
              .setDriveLow(row.getDriveLow())
              .setIncarnation(row.getIncarnation())
              .setAbsentAt(row.getAbsentAt()));
    }
    return metadata.submit(Command.newBuilder().setRecallDrives(command)).getCode();
  }

  @Test
  void anAbsentDriveIsRecalledUntilItIsThere() throws Exception {
    isThere(FIRST, 2);
    isAbsent(FIRST);
    long since = row(FIRST).getAbsentAt();
    assertTrue(since > 0);
    isAbsent(FIRST);
    assertEquals(since, row(FIRST).getAbsentAt(), "it has been all the time");
    assertEquals(ResultCode.OK, recall(row(FIRST)));
    isAbsent(FIRST);
    assertTrue(row(FIRST).getRecalled(), "its process has started again");
    isThere(FIRST, 3);
    assertFalse(row(FIRST).getRecalled());
    assertEquals(0, row(FIRST).getAbsentAt());
    assertTrue(row(FIRST).getUnsettled(), "all that it has is owed until it was found");
    assertTrue(row(FIRST).getReplacedAt() > since);
  }

  /** Something may have been written to it since somebody looked. */
  @Test
  void aReplacementThatWasThereMeanwhileIsNotGivenUp() throws Exception {
    isThere(FIRST, 2);
    isAbsent(FIRST);
    DriveRow seen = row(FIRST);
    isThere(FIRST, 2);
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, recall(seen));
    isAbsent(FIRST);
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, recall(seen));
    assertEquals(ResultCode.OK, recall(row(FIRST)));
    isThere(FIRST, 2);
    isAbsent(FIRST);
    assertFalse(row(FIRST).getRecalled(), "it has to be asked for again");
  }

  @Test
  void allAreRecalledOrNone() throws Exception {
    isAbsent(FIRST);
    assertEquals(ResultCode.CONDITIONAL_CONFLICT, recall(row(FIRST), row(SECOND)));
    assertFalse(row(FIRST).getRecalled());
    DriveRow unknown = new DriveId(new UUID(9, 9), 1).toMessage();
    assertEquals(ResultCode.INVALID_COMMAND, recall(row(FIRST), unknown));
    isAbsent(SECOND);
    assertEquals(ResultCode.OK, recall(row(FIRST), row(SECOND)));
    assertTrue(row(FIRST).getRecalled() && row(SECOND).getRecalled());
  }
}
