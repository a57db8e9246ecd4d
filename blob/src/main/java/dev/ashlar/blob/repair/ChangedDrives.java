package dev.ashlar.blob.repair;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.BlobIdValue;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.RecordDebts;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.DriveSettlement;
import dev.ashlar.protocol.model.PlacementMap;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the blobs that a change of a drive affects (a new incarnation, another state, lost slots)
 * and updates their debts and shard locations in metadata. It may stop anywhere and begin again:
 * rows that are up to date are skipped.
 */
final class ChangedDrives {
  private static final Logger LOG = LoggerFactory.getLogger(ChangedDrives.class);

  /** Rows that are read together, and updated with one command. */
  private static final int PAGE = 200;

  private final MetadataClient metadata;

  /** The log positions at which the drives that are being settled changed. */
  private Map<UUID, Long> underWay = Map.of();

  private int nextPg;

  ChangedDrives(MetadataClient metadata) {
    this.metadata = metadata;
  }

  /**
   * Continues, for a slice of time, to update the blobs of changed drives.
   *
   * @return whether all drives are settled
   */
  boolean settle(Duration slice) throws MetadataUnavailableException {
    long beganNanos = System.nanoTime();
    Registry registry = metadata.registry();
    List<DriveRow> unsettled =
        registry.getDrivesList().stream().filter(DriveRow::getUnsettled).toList();
    if (unsettled.isEmpty()) {
      return true;
    }
    PlacementMap map = metadata.placement(registry.getEpoch());
    if (map.epoch() < registry.getEpoch()) {
      return false;
    }
    Map<UUID, Long> positions = new HashMap<>();
    unsettled.forEach(drive -> positions.put(DriveId.of(drive).id(), changedAt(drive)));
    if (!positions.equals(underWay)) {
      underWay = positions; // further drives may affect any placement group
      nextPg = 0;
    }
    Set<UUID> scattered =
        registry.getLoadsList().stream()
            .map(DriveId::idOf)
            .filter(positions::containsKey)
            .collect(Collectors.toSet());
    while (nextPg < map.slotDrives().size()) {
      if (System.nanoTime() - beganNanos >= slice.toNanos()) {
        return false;
      }
      long behind = behind(map, nextPg, scattered);
      if (behind > 0) {
        note(nextPg, behind);
      }
      nextPg++;
    }
    for (DriveRow drive : unsettled) {
      LOG.info("Drive {} changed; the debts of its blobs are recorded", DriveId.of(drive));
      settle(drive);
    }
    return true;
  }

  /** Rows written by older versions name only the position of the last incarnation. */
  private static long changedAt(DriveRow drive) {
    return Math.max(drive.getChangedAt(), drive.getReplacedAt());
  }

  /**
   * The log position before which rows of this placement group are out of date; 0 if none is.
   *
   * @param scattered changed drives that may hold shards of any placement group
   */
  private long behind(PlacementMap map, int pg, Set<UUID> scattered) {
    Set<UUID> drives = new HashSet<>(scattered);
    drives.addAll(map.slots(pg));
    long behind = 0;
    for (PlacementMap.Past before : map.pastOf(pg)) {
      drives.add(before.drive());
    }
    for (UUID drive : drives) {
      behind = Math.max(behind, underWay.getOrDefault(drive, 0L));
    }
    return behind;
  }

  /** Updates the placement group's rows that were settled before this position. */
  private void note(int pg, long behind) throws MetadataUnavailableException {
    BlobId after = null;
    List<BlobRow> page;
    do {
      page = metadata.blobsOfPlacementGroup(pg, after, PAGE);
      List<BlobIdValue> older =
          page.stream()
              .filter(row -> row.getReferences() > 0 && row.getSettled() < behind)
              .map(BlobRow::getId)
              .toList();
      if (!older.isEmpty()) {
        submit(Command.newBuilder().setRecordDebts(RecordDebts.newBuilder().addAllBlobs(older)));
      }
      after = page.isEmpty() ? null : BlobId.of(page.getLast().getId());
    } while (page.size() == PAGE);
  }

  private void settle(DriveRow drive) throws MetadataUnavailableException {
    submit(DriveSettlement.of(drive));
  }

  /** A drive must not become settled if an update of its blobs may have been lost. */
  private void submit(Command.Builder command) throws MetadataUnavailableException {
    ResultCode code = metadata.submit(command).getCode();
    if (code != ResultCode.OK) {
      throw MetadataUnavailableException.unknown(
          "noting debts", new IllegalStateException(code.name()));
    }
  }
}
