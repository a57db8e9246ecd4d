package dev.ashlar.metadata.state.node;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.Catalog;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.state.apply.RefusedCommandException;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.protocol.message.BalanceRow;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.message.MoveSlots;
import dev.ashlar.protocol.message.PgMapRow;
import dev.ashlar.protocol.message.PutDrives;
import dev.ashlar.protocol.message.RecallDrives;
import dev.ashlar.protocol.message.RecalledDrive;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SetBalance;
import dev.ashlar.protocol.message.SlotMove;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import dev.ashlar.protocol.model.PlacementMap.Move;
import dev.ashlar.protocol.model.Profile;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/** Commands on drives and the placement map. */
public final class ClusterRows {
  private ClusterRows() {}

  public static CommandResult putDrives(ApplyContext context, PutDrives command) {
    Catalog catalog = context.catalog();
    Map<UUID, DriveId> drives = with(catalog.drives(), command.getDrivesList());
    PgMapRow pgMap = command.getPgMap();
    List<DriveRow> vacant =
        context.version() < MetadataVersion.ASKS_FOR_LOCAL_DRIVES
            ? List.of()
            : command.getVacantList();
    checkLives(catalog.drives(), vacant);
    PlacementMap present = catalog.placement();
    PlacementMap map = pgMap.getEpoch() == 0 ? null : checked(context, pgMap, drives);
    put(context, drives, command.getDrivesList());
    if (map != null && present != null) {
      replace(context, present, map.epoch(), present.movesTo(map), List.of());
    } else if (map != null) {
      context.table().put(Keys.pgMap(), pgMap.toByteArray());
      catalog.setPlacement(map);
    }
    vacant.forEach(drive -> Nodes.begin(context, drive));
    return ApplyContext.OK;
  }

  public static CommandResult moveSlots(ApplyContext context, MoveSlots command) {
    PlacementMap present = context.placement();
    require(command.getBaseEpoch() == present.epoch(), ResultCode.CONDITIONAL_CONFLICT);
    List<Move> moves = new ArrayList<>();
    for (SlotMove move : command.getMovesList()) {
      UUID drive = new UUID(move.getDriveHigh(), move.getDriveLow());
      require(
          move.getPg() >= 0
              && move.getPg() < present.slotDrives().size()
              && move.getSlot() >= 0
              && move.getSlot() < present.slots(move.getPg()).size()
              && context.catalog().drives().containsKey(drive),
          ResultCode.INVALID_COMMAND);
      moves.add(new Move(move.getPg(), move.getSlot(), drive));
    }
    List<DriveRow> changed = new ArrayList<>();
    for (DriveRow drive : command.getDrivesList()) {
      DriveRow known = require(context.drive(DriveId.idOf(drive)), ResultCode.INVALID_COMMAND);
      changed.add(
          known.toBuilder()
              .setStanding(drive.getStanding())
              .setOutByItself(drive.getOutByItself())
              .build());
    }
    replace(context, present, present.epoch() + 1, moves, changed);
    return ApplyContext.OK;
  }

  public static CommandResult setBalance(ApplyContext context, SetBalance command) {
    BalanceRow row = BalanceRow.newBuilder().setPaused(command.getPaused()).build();
    context.table().put(Keys.balance(), row.toByteArray());
    return ApplyContext.OK;
  }

  /** Installs the next map. Drives that lose slots or change their standing become unsettled. */
  private static void replace(
      ApplyContext context,
      PlacementMap present,
      long epoch,
      List<Move> moves,
      List<DriveRow> changed) {
    Map<UUID, DriveRow> rows = new TreeMap<>();
    changed.forEach(row -> rows.put(DriveId.idOf(row), row));
    boolean isNoted = true;
    for (DriveRow row : context.table().rows('V', DriveRow.parser())) {
      isNoted &= !row.getUnsettled();
    }
    PlacementMap next;
    try {
      next = present.after(epoch, moves, context.freshId(), context.logTimeMs(), isNoted);
    } catch (IllegalArgumentException e) {
      throw new RefusedCommandException(ResultCode.INVALID_COMMAND);
    }
    for (Move move : moves) {
      UUID before = present.drive(move.pg(), move.slot());
      context.drive(before).ifPresent(row -> rows.putIfAbsent(before, row));
    }
    for (Map.Entry<UUID, DriveRow> entry : rows.entrySet()) {
      DriveRow row =
          entry.getValue().toBuilder().setUnsettled(true).setChangedAt(context.freshId()).build();
      context.put(row);
      context.catalog().setOut(entry.getKey(), row.getStanding() == DriveStanding.STANDING_OUT);
    }
    context.table().put(Keys.pgMap(), next.toMessage().toByteArray());
    context.catalog().setPlacement(next);
  }

  /** Refuses drives with an older incarnation than the known one. */
  static void checkLives(Map<UUID, DriveId> present, List<DriveRow> rows) {
    for (DriveRow row : rows) {
      DriveId known = present.get(DriveId.idOf(row));
      require(
          row.getIncarnation() >= (known == null ? 1 : known.incarnation()),
          ResultCode.INVALID_COMMAND);
    }
  }

