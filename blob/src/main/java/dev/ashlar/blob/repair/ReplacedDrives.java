package dev.ashlar.blob.repair;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.BlobKey;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.NoteDebts;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SettleDrive;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the blobs of drives that came back in another life and has their rows tell what they owe.
 * It may stop anywhere and begin again: what has been noted is passed over.
 */
final class ReplacedDrives {
  private static final Logger LOG = LoggerFactory.getLogger(ReplacedDrives.class);

  /** Rows that are looked at together, and noted with one command. */
  private static final int PAGE = 200;

  private final MetadataClient metadata;

  /** Since when the drives that are being settled live. */
  private Map<UUID, Long> underWay = Map.of();

  private int nextGroup;

  ReplacedDrives(MetadataClient metadata) {
    this.metadata = metadata;
  }

  /**
   * Looks for a while for what replaced drives had, from where it ended before.
   *
   * @return whether all drives are settled
   */
  boolean settle(Duration slice) throws MetadataUnavailableException {
    long beganNanos = System.nanoTime();
    Map<UUID, DriveRow> unsettled = new HashMap<>();
    Map<UUID, Long> positions = new HashMap<>();
    for (DriveRow drive : metadata.registry().getDrivesList()) {
      if (drive.getUnsettled()) {
        UUID id = DriveId.of(drive).id();
        unsettled.put(id, drive);
        positions.put(id, drive.getReplacedAt());
      }
    }
    if (!positions.equals(underWay)) {
      underWay = positions; // of those that came since, all groups are to be looked at
      nextGroup = 0;
    }
    List<List<UUID>> groups = metadata.placement().slotDrives();
    while (!unsettled.isEmpty() && nextGroup < groups.size()) {
      if (System.nanoTime() - beganNanos >= slice.toNanos()) {
        return false;
      }
      long behind = 0;
      for (UUID id : groups.get(nextGroup)) {
        behind = Math.max(behind, positions.getOrDefault(id, 0L));
      }
      if (behind > 0) {
        note(nextGroup, behind);
      }
      nextGroup++;
    }
    for (DriveRow drive : unsettled.values()) {
      LOG.info("drive {} was replaced; what it had is owed", DriveId.of(drive));
      settle(drive);
    }
    return true;
  }

  /** The blobs of a group whose rows are older than this position. */
  private void note(int pg, long behind) throws MetadataUnavailableException {
    BlobId after = null;
    List<BlobRow> page;
    do {
      page = metadata.group(pg, after, PAGE);
      List<BlobKey> older =
          page.stream()
              .filter(row -> row.getReferences() > 0 && row.getSettled() < behind)
              .map(BlobRow::getId)
              .toList();
      if (!older.isEmpty()) {
        submit(Command.newBuilder().setNoteDebts(NoteDebts.newBuilder().addAllBlobs(older)));
      }
      after = page.isEmpty() ? null : BlobId.of(page.getLast().getId());
    } while (page.size() == PAGE);
  }

  private void settle(DriveRow drive) throws MetadataUnavailableException {
    submit(
        Command.newBuilder()
            .setSettleDrive(
                SettleDrive.newBuilder()
                    .setDriveHigh(drive.getDriveHigh())
                    .setDriveLow(drive.getDriveLow())
                    .setIncarnation(drive.getIncarnation())));
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
