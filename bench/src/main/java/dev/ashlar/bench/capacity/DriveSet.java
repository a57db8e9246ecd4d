package dev.ashlar.bench.capacity;

import dev.ashlar.metadata.placement.Placement;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.PgMapRow;
import dev.ashlar.protocol.model.Profile;
import dev.ashlar.storage.drive.config.DriveConfig;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Drives that are all alike.
 *
 * @param nodes over which they are spread evenly; a node is a failure domain
 * @param price of one drive, null if it does not matter
 */
record DriveSet(int drives, long driveBytes, int nodes, @Nullable Double price) {
  private static final int MAPS = 8;

  DriveSet {
    if (drives < 1 || nodes < 1 || nodes > drives) {
      throw new IllegalArgumentException(
          "needs at least one drive, and between one node and one per drive");
    }
    if (driveBytes < DriveConfig.Limits.DEFAULT.capacityBytesMin()) {
      throw new IllegalArgumentException(
          "a drive of %d bytes is smaller than the %d bytes that a drive needs"
              .formatted(driveBytes, DriveConfig.Limits.DEFAULT.capacityBytesMin()));
    }
    if (price != null && !(price > 0)) {
      throw new IllegalArgumentException("the price is to be above 0");
    }
  }

  long rawBytes() {
    return Math.multiplyExact(drives, driveBytes);
  }

  /** What new data may take: the rest is kept for deleting and moving. */
  long bytesForData() {
    DriveConfig.Limits limits = DriveConfig.Limits.DEFAULT;
    return drives * (driveBytes - limits.capacityBytesMin() + limits.segmentBytes());
  }

  /** Slots of one placement group on one node, at most. */
  int slotsOfANode(Profile profile) {
    return Math.ceilDiv(profile.shards(), nodes);
  }

  /**
   * How full all drives are on average when the fullest is full: placement groups are spread by
   * hashing, so that they do not fill evenly. Of several placements the average.
   */
  double evenness(Profile profile) {
    Random random = new Random(1);
    double sum = 0;
    for (int i = 0; i < MAPS; i++) {
      sum += evenness(Placement.first(rows(random), profile, Placement.PG_COUNT_DEFAULT));
    }
    return sum / MAPS;
  }

  private double evenness(PgMapRow map) {
    Map<Long, Integer> uses = new HashMap<>();
    int all = 0;
    for (var pg : map.getPgsList()) {
      for (DriveRow slot : pg.getSlotsList()) {
        uses.merge(slot.getDriveLow(), 1, Integer::sum);
        all++;
      }
    }
    int most = uses.values().stream().mapToInt(Integer::intValue).max().orElseThrow();
    return (double) all / drives / most;
  }

  private List<DriveRow> rows(Random random) {
    List<DriveRow> rows = new ArrayList<>();
    for (int drive = 0; drive < drives; drive++) {
      rows.add(
          DriveRow.newBuilder()
              .setDriveHigh(random.nextLong())
              .setDriveLow(random.nextLong())
              .setCapacityBytes(driveBytes)
              .setFailureDomain(nodes == drives ? "drive-" + drive : "node-" + drive % nodes)
              .build());
    }
    return rows;
  }
}
