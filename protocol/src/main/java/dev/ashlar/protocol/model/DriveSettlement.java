package dev.ashlar.protocol.model;

import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.SettleDrive;

/** That what a drive has lost, or has elsewhere now, is in the rows of all blobs. */
public final class DriveSettlement {
  private DriveSettlement() {}

  /** The command for a drive as it was when the search for its blobs began. */
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
