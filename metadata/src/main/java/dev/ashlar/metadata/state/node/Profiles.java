package dev.ashlar.metadata.state.node;

import static dev.ashlar.metadata.state.apply.ApplyContext.require;

import dev.ashlar.metadata.state.apply.ApplyContext;
import dev.ashlar.metadata.state.apply.MetadataVersion;
import dev.ashlar.metadata.state.apply.RefusedCommandException;
import dev.ashlar.metadata.table.Keys;
import dev.ashlar.metadata.table.Table;
import dev.ashlar.protocol.message.AddProfile;
import dev.ashlar.protocol.message.CommandResult;
import dev.ashlar.protocol.message.MoveJobRow;
import dev.ashlar.protocol.message.NodeRow;
import dev.ashlar.protocol.message.PgMapRow;
import dev.ashlar.protocol.message.RemoveProfile;
import dev.ashlar.protocol.message.ResultCode;
import dev.ashlar.protocol.message.SetDefaultProfile;
import dev.ashlar.protocol.message.UploadRow;
import dev.ashlar.protocol.model.MoveJobs;
import dev.ashlar.protocol.model.PlacedProfile;
import dev.ashlar.protocol.model.PlacementMap;
import java.util.List;

/** Commands on the profiles of the store. Each is one change of the placement map. */
public final class Profiles {
  /**
   * Profiles that are not removed. Each of them enlarges the placement map, which all nodes have.
   */
  public static final int PRESENT_MAX = 8;

  /**
   * Profiles that are or were there: each keeps its number and its placement groups for good, and
   * the map has a row of each.
   */
  static final int EVER_MAX = 1000;

  /** The most placement groups that a command may add. */
  private static final int GROUPS_MAX = 4096;

  /** More incomplete uploads than these are not looked through. */
  private static final int UPLOADS_MAX = 50_000;

  private Profiles() {}

  public static CommandResult add(ApplyContext context, AddProfile command) {
    context.requireVersion(MetadataVersion.ADDS_PROFILES);
    PlacementMap present = based(context, command.getBaseEpoch());
    String name = command.getProfile().getName();
    int groups = command.getProfile().getPgsCount();
    require(
        PlacedProfile.isName(name) && groups > 0 && groups <= GROUPS_MAX,
        ResultCode.INVALID_COMMAND);
    require(present.ofClass(name).isEmpty(), ResultCode.ENTITY_ALREADY_EXISTS);
    require(
        present.present().size() < PRESENT_MAX && present.profiles().size() < EVER_MAX,
        ResultCode.LIMIT_EXCEEDED);
    List<NodeRow> older = nodesWithoutProfiles(context);
    require(
        older.stream().allMatch(node -> Nodes.isSilent(context, node)),
        ResultCode.CONDITIONAL_CONFLICT);
    PgMapRow.Builder row = next(present).addAdded(command.getProfile());
    PlacementMap map;
    try {
      map = PlacementMap.of(row.build());
    } catch (IllegalArgumentException e) {
      throw new RefusedCommandException(ResultCode.INVALID_COMMAND);
    }
    PlacedProfile added = map.profiles().getLast();
    boolean areDrivesKnown =
        map.slotCounts(added).keySet().stream().allMatch(context.catalog().drives()::containsKey);
    require(
        areDrivesKnown && !added.isRemoved() && map.past().equals(present.past()),
        ResultCode.INVALID_COMMAND);
    older.forEach(node -> context.sessions().end(context, node.getSession()));
    return install(context, map);
  }

  /**
   * Nodes of older builds, which would look for blobs of a further profile in the wrong placement
   * groups. A silent one may have lived on behind a broken network, and does not register again
   * when it comes back. So its session ends, at which its process exits, and it is refused when it
   * registers.
   */
  private static List<NodeRow> nodesWithoutProfiles(ApplyContext context) {
    return context.table().rows('N', NodeRow.parser()).stream()
        .filter(node -> !node.getKnowsProfiles())
        .toList();
  }

  /** Refuses a node that does not know profiles, from the first further one on. */
  static void checkKnown(ApplyContext context, NodeRow node) {
    PlacementMap map = context.catalog().placement();
    require(
        node.getKnowsProfiles() || map == null || map.profiles().size() == 1,
        ResultCode.INVALID_COMMAND);
  }

