package dev.ashlar.protocol.model;

import dev.ashlar.protocol.message.DriveLoad;
import dev.ashlar.protocol.message.DriveRow;
import java.util.UUID;

/**
 * A drive in one of its incarnations. A wiped drive, or one whose recovery lost more than a torn
 * tail, gets a new incarnation, and acknowledgements of the old one no longer count.
 *
 * @param id chosen once, when the drive is formatted
 * @param incarnation positive, grows
 */
public record DriveId(UUID id, long incarnation) {
  public DriveId {
    if (incarnation < 1) {
      throw new IllegalArgumentException("incarnation " + incarnation);
    }
  }

  public static DriveId of(DriveRow row) {
    return new DriveId(idOf(row), row.getIncarnation());
  }

  public static UUID idOf(DriveRow row) {
    return new UUID(row.getDriveHigh(), row.getDriveLow());
  }

  /** The drive whose load this is. */
  public static UUID idOf(DriveLoad load) {
    return new UUID(load.getDriveHigh(), load.getDriveLow());
  }

  /** A row with these two values only. */
  public DriveRow toMessage() {
    return DriveRow.newBuilder()
        .setDriveHigh(id.getMostSignificantBits())
        .setDriveLow(id.getLeastSignificantBits())
        .setIncarnation(incarnation)
        .build();
  }

  @Override
  public String toString() {
    return id + "#" + incarnation;
  }
}
