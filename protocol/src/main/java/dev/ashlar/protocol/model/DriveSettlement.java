package dev.ashlar.protocol.model;

import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.SettleDrive;

/** Records that the rows of all blobs reflect what a drive has lost or moved. */
public final class DriveSettlement {
  private DriveSettlement() {}

  /** The command for a drive in the state in which the search for its blobs began. */
  public static Command.Builder of(DriveRow drive) {
    return Command.newBuilder()
        .setSettleDrive(
            SettleDrive.newBuilder()
                .setDriveHigh(drive.getDriveHigh())
                .setDriveLow(drive.getDriveLow())
                .setIncarnation(drive.getIncarnation())
                .setChangedAt(drive.getChangedAt()));
  }
}
