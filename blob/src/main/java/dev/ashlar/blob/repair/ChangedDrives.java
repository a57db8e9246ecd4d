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
 * Finds the blobs that a change of a drive concerns (another life, another standing, slots that it
 * lost) and has their rows tell what they owe and where their shards are. It may stop anywhere and
 * begin again: what has been noted is passed over.
 */
final class ChangedDrives {
  private static final Logger LOG = LoggerFactory.getLogger(ChangedDrives.class);

  /** Rows that are looked at together, and noted with one command. */
  private static final int PAGE = 200;

  private final MetadataClient metadata;

  /** Since when the drives that are being settled are what they are. */
  private Map<UUID, Long> underWay = Map.of();

  private int nextGroup;

  ChangedDrives(MetadataClient metadata) {
    this.metadata = metadata;
  }

  /**
   * Looks for a while for what changed drives have or had, from where it ended before.
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
      underWay = positions; // of those that came since, all groups are to be looked at
      nextGroup = 0;
    }
    Set<UUID> scattered =
        registry.getLoadsList().stream()
            .map(DriveId::idOf)
            .filter(positions::containsKey)
            .collect(Collectors.toSet());
    while (nextGroup < map.pgCount()) {
      if (System.nanoTime() - beganNanos >= slice.toNanos()) {
        return false;
      }
      long behind = behind(map, nextGroup, scattered);
      if (behind > 0) {
        note(nextGroup, behind);
      }
      nextGroup++;
    }
    for (DriveRow drive : unsettled) {
      LOG.info("drive {} has changed; what that means for its blobs is known", DriveId.of(drive));
      settle(drive);
    }
    return true;
  }

  /** Written by an older program, it tells of its last life only. */
  private static long changedAt(DriveRow drive) {
    return Math.max(drive.getChangedAt(), drive.getReplacedAt());
  }

  /**
   * Which of the group's rows are to be noted: those that were settled before this position.
   *
   * @param scattered changed drives with shards of any group
   */
  private long behind(PlacementMap map, int pg, Set<UUID> scattered) {
    Set<UUID> drives = new HashSet<>(scattered);
    drives.addAll(map.slotDrives().get(pg));
    long behind = 0;
    for (PlacementMap.Past before : map.pastOf(pg)) {
      drives.add(before.drive());
    }
    for (UUID drive : drives) {
      behind = Math.max(behind, underWay.getOrDefault(drive, 0L));
    }
    return behind;
  }

  /** The blobs of a group whose rows are older than this position. */
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

  /** A drive must not count as settled while a note of what it had may have been lost. */
  private void submit(Command.Builder command) throws MetadataUnavailableException {
    ResultCode code = metadata.submit(command).getCode();
    if (code != ResultCode.OK) {
      throw MetadataUnavailableException.unknown(
          "a note of what is owed", new IllegalStateException(code.name()));
    }
  }
}
