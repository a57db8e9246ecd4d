package dev.ashlar.metadata.state;

import static dev.ashlar.metadata.state.Step.require;

import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Rows;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.CredentialRow;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.PgMapRow;
import dev.ashlar.protocol.message.PutCredential;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Drives, the placement map and credentials. */
final class Cluster {
  private Cluster() {}

  static CommandResult putCredential(Step step, PutCredential command) {
    CredentialRow credential = command.getCredential();
    step.table().put(Keys.credential(credential.getAccessKey()), credential.toByteArray());
    step.catalog().credentials().put(credential.getAccessKey(), credential);
    return Step.OK;
  }

  static CommandResult putDrives(Step step, PutDrives command) {
    Catalog catalog = step.catalog();
    Map<UUID, DriveId> drives = with(catalog.drives(), command.getDrivesList());
    PgMapRow pgMap = command.getPgMap();
    PlacementMap map = pgMap.getEpoch() == 0 ? null : checked(pgMap, catalog.placement(), drives);
    put(step, drives, command.getDrivesList());
    if (map != null) {
      step.table().put(Keys.pgMap(), pgMap.toByteArray());
      catalog.setPlacement(map);
    }
    return Step.OK;
  }

  /** The drives that are known when these are; refuses one in an older life than it had. */
  static Map<UUID, DriveId> with(Map<UUID, DriveId> present, List<DriveRow> rows) {
    Map<UUID, DriveId> drives = new HashMap<>(present);
    for (DriveRow row : rows) {
      UUID id = Catalog.idOf(row);
      DriveId known = drives.get(id);
      require(
          row.getIncarnation() >= (known == null ? 1 : known.incarnation()),
          ResultCode.INVALID_COMMAND);
      drives.put(id, new DriveId(id, row.getIncarnation()));
    }
    return drives;
  }

  /** Writes these rows, with which all drives are the given ones. */
  static void put(Step step, Map<UUID, DriveId> drives, List<DriveRow> rows) {
    for (DriveRow row : rows) {
      UUID id = Catalog.idOf(row);
      DriveRow known =
          Rows.get(step.table(), Keys.drive(id), DriveRow.parser())
              .orElse(DriveRow.getDefaultInstance());
      boolean isReplaced =
          known.getIncarnation() > 0 && known.getIncarnation() < row.getIncarnation();
      DriveRow present =
          row.toBuilder()
              .setReplacedAt(isReplaced ? step.freshId() : known.getReplacedAt())
              .setUnsettled(isReplaced || known.getUnsettled())
              .build();
      step.table().put(Keys.drive(id), present.toByteArray());
      step.catalog().setReplacedAt(id, present.getReplacedAt());
    }
    step.catalog().setDrives(drives);
  }

  /**
   * The number of PGs and the profile never change: the keys of blob rows, and what the slots of
   * present blobs mean, depend on them.
   */
  private static PlacementMap checked(
      PgMapRow row, @Nullable PlacementMap present, Map<UUID, DriveId> drives) {
    PlacementMap map;
    try {
      map = PlacementMap.of(row);
    } catch (IllegalArgumentException e) {
      throw new Refusal(ResultCode.INVALID_COMMAND);
    }
    require(
        map.slotDrives().stream().flatMap(List::stream).allMatch(drives::containsKey),
        ResultCode.INVALID_COMMAND);
    if (present != null) {
      require(map.epoch() > present.epoch(), ResultCode.CONDITIONAL_CONFLICT);
      require(
          map.pgCount() == present.pgCount() && map.profile().equals(present.profile()),
          ResultCode.INVALID_COMMAND);
    }
    return map;
  }
}
