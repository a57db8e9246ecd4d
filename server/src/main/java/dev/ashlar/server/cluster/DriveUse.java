package dev.ashlar.server.cluster;

import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.storage.drive.DriveStore;
import org.jspecify.annotations.Nullable;

/**
 * How full a drive is.
 *
 * @param usedBytes that its segments take
 * @param freeBytes that more of them could take
 * @param liveBytes of those used, what is needed; the rest goes with time, or when room is needed
 */
public record DriveUse(long usedBytes, long freeBytes, long liveBytes) {
  /** Others may use a little of the file system all the time: that is nothing to tell. */
  private static final long FREE_UNIT = 1 << 20;

  public DriveUse {
    if (usedBytes < 0 || freeBytes < 0 || liveBytes < 0) {
      throw new IllegalArgumentException(usedBytes + ", " + freeBytes + ", " + liveBytes);
    }
  }

  /** Of a drive of this process. */
  public static DriveUse of(DriveStore drive) {
    long used = drive.usedBytes();
    long free = Math.max(0, drive.capacityBytes() - used);
    return new DriveUse(used, free - free % FREE_UNIT, drive.liveBytes());
  }

  /** As the drive's node said it last; null where it has said nothing yet. */
  public static @Nullable DriveUse of(DriveRow row) {
    boolean isSaid = row.getUsedBytes() > 0 || row.getFreeBytes() > 0;
    return isSaid ? new DriveUse(row.getUsedBytes(), row.getFreeBytes(), row.getLiveBytes()) : null;
  }

  /** The row with this in it. */
  DriveRow in(DriveRow row) {
    return row.toBuilder()
        .setUsedBytes(usedBytes)
        .setFreeBytes(freeBytes)
        .setLiveBytes(liveBytes)
        .build();
  }

  /** Of what it could use; 0 to 1. */
  double fullness() {
    long all = usedBytes + freeBytes;
    return all == 0 ? 1 : (double) usedBytes / all;
  }

  /** The same in whole percents, rounded down. */
  public int usedPercent() {
    return (int) (100 * fullness());
  }
}
