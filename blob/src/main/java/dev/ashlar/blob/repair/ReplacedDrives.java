package dev.ashlar.blob.repair;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.BlobKey;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.NoteDebts;
import dev.ashlar.protocol.message.SettleDrive;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
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

  ReplacedDrives(MetadataClient metadata) {
    this.metadata = metadata;
  }

  /** Returns how many blobs it has noted. */
  long settle() throws MetadataUnavailableException {
    Map<UUID, DriveRow> unsettled = new HashMap<>();
    for (DriveRow drive : metadata.registry().getDrivesList()) {
      if (drive.getUnsettled()) {
        unsettled.put(DriveId.of(drive).id(), drive);
      }
    }
    if (unsettled.isEmpty()) {
      return 0;
    }
    long noted = 0;
    List<List<UUID>> groups = metadata.placement().slotDrives();
    for (int pg = 0; pg < groups.size(); pg++) {
      long behind = 0;
      for (UUID id : groups.get(pg)) {
        DriveRow drive = unsettled.get(id);
        behind = drive == null ? behind : Math.max(behind, drive.getReplacedAt());
      }
      noted += behind > 0 ? note(pg, behind) : 0;
    }
    for (DriveRow drive : unsettled.values()) {
      LOG.info("drive {} was replaced; what it had is owed", DriveId.of(drive));
      settle(drive);
    }
    return noted;
  }

  /** The blobs of a group whose rows are older than this position. */
  private long note(int pg, long behind) throws MetadataUnavailableException {
    long noted = 0;
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
        metadata.submit(
            Command.newBuilder().setNoteDebts(NoteDebts.newBuilder().addAllBlobs(older)));
        noted += older.size();
      }
      after = page.isEmpty() ? null : BlobId.of(page.getLast().getId());
    } while (page.size() == PAGE);
    return noted;
  }

  private void settle(DriveRow drive) throws MetadataUnavailableException {
    metadata.submit(
        Command.newBuilder()
            .setSettleDrive(
                SettleDrive.newBuilder()
                    .setDriveHigh(drive.getDriveHigh())
                    .setDriveLow(drive.getDriveLow())
                    .setIncarnation(drive.getIncarnation())));
  }
}
