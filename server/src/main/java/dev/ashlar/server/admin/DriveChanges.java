package dev.ashlar.server.admin;

import dev.ashlar.metadata.placement.PlacementPlan;
import dev.ashlar.metadata.placement.Replacement;
import dev.ashlar.protocol.client.MetadataClient;
import dev.ashlar.protocol.client.MetadataUnavailableException;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.message.MoveSlots;
import dev.ashlar.protocol.message.Registry;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.server.cluster.ClusterBalance;
import dev.ashlar.server.cluster.KnownDrives;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** What an administrator has done with drives: their standing, and who gets their slots. */
public final class DriveChanges {
  private static final int TRIES = 5;

  private final MetadataClient metadata;
  private final Predicate<UUID> hasFailed;

  /**
   * @param hasFailed whether a drive takes no writes because one has failed
   */
  public DriveChanges(MetadataClient metadata, Predicate<UUID> hasFailed) {
    this.metadata = metadata;
    this.hasFailed = hasFailed;
  }

  private interface Plan {
    MoveSlots of(KnownDrives known) throws Admin.RefusedException;
  }

  /**
   * Gives drives another standing, and their slots to others.
   *
   * @param target a drive's id, or a node's name for all of its drives
   */
  public Admin.Done stand(String target, DriveStanding standing)
      throws MetadataUnavailableException, Admin.RefusedException {
    return carryOut(
        standing.name().replace("STANDING_", "").toLowerCase(Locale.ROOT),
        known -> {
          List<DriveRow> drives = drives(known.registry(), target);
          check(known, drives, target, standing);
          return plan(known, drives, standing);
        });
  }

  /**
   * A drive takes the place of another, which is drained.
   *
   * @param old its id, or the name of its node where that has no other
   * @param by likewise
   */
  Admin.Done replace(String old, String by)
      throws MetadataUnavailableException, Admin.RefusedException {
    return carryOut(
        "replaced",
        known -> {
          UUID oldId = only(known.registry(), old);
          UUID byId = only(known.registry(), by);
          if (known.downOr(hasFailed).contains(byId)) {
            throw new Admin.RefusedException("drive " + byId + " is down, or has failed");
          }
          try {
            return Replacement.plan(known.registry(), known.map(), oldId, byId);
          } catch (IllegalArgumentException e) {
            throw new Admin.RefusedException(String.valueOf(e.getMessage()));
          }
        });
  }

  /** Plans anew where the map has changed meanwhile. */
  private Admin.Done carryOut(String done, Plan planned)
      throws MetadataUnavailableException, Admin.RefusedException {
    for (int tries = 0; tries < TRIES; tries++) {
      KnownDrives known = KnownDrives.of(metadata);
      MoveSlots plan = planned.of(known);
      ResultCode code = metadata.submit(Command.newBuilder().setMoveSlots(plan)).getCode();
      if (code == ResultCode.OK) {
        return new Admin.Done(
            done,
            plan.getDrivesList().stream().map(row -> DriveId.of(row).id().toString()).toList(),
            plan.getMovesCount(),
            known.map().epoch() + 1);
      } else if (code != ResultCode.CONDITIONAL_CONFLICT) {
        throw new Admin.RefusedException("metadata refuses it: " + code);
      }
    }
    throw new Admin.RefusedException("the placement map keeps changing: try again");
  }

  private static List<DriveRow> drives(Registry registry, String target)
      throws Admin.RefusedException {
    List<DriveRow> drives =
        registry.getDrivesList().stream()
            .filter(row -> !row.getNode().isEmpty() && row.getNode().equals(target))
            .toList();
    if (drives.isEmpty()) {
      DriveRow drive = byId(registry, target);
      if (drive == null) {
        throw new Admin.RefusedException("there is neither a node nor a drive " + target);
      }
      drives = List.of(drive);
    }
    if (registry.getNodesList().isEmpty()) {
      throw new Admin.RefusedException(
          "the drives of a store in one process are what --data names");
    }
    return drives;
  }

  private static UUID only(Registry registry, String target) throws Admin.RefusedException {
    List<DriveRow> drives = drives(registry, target);
    if (drives.size() > 1) {
      throw new Admin.RefusedException(target + " has several drives: name one by its id");
    }
    return DriveId.of(drives.getFirst()).id();
  }

  /**
   * The drive with this id, or with the only id that begins so; null if there is none.
   *
   * @throws Admin.RefusedException if several begin so
   */
  static @Nullable DriveRow byId(Registry registry, String id) throws Admin.RefusedException {
    List<DriveRow> rows =
        id.isEmpty()
            ? List.of()
            : registry.getDrivesList().stream()
                .filter(row -> DriveId.idOf(row).toString().startsWith(id))
                .toList();
    if (rows.size() > 1) {
      throw new Admin.RefusedException("several drive ids begin with " + id);
    }
    return rows.isEmpty() ? null : rows.getFirst();
  }

  private void check(
      KnownDrives known, List<DriveRow> drives, String target, DriveStanding standing)
      throws Admin.RefusedException {
    Set<UUID> down = known.downOr(hasFailed);
    boolean isUp = drives.stream().anyMatch(row -> !down.contains(DriveId.of(row).id()));
    if (standing == DriveStanding.STANDING_OUT && isUp) {
      throw new Admin.RefusedException(
          target + " is up: drain it instead, so that its data is copied");
    }
    if (standing == DriveStanding.STANDING_IN) {
      checkUp(drives, down);
    }
  }

  /** Slots are for drives that can take what is written to them. */
  private static void checkUp(List<DriveRow> drives, Set<UUID> down) throws Admin.RefusedException {
    for (DriveRow row : drives) {
      UUID id = DriveId.idOf(row);
      if (row.getStanding() != DriveStanding.STANDING_IN && down.contains(id)) {
        throw new Admin.RefusedException(
            "drive %s of %s is down or has failed, and must be up before it gets slots"
                .formatted(id, row.getNode()));
      }
    }
  }

  private static MoveSlots plan(KnownDrives known, List<DriveRow> drives, DriveStanding standing)
      throws Admin.RefusedException {
    try {
      return PlacementPlan.plan(
          known.registry(),
          known.map(),
          drives.stream().map(row -> ClusterBalance.standing(row, standing, false)).toList());
    } catch (IllegalArgumentException e) {
      throw new Admin.RefusedException("too few drives would be left: " + e.getMessage());
    }
  }
}
