package dev.ashlar.protocol.model;

import dev.ashlar.protocol.message.DriveRow;
import dev.ashlar.protocol.message.PgMapRow;
import dev.ashlar.protocol.message.PgRow;
import java.util.List;
import java.util.UUID;

/**
 * Which drive serves each slot of each placement group.
 *
 * @param epoch counts up with every change
 * @param slotDrives per placement group, per slot (k + m of them), the drive
 */
public record PlacementMap(long epoch, Profile profile, List<List<UUID>> slotDrives) {
  public PlacementMap {
    slotDrives = slotDrives.stream().map(List::copyOf).toList();
    if (slotDrives.isEmpty()) {
      throw new IllegalArgumentException("a placement map needs a placement group");
    }
    for (List<UUID> slots : slotDrives) {
      if (slots.size() != profile.shards() || slots.stream().distinct().count() != slots.size()) {
        throw new IllegalArgumentException(
            "needs " + profile.shards() + " distinct drives: " + slots);
      }
    }
  }

  public static PlacementMap of(PgMapRow row) {
    List<List<UUID>> slots =
        row.getPgsList().stream()
            .map(pg -> pg.getSlotsList().stream().map(DriveId::idOf).toList())
            .toList();
    return new PlacementMap(row.getEpoch(), Profile.of(row.getProfile()), slots);
  }

  public PgMapRow toMessage() {
    PgMapRow.Builder row = PgMapRow.newBuilder().setEpoch(epoch).setProfile(profile.toMessage());
    for (int pg = 0; pg < pgCount(); pg++) {
      PgRow.Builder slots = PgRow.newBuilder().setPg(pg);
      for (UUID drive : slotDrives.get(pg)) {
        slots.addSlots(
            DriveRow.newBuilder()
                .setDriveHigh(drive.getMostSignificantBits())
                .setDriveLow(drive.getLeastSignificantBits()));
      }
      row.addPgs(slots);
    }
    return row.build();
  }

  public int pgCount() {
    return slotDrives.size();
  }

  public UUID drive(int pg, int slot) {
    return slotDrives.get(pg).get(slot);
  }
}