  public static CommandResult remove(ApplyContext context, RemoveProfile command) {
    context.requireVersion(MetadataVersion.ADDS_PROFILES);
    PlacementMap present = based(context, command.getBaseEpoch());
    int number = command.getNumber();
    PlacedProfile placed = require(present.numbered(number), ResultCode.NO_SUCH_PROFILE);
    require(number != present.standardNumber(), ResultCode.DELETE_CONFLICT);
    require(!hasBlobs(context, placed), ResultCode.DELETE_CONFLICT);
    require(!hasUploads(context, placed), ResultCode.DELETE_CONFLICT);
    require(!isOfBucket(context, placed), ResultCode.DELETE_CONFLICT);
    require(!isTarget(context, placed), ResultCode.DELETE_CONFLICT);
    PgMapRow.Builder row = next(present);
    if (number == 0) {
      row.clearPgs().setRemovedPgs(placed.groupCount());
    } else {
      row.getAddedBuilder(number - 1).clearPgs().setRemovedPgs(placed.groupCount());
    }
    return install(context, PlacementMap.of(row.build()));
  }

  /**
   * Whether there is a row of a blob of this profile, referenced or not. Empty objects have no
   * blobs: those of its class stay, and get blobs of the default profile when bytes are appended.
   */
  private static boolean hasBlobs(ApplyContext context, PlacedProfile placed) {
    byte[] first = Keys.group(placed.firstGroup());
    byte[] end = Keys.group(placed.endGroup());
    try (Table.Cursor cursor = context.table().cursor(first, end)) {
      return cursor.isValid();
    }
  }

  /**
   * Refuses a storage class that has been removed since the sender of the command looked. The
   * default one is always there.
   */
  public static void checkClass(ApplyContext context, String name) {
    PlacementMap map = context.catalog().placement();
    boolean isAny = name.isEmpty() || context.version() < MetadataVersion.ADDS_PROFILES;
    require(isAny || map == null || map.ofClass(name).isPresent(), ResultCode.NO_SUCH_CLASS);
  }

  /** Whether an incomplete upload is to make an object of the profile's storage class. */
  private static boolean hasUploads(ApplyContext context, PlacedProfile placed) {
    int looked = 0;
    try (Table.Cursor cursor = context.table().cursor(Keys.table('U'))) {
      for (; cursor.isValid(); cursor.next()) {
        require(++looked <= UPLOADS_MAX, ResultCode.LIMIT_EXCEEDED);
        UploadRow upload = Table.parse(cursor.value(), UploadRow.parser());
        if (upload.getStorageClass().equals(placed.name())) {
          return true;
        }
      }
    }
    return false;
  }

  /** Whether it is the default of a bucket. */
  private static boolean isOfBucket(ApplyContext context, PlacedProfile placed) {
    return context.catalog().buckets().values().stream()
        .anyMatch(bucket -> bucket.getStorageClass().equals(placed.name()));
  }

  /** Whether a job that has not ended moves versions to this profile. */
  private static boolean isTarget(ApplyContext context, PlacedProfile placed) {
    return context.table().rows('m', MoveJobRow.parser()).stream()
        .anyMatch(job -> !MoveJobs.isEnded(job) && job.getStorageClass().equals(placed.name()));
  }

  public static CommandResult setDefault(ApplyContext context, SetDefaultProfile command) {
    context.requireVersion(MetadataVersion.ADDS_PROFILES);
    PlacementMap present = based(context, command.getBaseEpoch());
    require(present.numbered(command.getNumber()), ResultCode.NO_SUCH_PROFILE);
    return install(
        context, PlacementMap.of(next(present).setStandard(command.getNumber()).build()));
  }

  private static PlacementMap based(ApplyContext context, long epoch) {
    PlacementMap present = context.placement();
    require(present.epoch() == epoch, ResultCode.CONDITIONAL_CONFLICT);
    return present;
  }

  private static PgMapRow.Builder next(PlacementMap present) {
    return present.toMessage().toBuilder().setEpoch(present.epoch() + 1);
  }

  private static CommandResult install(ApplyContext context, PlacementMap map) {
    context.table().put(Keys.pgMap(), map.toMessage().toByteArray());
    context.catalog().setPlacement(map);
    return ApplyContext.OK;
  }
}
