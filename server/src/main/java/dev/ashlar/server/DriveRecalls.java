package dev.ashlar.server;

import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.layout.StripeLayout;
import dev.ashlar.protocol.message.BlobRow;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.RecallDrives;
import dev.ashlar.protocol.message.RecalledDrive;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.BlobId;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.Profile;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;

/**
 * Has drives that were replaced take their places again. What was written to the replacements does
 * not count any more then, so all blobs are looked at first: none may become unreadable by that.
 */
final class DriveRecalls {
  private static final int PAGE = 256;

  private final MetadataClient metadata;
  private final Function<String, String> idOfFolder;

  /**
   * @param idOfFolder the id of the drive in a folder of this process; else what it is given
   */
  DriveRecalls(MetadataClient metadata, Function<String, String> idOfFolder) {
    this.metadata = metadata;
    this.idOfFolder = idOfFolder;
  }

  /**
   * @param targets ids of drives, or folders where those are of this process, with commas between
   */
  Admin.Done recall(String targets) throws MetadataUnavailableException, Admin.RefusedException {
    Registry registry = metadata.registry();
    Map<UUID, DriveRow> rows = new HashMap<>();
    registry.getDrivesList().forEach(row -> rows.put(DriveId.idOf(row), row));
    RecallDrives.Builder command = RecallDrives.newBuilder();
    Set<UUID> recalled = new HashSet<>();
    for (String target : targets.split(",", -1)) {
      DriveRow row = absent(target, rows);
      recalled.add(DriveId.idOf(row));
      command.addDrives(
          RecalledDrive.newBuilder()
              .setDriveHigh(row.getDriveHigh())
              .setDriveLow(row.getDriveLow())
              .setIncarnation(row.getIncarnation())
              .setAbsentAt(row.getAbsentAt()));
    }
    checkSpared(rows, metadata.placement(registry.getEpoch()), recalled);
    ResultCode code = metadata.submit(Command.newBuilder().setRecallDrives(command)).getCode();
    if (code != ResultCode.OK) {
      throw new Admin.RefusedException(
          code == ResultCode.CONDITIONAL_CONFLICT
              ? "a replacement has been there meanwhile: look at ashlar admin drives"
              : "metadata refuses it: " + code);
    }
    List<String> ids = recalled.stream().map(UUID::toString).sorted().toList();
    return new Admin.Done("recalled", ids, 0, registry.getEpoch());
  }

  private DriveRow absent(String target, Map<UUID, DriveRow> rows) throws Admin.RefusedException {
    DriveRow row;
    try {
      row = rows.get(UUID.fromString(idOfFolder.apply(target)));
    } catch (IllegalArgumentException e) {
      row = null;
    }
    if (row == null) {
      throw new Admin.RefusedException("there is no drive " + target);
    }
    if (!row.getAbsent() || row.getAbsentAt() == 0) {
      throw new Admin.RefusedException(
          "drive "
              + DriveId.of(row)
              + " is there, or its process is down. Stop the process, mount the drive that was"
              + " replaced in the place of the replacement, start, and try again");
    }
    return row;
  }

  private void checkSpared(Map<UUID, DriveRow> rows, PlacementMap map, Set<UUID> recalled)
      throws MetadataUnavailableException, Admin.RefusedException {
    long lost = 0;
    for (int pg = 0; pg < map.pgCount(); pg++) {
      List<BlobRow> page = metadata.group(pg, null, PAGE);
      while (!page.isEmpty()) {
        lost += page.stream().filter(row -> isLost(row, rows, map, recalled)).count();
        page = metadata.group(pg, BlobId.of(page.getLast().getId()), PAGE);
      }
    }
    if (lost > 0) {
      throw new Admin.RefusedException(
          lost
              + " blobs that were written or repaired since would not be readable without the"
              + " replacements. Recall fewer drives at a time, and wait after each until ashlar admin"
              + " repair tells that these blobs have all shards; or mount the replacements again and"
              + " copy these objects elsewhere");
    }
  }

  /** Whether it can be read now, and not without what the replacements have of it. */
  private static boolean isLost(
      BlobRow row, Map<UUID, DriveRow> rows, PlacementMap map, Set<UUID> recalled) {
    if (row.getReferences() == 0) {
      return false;
    }
    Profile profile = Profile.of(row.getProfile());
    StripeLayout layout = new StripeLayout(profile, row.getLength());
    int owed = 0;
    int taken = 0;
    for (int slot = 0; slot < profile.shards(); slot++) {
      if (layout.shardLength(slot) > 0) {
        UUID place = map.location(row, slot);
        DriveRow drive = rows.getOrDefault(place, DriveRow.getDefaultInstance());
        boolean isOwed =
            row.getDebtSlotsList().contains(slot) || drive.getReplacedAt() > row.getSettled();
        owed += isOwed ? 1 : 0;
        taken += !isOwed && recalled.contains(place) ? 1 : 0;
      }
    }
    return taken > 0 && owed <= profile.parityShards() && owed + taken > profile.parityShards();
  }
}