  /** The known drives with these added; refuses older incarnations. */
  static Map<UUID, DriveId> with(Map<UUID, DriveId> present, List<DriveRow> rows) {
    checkLives(present, rows);
    Map<UUID, DriveId> drives = new HashMap<>(present);
    for (DriveRow row : rows) {
      drives.put(DriveId.idOf(row), DriveId.of(row));
    }
    return drives;
  }

  /** Writes these rows; {@code drives} are all drives after that. */
  static void put(ApplyContext context, Map<UUID, DriveId> drives, List<DriveRow> rows) {
    for (DriveRow row : rows) {
      UUID id = DriveId.idOf(row);
      DriveRow known = context.drive(id).orElse(DriveRow.getDefaultInstance());
      boolean isReplaced =
          known.getIncarnation() > 0 && known.getIncarnation() < row.getIncarnation();
      DriveRow present =
          row.toBuilder()
              .setReplacedAt(isReplaced ? context.freshId() : known.getReplacedAt())
              .setUnsettled(isReplaced || known.getUnsettled())
              .setChangedAt(isReplaced ? context.freshId() : known.getChangedAt())
              .setStanding(known.getStanding())
              .setOutByItself(known.getOutByItself())
              .build();
      context.put(marked(context, known, present));
      context.catalog().setReplacedAt(id, present.getReplacedAt());
    }
    context.catalog().setDrives(drives);
  }

  /**
   * Checks a new map. The profiles and their placement groups do not change by it: the keys of blob
   * rows and the meaning of slots depend on them.
   */
  private static PlacementMap checked(
      ApplyContext context, PgMapRow row, Map<UUID, DriveId> drives) {
    PlacementMap present = context.catalog().placement();
    PlacementMap map;
    try {
      map = PlacementMap.of(row);
    } catch (IllegalArgumentException e) {
      throw new RefusedCommandException(ResultCode.INVALID_COMMAND);
    }
    require(
        map.slotDrives().stream().flatMap(List::stream).allMatch(drives::containsKey),
        ResultCode.INVALID_COMMAND);
    if (present == null) {
      require(map.profiles().size() == 1, ResultCode.INVALID_COMMAND);
    } else {
      require(map.epoch() > present.epoch(), ResultCode.CONDITIONAL_CONFLICT);
      require(haveSameProfiles(context, map, present), ResultCode.INVALID_COMMAND);
    }
    return map;
  }

  private static boolean haveSameProfiles(
      ApplyContext context, PlacementMap map, PlacementMap present) {
    return context.version() < MetadataVersion.ADDS_PROFILES
        ? groups(map).equals(groups(present))
        : map.profiles().equals(present.profiles())
            && map.standardNumber() == present.standardNumber();
  }

  /** The slots that a placement group of each profile has, and how many groups there are. */
  private record Groups(Profile profile, int count, boolean isRemoved) {}

  private static List<Groups> groups(PlacementMap map) {
    return map.profiles().stream()
        .map(placed -> new Groups(placed.profile(), placed.groupCount(), placed.isRemoved()))
        .toList();
  }

  // ---- Recalls ----

  /**
   * Recalls replaced drives, all of them or none. A drive's row is marked until its process has
   * begun a new incarnation with the old content. All its shards are in debt then, until repair has
   * found them. Each drive must have been absent without interruption since the content of its
   * replacement was examined, so that nothing was written to it meanwhile.
   */
  public static CommandResult recall(ApplyContext context, RecallDrives command) {
    require(context.version() >= MetadataVersion.RECALLS_DRIVES, ResultCode.INVALID_COMMAND);
    List<DriveRow> recalled = new ArrayList<>();
    for (RecalledDrive drive : command.getDrivesList()) {
      UUID id = new UUID(drive.getDriveHigh(), drive.getDriveLow());
      DriveRow row = require(context.drive(id), ResultCode.INVALID_COMMAND);
      require(
          row.getAbsent()
              && row.getAbsentAt() == drive.getAbsentAt()
              && row.getIncarnation() == drive.getIncarnation(),
          ResultCode.CONDITIONAL_CONFLICT);
      recalled.add(row.toBuilder().setRecalled(true).build());
    }
    recalled.forEach(context::put);
    return ApplyContext.OK;
  }

  /**
   * The row as it is to be written: apply decides whether the drive is recalled and since when it
   * is absent. Both end when the drive is present.
   */
  static DriveRow marked(ApplyContext context, DriveRow known, DriveRow row) {
    if (context.version() < MetadataVersion.RECALLS_DRIVES) {
      return row;
    }
    if (!row.getAbsent()) {
      return row.toBuilder().clearRecalled().clearAbsentAt().build();
    }
    return row.toBuilder()
        .setRecalled(known.getAbsent() && known.getRecalled())
        .setAbsentAt(known.getAbsentAt() > 0 ? known.getAbsentAt() : context.freshId())
        .build();
  }
}
