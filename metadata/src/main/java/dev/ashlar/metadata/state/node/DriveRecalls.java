package dev.ashlar.metadata.state.node;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.RecallDrives;
import dev.ashlar.protocol.message.RecalledDrive;
import dev.ashlar.protocol.message.ResultCode;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Recalls replaced drives. A drive's row is marked until its process has begun a new incarnation
 * with the old content. All its shards are in debt then, until repair has found them.
 */
public final class DriveRecalls {
  private DriveRecalls() {}

  /**
   * Recalls all of the drives or none. Each must have been absent without interruption since the
   * content of its replacement was examined, so that nothing was written to it meanwhile.
   */
  public static CommandResult recall(ApplyContext context, RecallDrives command) {
    require(context.version() >= MetadataVersion.RECALLS_DRIVES, ResultCode.INVALID_COMMAND);
    List<DriveRow> recalled = new ArrayList<>();
    for (RecalledDrive drive : command.getDrivesList()) {
      UUID id = new UUID(drive.getDriveHigh(), drive.getDriveLow());
      DriveRow row = require(context.drive(id), ResultCode.INVALID_COMMAND);
      require(
          row.getAbsent()
              && row.getAbsentAt() == drive.getAbsentAt()
              && row.getIncarnation() == drive.getIncarnation(),
          ResultCode.CONDITIONAL_CONFLICT);
      recalled.add(row.toBuilder().setRecalled(true).build());
    }
    recalled.forEach(context::put);
    return ApplyContext.OK;
  }

  /**
   * The row as it is to be written: apply decides whether the drive is recalled and since when it
   * is absent. Both end when the drive is present.
   */
  static DriveRow marked(ApplyContext context, DriveRow known, DriveRow row) {
    if (context.version() < MetadataVersion.RECALLS_DRIVES) {
      return row;
    }
    if (!row.getAbsent()) {
      return row.toBuilder().clearRecalled().clearAbsentAt().build();
    }
    return row.toBuilder()
        .setRecalled(known.getAbsent() && known.getRecalled())
        .setAbsentAt(known.getAbsentAt() > 0 ? known.getAbsentAt() : context.freshId())
        .build();
  }
}
