package dev.ashlar.blob.simulation;

import dev.ashlar.metadata.memory.MemoryMetadata;
import dev.ashlar.protocol.message.Command;
import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.DriveStanding;
import dev.ashlar.protocol.message.MoveSlots;
import dev.ashlar.protocol.message.SlotMove;
import dev.ashlar.protocol.model.DriveId;
import dev.ashlar.protocol.model.PlacementMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;

/** Gives slots to other drives, as draining, losing and adding drives does, only worse. */
final class SlotShuffle {
  private static final int MOVES_MAX = 3;

  private SlotShuffle() {}

  /** A new epoch of the map, in which some slots and perhaps a drive's standing are others. */
  static void shuffle(MemoryMetadata metadata, Random random) {
    PlacementMap map = metadata.placement();
    MoveSlots.Builder command = MoveSlots.newBuilder().setBaseEpoch(map.epoch());
    List<DriveId> all = new ArrayList<>(metadata.drives().values());
    all.sort((one, other) -> one.id().compareTo(other.id()));
    if (random.nextInt(3) == 0) {
      DriveStanding[] standings = {
        DriveStanding.STANDING_IN, DriveStanding.STANDING_DRAINING, DriveStanding.STANDING_OUT
      };
      command.addDrives(
          all.get(random.nextInt(all.size())).toMessage().toBuilder()
              .setStanding(standings[random.nextInt(standings.length)]));
    }
    int moves = random.nextInt(MOVES_MAX + 1);
    List<List<UUID>> groups = new ArrayList<>(map.slotDrives());
    for (int i = 0; i < moves; i++) {
      int pg = map.groups().get(random.nextInt(map.groups().size()));
      int slot = random.nextInt(groups.get(pg).size());
      DriveId drive = all.get(random.nextInt(all.size()));
      if (!groups.get(pg).contains(drive.id())) {
        List<UUID> changed = new ArrayList<>(groups.get(pg));
        changed.set(slot, drive.id());
        groups.set(pg, changed);
      }
    }
    PlacementMap next =
        new PlacementMap(map.epoch(), map.profiles(), map.standardNumber(), groups, Map.of());
    for (PlacementMap.Move move : map.movesTo(next)) {
      DriveRow drive = new DriveId(move.drive(), 1).toMessage();
      command.addMoves(
          SlotMove.newBuilder()
              .setPg(move.pg())
              .setSlot(move.slot())
              .setDriveHigh(drive.getDriveHigh())
              .setDriveLow(drive.getDriveLow()));
    }
    metadata.require(Command.newBuilder().setMoveSlots(command));
  }
}
