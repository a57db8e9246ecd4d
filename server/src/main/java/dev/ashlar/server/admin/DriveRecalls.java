package dev.ashlar.server.admin;

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
import dev.ashlar.server.cluster.KnownDrives;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Has drives that were replaced take their places again. What was written to the replacements does
 * not count any more then, so all blobs are looked at first: none may become unreadable by that.
 */
final class DriveRecalls {
  private static final int PAGE = 256;

  private final MetadataClient metadata;
  private final Predicate<UUID> isMissing;
  private final Function<String, String> idOfFolder;

  /**
   * @param isMissing whether a drive could not be opened
   * @param idOfFolder the id of the drive in a folder of this process; else what it is given
   */
  DriveRecalls(
      MetadataClient metadata, Predicate<UUID> isMissing, Function<String, String> idOfFolder) {
    this.metadata = metadata;
    this.isMissing = isMissing;
    this.idOfFolder = idOfFolder;
  }

  /**
   * @param targets ids of drives, or folders where those are of this process, with commas between
   */
  Admin.Done recall(String targets) throws MetadataUnavailableException, Admin.RefusedException {
    KnownDrives known = KnownDrives.of(metadata);
    Registry registry = known.registry();
    Map<UUID, DriveRow> rows = new HashMap<>();
    registry.getDrivesList().forEach(row -> rows.put(DriveId.idOf(row), row));
    RecallDrives.Builder command = RecallDrives.newBuilder();
    Set<UUID> recalled = new HashSet<>();
    for (String target : targets.split(",", -1)) {
      DriveRow row = absent(target, registry);
      recalled.add(DriveId.idOf(row));
      command.addDrives(
          RecalledDrive.newBuilder()
              .setDriveHigh(row.getDriveHigh())
              .setDriveLow(row.getDriveLow())
              .setIncarnation(row.getIncarnation())
              .setAbsentAt(row.getAbsentAt()));
    }
    Set<UUID> away = known.downOr(isMissing);
    away.removeAll(recalled);
    checkSpared(new Drives(rows, known.map(), recalled, away));
    ResultCode code = metadata.submit(Command.newBuilder().setRecallDrives(command)).getCode();
    if (code != ResultCode.OK) {
      throw new Admin.RefusedException(
          code == ResultCode.CONDITIONAL_CONFLICT
              ? "a replacement has been there meanwhile: see ashlar admin drive list"
              : "metadata refuses it: " + code);
    }
    List<String> ids = recalled.stream().map(UUID::toString).sorted().toList();
    return new Admin.Done("recalled", ids, 0, registry.getEpoch());
  }

  private DriveRow absent(String target, Registry registry) throws Admin.RefusedException {
    DriveRow row = DriveChanges.byId(registry, idOfFolder.apply(target));
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

  /**
   * @param away drives that cannot be read now, and are not recalled
   */
  private record Drives(
      Map<UUID, DriveRow> rows, PlacementMap map, Set<UUID> recalled, Set<UUID> away) {}

  private void checkSpared(Drives drives)
      throws MetadataUnavailableException, Admin.RefusedException {
    long lost = 0;
    for (int pg : drives.map().groups()) {
      List<BlobRow> page = metadata.blobsOfPlacementGroup(pg, null, PAGE);
      while (!page.isEmpty()) {
        lost += page.stream().filter(row -> isLost(row, drives)).count();
        page = metadata.blobsOfPlacementGroup(pg, BlobId.of(page.getLast().getId()), PAGE);
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

  /**
   * Whether it could be read without the recall, and not with it: now, or once the drives are back
   * that are away.
   */
  private static boolean isLost(BlobRow row, Drives drives) {
    if (row.getReferences() == 0) {
      return false;
    }
    Profile profile = Profile.of(row.getProfile());
    StripeLayout layout = new StripeLayout(profile, row.getLength());
    int owed = 0;
    int taken = 0;
    int away = 0;
    for (int slot = 0; slot < profile.shards(); slot++) {
      if (layout.shardLength(slot) > 0) {
        UUID place = drives.map().location(row, slot);
        boolean isOwed = isOwed(row, slot, drives.rows().get(place));
        boolean isTaken = !isOwed && drives.recalled().contains(place);
        boolean isAway = drives.away().contains(place) || isOut(row, slot);
        owed += isOwed ? 1 : 0;
        taken += isTaken ? 1 : 0;
        away += !isOwed && !isTaken && isAway ? 1 : 0;
      }
    }
    int spareLater = profile.parityShards() - owed;
    int spareNow = spareLater - away;
    return isTooMuch(taken, spareLater) || isTooMuch(taken, spareNow);
  }

  private static boolean isTooMuch(int taken, int spare) {
    return spare >= 0 && taken > spare;
  }

  private static boolean isOwed(BlobRow row, int slot, @Nullable DriveRow drive) {
    return row.getDebtSlotsList().contains(slot)
        || (drive != null && drive.getReplacedAt() > row.getSettled());
  }

  /** The drive that has the shard was declared lost. */
  private static boolean isOut(BlobRow row, int slot) {
    return row.getRelocatedShardsList().stream()
        .anyMatch(place -> place.getSlot() == slot && place.getOut());
  }
}
