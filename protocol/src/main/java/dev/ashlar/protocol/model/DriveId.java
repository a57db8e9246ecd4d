package dev.ashlar.protocol.model;

import dev.ashlar.protocol.message.DriveLoad;
import dev.ashlar.protocol.message.DriveRow;
import java.util.UUID;

/**
 * A drive, and which life of it: a wiped drive, or one whose recovery lost more than a torn tail,
 * comes back with a new incarnation, and what was acknowledged under the old one no longer counts.
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

  /** The drive that a load is of. */
  public static UUID idOf(DriveLoad load) {
    return new UUID(load.getDriveHigh(), load.getDriveLow());
  }

  /** What it says of itself; where it is stands in other fields. */
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
